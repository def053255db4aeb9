// Any order of operations, in any streams, does what it says: a property of every device.

import fc from 'fast-check';
import { expect } from 'vitest';
import type { Device, Event, Kernel, Stream } from 'warpstage';

/** `y = 3 * y + a`, for each element. */
type Step = Kernel<{ y: 'i32[]'; a: 'i32' }>;

interface Operation {
  readonly stream: number;
  readonly kind: 'step' | 'set' | 'copy' | 'write' | 'pitched' | 'host';
  readonly to: number;
  readonly from: number;
  readonly value: number;
}

const [arrays, length] = [3, 40];

/**
 * Operations on a few arrays by a few streams. Where two streams touch one array, an event is put between
 * them; so the result must be that of the operations one after the other. Without `step` no kernels run.
 */
export async function checkAnyOrder(device: Device, step: Step | null, numRuns: number): Promise<void> {
  const streams = [device.defaultStream, device.createStream(), device.createStream({ nonBlocking: true })];
  const kinds = ['set', 'copy', 'write', 'pitched', 'host', ...(step === null ? [] : ['step'])] as const;
  const operation: fc.Arbitrary<Operation> = fc.record({
    stream: fc.nat(streams.length - 1),
    kind: fc.constantFrom(...(kinds as readonly Operation['kind'][])),
    to: fc.nat(arrays - 1),
    from: fc.nat(arrays - 1),
    value: fc.integer({ min: 0, max: 255 }),
  });
  const operations = fc.array(operation, { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(operations, (list) => checkOrder(device, step, streams, list)),
    { numRuns },
  );
  for (const stream of streams.slice(1)) await stream.destroy();
}

async function checkOrder(
  device: Device,
  step: Step | null,
  streams: readonly Stream[],
  operations: readonly Operation[],
): Promise<void> {
  const { allocations } = device.memory;
  const data = Array.from({ length: arrays }, () => device.alloc('i32', length));
  const pinned = data.map(() => device.allocPinned('i32', length));
  const model = Array.from({ length: arrays }, () => new Int32Array(length));
  const lastTouch: (Event | null)[] = data.map(() => null);
  const events: Event[] = [];
  for (const { stream: s, kind, to, from, value } of operations) {
    const stream = streams[s]!;
    const [target, source] = [data[to]!, data[from]!];
    for (const touched of [lastTouch[to], lastTouch[from]]) if (touched) stream.waitEvent(touched);
    const [modelTo, modelFrom] = [model[to]!, model[from]!];
    switch (kind) {
      case 'step':
        stream.launch(step!, { grid: 3, block: 16 }, { y: target, a: value });
        model[to] = modelTo.map((y) => Math.imul(y, 3) + value);
        break;
      case 'set':
        stream.memsetAsync(target, value);
        modelTo.fill(value * 0x01010101);
        break;
      case 'copy':
        stream.memcpyAsync(target, source);
        model[to] = modelFrom.slice();
        break;
      case 'write': {
        const written = Int32Array.from({ length }, (_, i) => i * value);
        stream.memcpyAsync(target, written);
        model[to] = written.slice();
        written.fill(-1);
        break;
      }
      case 'pitched': {
        if (to === from) break;
        stream.memcpy2DAsync({ array: target, pitch: 8 }, { array: source, pitch: 10 }, 5, 4);
        for (let y = 0; y < 4; ++y) modelTo.set(modelFrom.subarray(10 * y, 10 * y + 5), 8 * y);
        break;
      }
      case 'host': {
        const { array } = pinned[to]!;
        stream.memcpyAsync(pinned[to]!, target);
        stream.launchHostFunction(async () => {
          // Some take a turn of the event loop.
          if (value % 3 === 0) await new Promise((done) => setImmediate(done));
          for (let i = 0; i < length; ++i) array[i]! += value;
        });
        stream.memcpyAsync(target, pinned[to]!);
        model[to] = modelTo.map((y) => y + value);
        break;
      }
    }
    const event = device.createEvent();
    events.push(event);
    stream.record(event);
    lastTouch[to] = event;
    lastTouch[from] = event;
  }
  const results = data.map(() => new Int32Array(length));
  data.forEach((array, i) => {
    const stream = streams[i % streams.length]!;
    if (lastTouch[i]) stream.waitEvent(lastTouch[i]);
    stream.memcpyAsync(results[i]!, array);
  });
  // While commands are under way: what they use stays until they are done.
  for (const array of [...data, ...pinned]) array.free();
  await device.synchronize();
  expect(results).toEqual(model);
  expect(device.memory.allocations).toBe(allocations);
  for (const event of events) event.destroy();
}
