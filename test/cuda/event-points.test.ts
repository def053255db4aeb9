// Events as points of streams, as the driver gets them: an operation waits for what CUDA says, and for
// nothing else. Random programs of streams and events are given to a driver of the tests' own, which does
// nothing meanwhile; what it is given to wait for is compared with a plain model of CUDA's rules. Needs a C
// compiler.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Event, open, type Stream } from 'warpstage';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import {
  type DeviceStep,
  deviceSteps,
  type EventStep,
  eventSteps,
  orderOf,
} from '../support/stream-order.ts';

/** The operations before each, by the log of the driver: operation `n` sets `n + 1` bytes. */
function orderInLog(words: BigUint64Array, count: number): ReadonlyMap<number, ReadonlySet<number>> {
  const streams = new Map<bigint, Set<number>>();
  const recordings = new Map<string, ReadonlySet<number>>();
  const before = new Map<number, ReadonlySet<number>>();
  for (let entry = 0; entry < count; ++entry) {
    const [kind, stream, what, which] = words.subarray(4 * entry, 4 * entry + 4) as unknown as bigint[];
    const done = streams.get(stream!) ?? new Set();
    streams.set(stream!, done);
    if (kind === 1n) recordings.set(`${what} ${which}`, new Set(done));
    if (kind === 2n) for (const one of recordings.get(`${what} ${which}`) ?? []) done.add(one);
    if (kind === 3n) {
      before.set(Number(what) - 1, new Set(done));
      done.add(Number(what) - 1);
    }
  }
  return before;
}

/** A thread that is woken for each program takes longer. */
const runsOf = (thread: string) => Number(process.env.WARPSTAGE_RANDOM_RUNS ?? (thread === '0' ? 60 : 20));

const sorted = (order: ReadonlyMap<number, ReadonlySet<number>>) =>
  [...order]
    .map(([operation, before]) => [operation, [...before].sort((a, b) => a - b)] as const)
    .sort(([a], [b]) => a - b);

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
    fake.reset();
  });
  afterAll(() => {
    fake.remove();
  });

  /** What waits for what when a program is issued to GPUs that do nothing meanwhile. */
  async function orderOnDriver(
    devices: readonly Device[],
    timing: boolean,
    steps: readonly (EventStep & Partial<DeviceStep>)[],
  ): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
    const made = devices.map((device) => ({
      data: device.alloc('u8', 200),
      streams: [
        device.defaultStream,
        device.createStream(),
        device.createStream({ priority: -1 }),
        device.createStream({ nonBlocking: true }),
      ] as readonly Stream[],
      events: [0, 1, 2].map(() => device.createEvent({ timing })) as readonly Event[],
    }));
    for (const device of devices) await device.synchronize();
    for (const { data, streams } of made) for (const stream of streams) stream.memsetAsync(data, 0);
    for (const device of devices) await device.synchronize();
    const words = new BigUint64Array(4 * 2000);
    fake.lag(1, 1);
    fake.pause(1);
    fake.log(addressOf(words), 2000);
    let operations = 0;
    for (const { kind, stream: s, event: e, device = 0, eventDevice = 0 } of steps) {
      const { data, streams, events } = made[device]!;
      const stream = streams[s]!;
      if (kind === 'operation') stream.memsetAsync(data.subarray(0, ++operations), 0);
      else if (kind === 'record') stream.record(events[e]!);
      else stream.waitEvent(made[eventDevice]!.events[e]!);
    }
    // Whatever is asked of the driver comes behind what was issued.
    for (const device of devices) device.memory;
    const order = orderInLog(words, fake.logged());
    fake.log(0, 0);
    fake.pause(0);
    for (const device of devices) await device.synchronize();
    for (const { data, streams, events } of made) {
      for (const stream of streams.slice(1)) await stream.destroy();
      for (const event of events) event.destroy();
      data.free();
    }
    fake.lag(0, 0);
    return order;
  }

  test.each([
    ['legacy', false, '0'],
    ['legacy', false, 'always'],
    ['legacy', true, '0'],
    ['legacy', true, 'always'],
    ['perThread', false, '0'],
    ['perThread', true, 'always'],
  ] as const)(
    'default stream %s, events with a time: %s, issuing thread: %s',
    async (defaultStream, timing, thread) => {
      process.env.WARPSTAGE_ISSUING_THREAD = thread;
      await using device = await open('cuda', { checked: false, defaultStream });
      await fc.assert(
        fc.asyncProperty(eventSteps, async (steps) => {
          const order = await orderOnDriver([device], timing, steps);
          expect(sorted(order)).toEqual(sorted(orderOf(steps, defaultStream)));
        }),
        { numRuns: runsOf(thread) },
      );
    },
  );

  test.each(['0', 'always'])(
    'streams wait for events of other GPUs by themselves, for those points and nothing else; issuing thread: %s',
    async (thread) => {
      process.env.WARPSTAGE_ISSUING_THREAD = thread;
      fake.devices(2);
      await using one = await open('cuda:0', { checked: false });
      await using other = await open('cuda:1', { checked: false });
      await fc.assert(
        fc.asyncProperty(deviceSteps(2), fc.boolean(), async (steps, timing) => {
          const order = await orderOnDriver([one, other], timing, steps);
          expect(sorted(order)).toEqual(sorted(orderOf(steps, 'legacy')));
        }),
        { numRuns: runsOf(thread) },
      );
      fake.devices(1);
    },
  );
});
