// What streams, repeated launches and host functions promise on every device: CPU and GPU alike.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, kernel, type Stream } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { closeGate, download as downloadOn, errorOf, gate, one, step } from './device-work.ts';

const addScalars = kernel(
  { y: 'f64[]', at: 'index', i: 'i32', u: 'u32', f: 'f32', d: 'f64', flag: 'bool' },
  ({ y, at, i, u, f, d, flag }, cuda) => {
    if (at >= y.length) return;
    y[at] = y[at]! + (cuda.f64(i) + cuda.f64(u) + cuda.f64(f) + d + (flag ? 1 : 0));
  },
);

/** Adds one so often, in a way that no compiler makes one sum of. */
const manyTimes = kernel({ y: 'i32[]', times: 'i32' }, ({ y, times }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let sum = y[i]!;
  for (let time = 0; time < times; time += 1) sum = (sum ^ time) + (sum & time) * 2 + 1 - time;
  y[i] = sum;
});

sayWithoutGpu();

describe.each(devices)('$name', ({ open, kind }) => {
  let device: Device;
  let stream: Stream;

  beforeAll(async () => {
    device = await open();
    stream = device.createStream();
  });
  afterAll(() => device.close());

  const download = (array: DeviceArray<'i32'>, on = stream) => downloadOn(array, on);

  describe('streams', () => {
    test('take more commands than are in flight at a time, each of which waits for the one before', async () => {
      const y = device.alloc('i32', 1);
      for (let round = 0; round < 1500; ++round) {
        stream.memsetAsync(y, 0);
        stream.launch(step, one, { y, a: round });
      }
      expect(await download(y)).toEqual([1499]);
    });

    test('who waits for one small kernel after the other keeps no timer waiting', async () => {
      const y = device.alloc('i32', 1000);
      const launch = () => stream.launch(step, { grid: 4, block: 256 }, { y, a: 0 });
      launch(); // compiled, and its threads are there
      await stream.synchronize();
      let rang = 0;
      const timer = setInterval(() => ++rang, 2);
      try {
        for (const end = performance.now() + 10_000; rang < 5 && performance.now() < end; ) {
          launch();
          await stream.synchronize();
        }
      } finally {
        clearInterval(timer);
      }
      expect(rang).toBeGreaterThan(4);
    });

    test('a kernel that was over soon may take long, and be over soon again', async () => {
      const y = device.alloc('i32', 64 * 128);
      const turns = [0, 1, 0, 0, 20_000, 1, 0, 3000, 0];
      for (const times of turns) stream.launch(manyTimes, { grid: 64, block: 128 }, { y, times });
      const sum = turns.reduce((a, b) => a + b, 0);
      expect(new Set(await download(y))).toEqual(new Set([sum]));
    });

    test('carry their commands out in order, and overlap', async () => {
      const [waiting, free] = [device.createStream(), device.createStream()];
      const shape = { grid: 4, block: 32 };
      const behind = device.allocPinned('i32', 1);
      const y = device.alloc('i32', 100);
      free.launch(step, shape, { y, a: 0 });
      await free.synchronize();
      const shut = closeGate(device, waiting);
      waiting.memcpyAsync(behind, shut.out);
      free.memcpyAsync(y, new Int32Array(100).fill(1));
      // A CPU runs one kernel at a time.
      if (kind === 'cuda') for (let a = 0; a < 5; ++a) free.launch(step, shape, { y, a });
      const expected = kind === 'cuda' ? [0, 1, 2, 3, 4].reduce((value, a) => value * 3 + a, 1) : 1;
      expect(new Set(await download(y, free))).toEqual(new Set([expected]));
      expect(waiting.query()).toBe(false);
      shut.open();
      await waiting.synchronize();
      expect(behind.array[0]).toBe(1);
      expect(waiting.query()).toBe(true);
      await Promise.all([waiting.destroy(), free.destroy()]);
    });

    test('the legacy default stream waits for blocking streams, and they for it', async () => {
      const [blocking, free] = [device.createStream(), device.createStream({ nonBlocking: true })];
      const [y, apart] = [device.alloc('i32', 1), device.alloc('i32', 1)];
      const shut = closeGate(device, blocking);
      device.defaultStream.memsetAsync(y, 1);
      const later = device.createStream();
      later.memsetAsync(y, 2);
      free.memsetAsync(apart, 3);
      await free.synchronize();
      expect([device.defaultStream.query(), later.query()]).toEqual([false, false]);
      shut.open();
      await later.synchronize();
      expect(device.defaultStream.query()).toBe(true);
      expect(await download(y)).toEqual([0x02020202]);
    });

    test('the default stream of a thread is one of them', async () => {
      await using fresh = await open({ defaultStream: 'perThread' });
      const blocking = fresh.createStream();
      const [flag, out] = [fresh.alloc('i32', 1), fresh.alloc('i32', 1)];
      blocking.launch(gate, one, { flag, out });
      fresh.defaultStream.memcpyAsync(flag, Int32Array.of(5));
      const result = new Int32Array(1);
      blocking.memcpyAsync(result, out);
      await blocking.synchronize();
      expect(result[0]).toBe(5);
    });

    test('wait for events of other streams', async () => {
      const other = device.createStream({ nonBlocking: true });
      const seen = device.alloc('i32', 1);
      const shut = closeGate(device, stream);
      const event = device.createEvent();
      stream.record(event);
      other.waitEvent(event);
      other.memcpyAsync(seen, shut.out);
      expect([event.query(), other.query()]).toEqual([false, false]);
      shut.open();
      expect(await download(seen, other)).toEqual([1]);
      expect(event.query()).toBe(true);
    });

    test('have priorities', () => {
      const [low, high] = [device.createStream({ priority: 1 }), device.createStream({ priority: -1 })];
      expect([low.priority, high.priority, device.defaultStream.priority]).toEqual([1, -1, 0]);
    });

    test('take thousands of commands', async () => {
      const y = device.alloc('i32', 1);
      let expected = 0;
      for (let a = 0; a < 3000; ++a) {
        stream.launch(step, one, { y, a });
        expected = (Math.imul(expected, 3) + a) | 0;
      }
      expect(await download(y)).toEqual([expected]);
    });

    test('tell times by events', async () => {
      const [start, stop] = [device.createEvent(), device.createEvent()];
      const data = device.alloc('u8', 10_000_000);
      stream.record(start);
      for (let i = 0; i < 5; ++i) stream.memsetAsync(data, i);
      stream.record(stop);
      await stop.synchronize();
      expect(stop.elapsedTime(start)).toBeGreaterThan(0);
      expect(start.elapsedTime(stop)).toBeLessThan(0);
    });

    test('are ordered by events without times too', async () => {
      const [data, event] = [device.alloc('i32', 1), device.createEvent({ timing: false })];
      const other = device.createStream({ nonBlocking: true });
      stream.memcpyAsync(data, Int32Array.of(1));
      for (let a = 0; a < 100; ++a) stream.launch(step, one, { y: data, a: 0 });
      stream.record(event);
      other.waitEvent(event);
      other.memsetAsync(data, 7);
      await other.synchronize();
      expect(event.query()).toBe(true);
      expect(await download(data)).toEqual([0x07070707]);
      expect(() => event.elapsedTime(event)).toThrow(
        'WS4007: elapsedTime: the end is an event without timing',
      );
      expect(() => device.createEvent({ timing: 1 as never })).toThrow(
        'WS4007: createEvent: timing must be true or false, and is 1',
      );
      await other.destroy();
    });

    test('tell a recorder what they did', async () => {
      await using fresh = await open();
      const own = fresh.createStream();
      const y = fresh.alloc('i32', 1000);
      const pinned = fresh.allocPinned('i32', 1000);
      const spans: string[] = [];
      fresh.recorder = ({ name, engine, started, ended }) => {
        expect(ended).toBeGreaterThanOrEqual(started);
        spans.push(`${name} on ${engine}`);
      };
      own.memcpyAsync(y, pinned);
      own.launch(step, { grid: 4, block: 256 }, { y, a: 1 });
      own.memcpyAsync(pinned, y);
      await own.synchronize();
      fresh.recorder = null;
      expect(spans).toEqual([
        'memcpy host to device on copy in',
        'step on compute',
        'memcpy device to host on copy out',
      ]);
    });
  });

  describe('launches that repeat a former one', () => {
    test('take new scalars, and the memory that they name', async () => {
      const [x, y] = [device.alloc('i32', 8), device.alloc('i32', 8)];
      for (const a of [1, 2, 2, -3]) {
        stream.launch(step, { grid: 1, block: 8 }, { y: x, a });
        stream.launch(step, { grid: 1, block: [8] }, { y: y.subarray(0, 4), a });
      }
      const final = [1, 2, 2, -3].reduce((value, a) => value * 3 + a, 0);
      expect(await download(x)).toEqual(new Array(8).fill(final));
      expect(await download(y)).toEqual([...new Array(4).fill(final), 0, 0, 0, 0]);
    });

    test('in any order, more of them than are remembered, take the scalars of each', async () => {
      const [count, size] = [80, 4];
      const y = device.alloc('f64', count * size);
      stream.memsetAsync(y, 0);
      const parts = Array.from({ length: count }, (_, i) => y.subarray(size * i, size * (i + 1)));
      const expected = new Float64Array(count * size);
      for (let launch = 0; launch < 4 * count; ++launch) {
        const part = (launch < 2 * count ? launch : launch * launch) % count;
        // Every ninth position needs a wider index, and writes nothing.
        const at = launch % 9 === 8 ? 2 ** 31 + launch : launch % size;
        const [i, u, f, d] = [-launch, 2 ** 31 + launch, launch / 4, launch / 3];
        stream.launch(
          addScalars,
          { grid: 1, block: 1 },
          { y: parts[part]!, at, i, u, f, d, flag: launch % 2 === 1 },
        );
        if (at < size) expected[size * part + at]! += i + u + f + d + (launch % 2);
      }
      const host = new Float64Array(count * size);
      stream.memcpyAsync(host, y);
      await stream.synchronize();
      expect(host).toEqual(expected);
    });

    test('stop by their own signal, not by that of the former one', async () => {
      const y = device.alloc('i32', 8);
      const [first, second] = [new AbortController(), new AbortController()];
      const launch = ({ signal }: AbortController) =>
        stream.launch(step, { grid: 1, block: 8, signal }, { y, a: 1 });
      launch(first);
      launch(first);
      await stream.synchronize();
      first.abort();
      launch(second);
      expect(await download(y)).toEqual(new Array(8).fill(13));
      launch(first);
      await expect(stream.synchronize()).rejects.toThrow('WS3004');
    });

    test('are checked where something is new', () => {
      const y = device.alloc('i32', 8);
      const launch = (args: object) => stream.launch(step, { grid: 1, block: 8 }, args as never);
      launch({ y, a: 1 });
      launch({ y, a: 1 });
      expect(() => launch({ y, a: 1.5 })).toThrow('WS2001');
      expect(() => launch({ y })).toThrow('WS2001: launch of the kernel: argument `a` is missing');
      expect(() => launch({ y, a: 1, b: 2 })).toThrow('there is no parameter `b`');
      expect(() => stream.launch(step, { grid: 1, block: 2000 }, { y, a: 1 })).toThrow('WS2003');
      y.free();
      expect(() => launch({ y, a: 1 })).toThrow('WS4002: launch of the kernel: argument `y`');
    });
  });

  describe('host functions', () => {
    test('run at their place in the stream', async () => {
      const y = device.alloc('i32', 4);
      const [before, after] = [device.allocPinned('i32', 4), device.allocPinned('i32', 4)];
      const seen: number[] = [];
      stream.memsetAsync(y, 1);
      stream.memcpyAsync(before, y);
      stream.launchHostFunction(() => {
        seen.push(before.array[0]!);
        after.array.fill(7);
      });
      stream.memcpyAsync(y, after);
      expect(seen).toEqual([]);
      expect(await download(y)).toEqual([7, 7, 7, 7]);
      expect(seen).toEqual([0x01010101]);
    });

    test('hold what is behind them until their promise is resolved, and nothing else', async () => {
      const y = device.alloc('i32', 1);
      let resolve = () => {};
      stream.launchHostFunction(() => new Promise<void>((done) => (resolve = done)));
      stream.memsetAsync(y, 1);
      const other = device.createStream({ nonBlocking: true });
      expect(await download(y, other)).toEqual([0]);
      await new Promise((done) => setTimeout(done, 5));
      expect(stream.query()).toBe(false);
      resolve();
      expect(await download(y)).toEqual([0x01010101]);
    });

    test('are called in the order of their stream, also where nobody waits', async () => {
      const called: number[] = [];
      for (let i = 0; i < 20; ++i) stream.launchHostFunction(() => called.push(i));
      await new Promise<void>((done) => stream.launchHostFunction(done));
      expect(called).toEqual(Array.from({ length: 20 }, (_, i) => i));
      await stream.synchronize();
    });

    test('that throw fail what is behind them, once', async () => {
      const y = device.alloc('i32', 1);
      stream.launchHostFunction(() => {
        throw new RangeError('no more');
      });
      stream.memsetAsync(y, 1);
      const error = await errorOf(stream.synchronize());
      expect(error.message).toMatch(
        /^WS4008: a host function in a stream threw RangeError: no more\n {2}hint: /,
      );
      expect(error.cause).toBeInstanceOf(RangeError);
      await stream.synchronize();
    });

    test('must be functions', () => {
      expect(() => stream.launchHostFunction(3 as never)).toThrow(
        'WS4007: launchHostFunction takes a function, not number',
      );
    });
  });
});
