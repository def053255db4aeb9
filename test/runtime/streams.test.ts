import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Device, DeviceArray, Span, Stream } from 'warpstage';
import { busy } from '../support/busy.ts';
import { handMade, openHandMade } from '../support/hand-made.ts';
import { atLength, isFirst } from '../support/thorough.ts';
import { checkAnyOrder } from './any-order.ts';

const one = { grid: 1, block: 1 };
let device: Device;

beforeEach(() => {
  device = openHandMade();
});
afterEach(() => device.close());

/** A kernel in a stream that runs until `open` is called: so overlap is seen without a clock. */
function closeGate(stream: Stream): { open(): void; readonly out: DeviceArray<'i32'> } {
  const flag = device.alloc('i32', 1);
  const out = device.alloc('i32', 1);
  stream.launch(handMade.gate, one, { flag, out });
  const key = device.createStream({ nonBlocking: true });
  return { out, open: () => key.memcpyAsync(flag, Int32Array.of(1)) };
}

describe.runIf(isFirst)('streams', () => {
  test('carry their commands out in order, across engines', async () => {
    const stream = device.createStream();
    const y = device.alloc('i32', 100);
    const result = new Int32Array(100);
    stream.memcpyAsync(y, new Int32Array(100).fill(1));
    for (let a = 0; a < 5; ++a) stream.launch(handMade.step, { grid: 4, block: 32 }, { y, a });
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    const expected = [0, 1, 2, 3, 4].reduce((value, a) => value * 3 + a, 1);
    expect([...new Set(result)]).toEqual([expected]);
  });

  test('return at once, and say when they are done', async () => {
    const stream = device.createStream();
    expect(stream.query()).toBe(true);
    const gate = closeGate(stream);
    expect(stream.query()).toBe(false);
    gate.open();
    await stream.synchronize();
    expect(stream.query()).toBe(true);
  });

  test('copy in both directions while a kernel of another stream runs', async () => {
    const gate = closeGate(device.createStream());
    const other = device.createStream();
    const data = device.alloc('i32', 8);
    const result = new Int32Array(8);
    other.memcpyAsync(data, Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    other.memcpyAsync(result, data);
    await other.synchronize();
    expect([...result]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    gate.open();
    await device.synchronize();
  });

  test('do not hold each other up in an engine', async () => {
    const [waiting, free] = [device.createStream(), device.createStream()];
    const gate = closeGate(waiting);
    const behind = device.allocPinned('i32', 1);
    waiting.memcpyAsync(behind, gate.out); // stands first in the engine's queue
    const result = device.allocPinned('i32', 1);
    const data = device.alloc('i32', 1);
    free.memcpyAsync(result, data);
    await free.synchronize();
    expect(waiting.query()).toBe(false);
    gate.open();
    await waiting.synchronize();
    expect(behind.array[0]).toBe(1);
  });

  test('go on while the main thread is busy', async () => {
    const [stream, key] = [device.createStream(), device.createStream()];
    const flag = device.alloc('i32', 1);
    const y = device.alloc('i32', 1000);
    const result = device.allocPinned('i32', 1000);
    stream.launch(handMade.gate, one, { flag, out: y });
    for (let a = 0; a < 10; ++a) stream.launch(handMade.step, { grid: 10, block: 100 }, { y, a: 0 });
    stream.memcpyAsync(result, y);
    key.memcpyAsync(flag, Int32Array.of(1));
    busy(() => result.array[0] !== 0);
    expect(result.array[0]).toBe(3 ** 10);
    expect(stream.query()).toBe(true);
  });

  test('of higher priority go first where several are ready', async () => {
    const gate = closeGate(device.createStream());
    const low = device.createStream({ priority: 1 });
    const high = device.createStream({ priority: -1 });
    expect([low.priority, high.priority, device.defaultStream.priority]).toEqual([1, -1, 0]);
    const y = device.alloc('i32', 1);
    low.launch(handMade.step, one, { y, a: 1 });
    high.launch(handMade.step, one, { y, a: 2 });
    gate.open();
    await device.synchronize();
    const result = new Int32Array(1);
    device.defaultStream.memcpyAsync(result, y);
    await device.defaultStream.synchronize();
    expect(result[0]).toBe((0 * 3 + 2) * 3 + 1);
  });

  test('are closed by destroy, after their commands', async () => {
    const stream = device.createStream();
    const gate = closeGate(stream);
    const destroyed = stream.destroy();
    gate.open();
    await destroyed;
    expect(() => stream.query()).toThrow('WS4002: query: stream 1 was destroyed');
    expect(() => stream.memsetAsync(gate.out, 0)).toThrow('WS4002: memsetAsync: stream 1 was destroyed');
    await expect(stream.destroy()).rejects.toThrow('WS4002');
    await expect(device.defaultStream.destroy()).rejects.toThrow('WS4007: the default stream');
    {
      await using other = device.createStream();
      other.memsetAsync(gate.out, 0);
    }
  });
});

test('streams take more commands than can be in flight', async () => {
  const stream = device.createStream();
  const y = device.alloc('i32', 1);
  const result = new Int32Array(1);
  let expected = 0;
  for (let i = 0; i < (atLength ? 5000 : 1500); ++i) {
    if (i % 5 === 0) {
      stream.launch(handMade.step, one, { y, a: i });
      expected = (Math.imul(expected, 3) + i) | 0;
    } else stream.memcpyAsync(y, y);
  }
  stream.memcpyAsync(result, y);
  await stream.synchronize();
  expect(result[0]).toBe(expected);
});

describe.runIf(isFirst)('the default stream', () => {
  test('of a legacy device waits for blocking streams, and they for it', async () => {
    const stream = device.createStream();
    const free = device.createStream({ nonBlocking: true });
    const gate = closeGate(stream);
    const a = device.alloc('i32', 1);
    device.defaultStream.memsetAsync(a, 1);
    free.memsetAsync(a, 2);
    await free.synchronize();
    expect(device.defaultStream.query()).toBe(false);
    const later = device.createStream();
    later.memsetAsync(a, 3);
    expect(later.query()).toBe(false);
    gate.open();
    await later.synchronize();
    expect(device.defaultStream.query()).toBe(true);
  });

  test('of a device with one per thread is a stream like any other', async () => {
    await using other = openHandMade({ defaultStream: 'perThread' });
    const stream = other.createStream();
    const [flag, out] = [other.alloc('i32', 1), other.alloc('i32', 1)];
    stream.launch(handMade.gate, one, { flag, out });
    other.defaultStream.memcpyAsync(flag, Int32Array.of(1));
    await other.defaultStream.synchronize();
    await stream.synchronize();
  });
});

describe.runIf(isFirst)('events', () => {
  test('order streams among each other', async () => {
    const [first, second] = [device.createStream(), device.createStream()];
    const gate = closeGate(first);
    const event = device.createEvent();
    first.record(event);
    second.waitEvent(event);
    const result = device.allocPinned('i32', 1);
    second.memcpyAsync(result, gate.out);
    expect(event.query()).toBe(false);
    expect(second.query()).toBe(false);
    gate.open();
    await second.synchronize();
    expect(event.query()).toBe(true);
    expect(result.array[0]).toBe(1);
  });

  test('stand for the recording that was there when they were waited for', async () => {
    const [first, second] = [device.createStream(), device.createStream()];
    const event = device.createEvent();
    first.record(event);
    second.waitEvent(event);
    const gate = closeGate(first);
    first.record(event);
    second.memsetAsync(device.alloc('i32', 1), 0);
    await second.synchronize();
    expect(event.query()).toBe(false);
    gate.open();
    await event.synchronize();
  });

  test('are reached when nothing was recorded', async () => {
    const event = device.createEvent();
    expect(event.query()).toBe(true);
    await event.synchronize();
    device.defaultStream.waitEvent(event);
    expect(device.defaultStream.query()).toBe(true);
  });

  test('tell the time between them', async () => {
    const stream = device.createStream();
    const [start, stop, after] = [device.createEvent(), device.createEvent(), device.createEvent()];
    const gate = closeGate(stream);
    stream.record(start);
    const second = closeGate(stream);
    stream.record(stop);
    const before = performance.now();
    gate.open();
    await start.synchronize();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    expect(() => stop.elapsedTime(start)).toThrow(
      'WS4005: elapsedTime: the end was recorded, but its stream has not reached it yet',
    );
    second.open();
    await stop.synchronize();
    stream.record(after);
    const passed = performance.now() - before;
    expect(stop.elapsedTime(start)).toBeGreaterThan(20);
    expect(start.elapsedTime(start)).toBe(0);
    expect(start.elapsedTime(stop)).toBe(-stop.elapsedTime(start));
    expect(after.elapsedTime(stop)).toBeGreaterThanOrEqual(0);
    expect(after.elapsedTime(start)).toBeLessThan(passed + 20);
  });

  test('have no time before they were recorded, and none after they were destroyed', async () => {
    const event = device.createEvent();
    const recorded = device.createEvent();
    device.defaultStream.record(recorded);
    expect(() => recorded.elapsedTime(event)).toThrow('WS4005: elapsedTime: the start was never recorded');
    expect(() => event.elapsedTime(recorded)).toThrow('WS4005: elapsedTime: the end was never recorded');
    event.destroy();
    expect(() => event.query()).toThrow('WS4002: query: the event was destroyed');
    expect(() => device.defaultStream.record(event)).toThrow('WS4002: record: the event was destroyed');
    await using other = openHandMade();
    const foreign = other.createEvent();
    expect(() => device.defaultStream.record(foreign)).toThrow('WS2005: record');
  });
});

test.runIf(isFirst)('spans tell what ran when, and on which engine', async () => {
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  const stream = device.createStream();
  const y = device.alloc('i32', 256);
  const before = performance.now();
  stream.memcpyAsync(y, new Int32Array(256));
  stream.launch(handMade.step, { grid: [2, 1], block: 128 }, { y, a: 1 });
  stream.memcpyAsync(new Int32Array(256), y);
  device.defaultStream.memsetAsync(y, 0);
  await device.synchronize();
  const after = performance.now();
  expect(spans).toMatchObject([
    { name: 'memcpy host to device', engine: 'copy in', stream: 'stream 1', bytes: 1024 },
    { name: 'step', engine: 'compute', stream: 'stream 1', grid: [2, 1, 1] },
    { name: 'memcpy device to host', engine: 'copy out', stream: 'stream 1', bytes: 1024 },
    { name: 'memset', engine: 'copy in', stream: 'default stream', bytes: 1024 },
  ]);
  let last = before;
  for (const { queued, started, ended } of spans) {
    expect(queued).toBeGreaterThanOrEqual(before);
    expect(started).toBeGreaterThan(last - 0.1); // the threads' clocks agree to some microseconds
    expect(ended).toBeGreaterThanOrEqual(started);
    last = ended;
  }
  expect(last).toBeLessThan(after + 0.1);
  device.recorder = null;
  stream.memcpyAsync(y, new Int32Array(256));
  await stream.synchronize();
  expect(spans.length).toBe(4);
});

test.runIf(isFirst)('any operations do what their order says', async () => {
  await checkAnyOrder(device, handMade.step, 60);
});
