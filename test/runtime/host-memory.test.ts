// Copies from page-locked memory that read a result before it is there are refused, on every device;
// those that come after it are not.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, open as openDevice, type PinnedArray, type Stream } from 'warpstage';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { devices } from '../support/devices.ts';
import { closeGate } from './device-work.ts';

const refused =
  /^WS4010: memcpyAsync in stream \d+: the source is host memory that a copy in stream \d+ has still to fill, and nothing orders the two\n {2}hint: wait for that copy first: by `await other\.synchronize\(\)`, or with `other\.record\(event\); stream\.waitEvent\(event\);` where `other` is its stream$/;

const side = 8;
const length = side * side;

/** A copy of a part of the page-locked array, or an event that one stream waits for. */
type Operation =
  | { kind: 'plain'; stream: number; writes: boolean; begin: number; count: number }
  | { kind: 'columns'; stream: number; writes: boolean; begin: number; count: number }
  | { kind: 'wait'; stream: number; other: number };

const streamNumber = fc.nat(2);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .record({
      stream: streamNumber,
      writes: fc.boolean(),
      begin: fc.nat(length - 1),
      count: fc.integer({ min: 1, max: 12 }),
    })
    .map((one) => ({ kind: 'plain' as const, ...one, count: Math.min(one.count, length - one.begin) })),
  fc
    .record({
      stream: streamNumber,
      writes: fc.boolean(),
      begin: fc.nat(side - 1),
      count: fc.integer({ min: 1, max: 3 }),
    })
    .map((one) => ({ kind: 'columns' as const, ...one, count: Math.min(one.count, side - one.begin) })),
  fc.record({ kind: fc.constant('wait' as const), stream: streamNumber, other: streamNumber }),
);

/** The elements that a copy touches. */
function elementsOf(copy: Exclude<Operation, { kind: 'wait' }>): Set<number> {
  const columns = Array.from({ length: copy.count }, (_, i) => copy.begin + i);
  if (copy.kind === 'plain') return new Set(columns);
  return new Set(columns.flatMap((column) => Array.from({ length: side }, (_, row) => row * side + column)));
}

describe.each(devices)('$name', ({ open }) => {
  let device: Device;
  let streams: Stream[];
  let data: DeviceArray<'i32'>;
  let host: PinnedArray<'i32'>;
  beforeAll(async () => {
    device = await open();
    streams = Array.from({ length: 4 }, () => device.createStream({ nonBlocking: true }));
    data = device.alloc('i32', length);
    host = device.allocPinned('i32', length);
  });
  afterAll(() => device.close());

  /** Runs `issue` while nothing of the first streams is carried out. */
  async function behindGate(issue: () => void): Promise<void> {
    const gateStream = streams[3]!;
    const gate = closeGate(device, gateStream);
    const event = device.createEvent();
    gateStream.record(event);
    for (const stream of streams.slice(0, 3)) stream.waitEvent(event);
    try {
      issue();
    } finally {
      gate.open();
      await device.synchronize();
    }
  }

  test('a copy from what another stream has still to fill is refused, and is right behind an event', async () => {
    const [one, two] = streams as [Stream, Stream];
    const other = device.alloc('i32', length);
    const event = device.createEvent();
    one.memcpyAsync(data, new Int32Array(length).fill(7));
    await one.synchronize();
    await behindGate(() => {
      one.memcpyAsync(host, data);
      expect(() => two.memcpyAsync(other, host)).toThrow(refused);
      one.record(event);
      two.waitEvent(event);
      two.memcpyAsync(other, host);
    });
    two.memcpyAsync(host, other);
    await two.synchronize();
    expect([...host.array]).toEqual(new Array(length).fill(7));
    // What is over is in nobody's way.
    one.memcpyAsync(other, host);
    await device.synchronize();
  });

  test('a graph whose copies meet one under way is refused whole', async () => {
    const [one, two] = streams as [Stream, Stream];
    const other = device.alloc('i32', length);
    const graph = two.capture(() => {
      two.memsetAsync(other, 1);
      two.memcpyAsync(other, host);
    });
    await behindGate(() => {
      one.memcpyAsync(host, data);
      expect(() => graph.launch(two)).toThrow(/^WS4010/);
    });
    graph.launch(two);
    two.memcpyAsync(host, other);
    await two.synchronize();
  });

  test('a copy of another device from what this one has still to fill is refused', async () => {
    await using elsewhere = await openDevice('cpu', { target: 'interpreter' });
    const other = elsewhere.alloc('i32', length);
    await behindGate(() => {
      streams[0]!.memcpyAsync(host, data);
      const view = new Int32Array(host.array.buffer, host.array.byteOffset, length);
      expect(() => elsewhere.defaultStream.memcpyAsync(other, view)).toThrow(/^WS4010/);
    });
    elsewhere.defaultStream.memcpyAsync(other, host.array);
    await elsewhere.synchronize();
  });

  test('a copy from a typed array that another has still to fill waits for it', async () => {
    const [one, two] = streams as [Stream, Stream];
    const [typed, result] = [new Int32Array(length), new Int32Array(length)];
    const other = device.alloc('i32', length);
    one.memsetAsync(data, 3);
    one.memcpyAsync(typed, data);
    two.memcpyAsync(other, typed);
    two.memcpyAsync(result, other);
    await two.synchronize();
    expect(result).toEqual(new Int32Array(length).fill(0x03030303));
  });

  test(
    'exactly those copies are refused that read what an earlier one fills, and do not come after it',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 24 }), async (operations) => {
          await behindGate(() => {
            /** What each stream's next operation comes after. */
            const known = streams.map(() => new Set<number>());
            const issued: { writes: boolean; elements: Set<number> }[] = [];
            for (const one of operations) {
              const stream = streams[one.stream]!;
              if (one.kind === 'wait') {
                const event = device.createEvent();
                streams[one.other]!.record(event);
                stream.waitEvent(event);
                for (const earlier of known[one.other]!) known[one.stream]!.add(earlier);
                continue;
              }
              const elements = elementsOf(one);
              const conflicts = issued.some(
                (earlier, i) =>
                  !known[one.stream]!.has(i) &&
                  earlier.writes &&
                  !one.writes &&
                  [...elements].some((element) => earlier.elements.has(element)),
              );
              const copy = () => {
                const { begin, count } = one;
                if (one.kind === 'plain') {
                  const there = data.subarray(begin, begin + count);
                  const here = host.subarray(begin, begin + count);
                  if (one.writes) stream.memcpyAsync(here, there);
                  else stream.memcpyAsync(there, here);
                } else {
                  const there = { array: data.subarray(begin), pitch: side };
                  const here = { array: host.subarray(begin), pitch: side };
                  if (one.writes) stream.memcpy2DAsync(here, there, count, side);
                  else stream.memcpy2DAsync(there, here, count, side);
                }
              };
              if (conflicts) {
                expect(copy).toThrow(refused);
                continue;
              }
              copy();
              known[one.stream]!.add(issued.push({ writes: one.writes, elements }) - 1);
            }
          });
        }),
        randomRuns(40),
      );
    },
    randomLimit(40),
  );
});
