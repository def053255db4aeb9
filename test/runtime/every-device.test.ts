// What streams, memory and events promise on every device: CPU and GPU alike.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, kernel, type Stream, WarpstageError } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const one = { grid: 1, block: 1 };

/** Runs until the flag is set. */
const gate = kernel({ flag: 'i32[]', out: 'i32[]' }, ({ flag, out }, cuda) => {
  let seen = 0;
  while (seen === 0) seen = cuda.atomicAdd(flag, 0, 0);
  out[0] = seen;
});

const step = kernel({ y: 'i32[]', a: 'i32' }, ({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = y[i]! * 3 + a;
});

const add = kernel({ to: 'i32[]', from: 'readonly i32[]' }, ({ to, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < to.length) to[i] = to[i]! + from[i]!;
});

sayWithoutGpu();

describe.each(devices)('$name', ({ open, kind, options }) => {
  /** A kernel that tells the host something is no part of a graph of the driver. */
  const graphs = kind === 'cuda' && !options.checked;
  let device: Device;
  let stream: Stream;

  beforeAll(async () => {
    device = await open();
    stream = device.createStream();
  });
  afterAll(() => device.close());

  /**
   * A kernel in a stream that runs until `open` is called: so order is seen without a clock. On a GPU, memory that
   * is locked and kernels that are loaded after it may wait for it; so that comes before.
   */
  function closeGate(on: Stream): { open(): void; readonly out: DeviceArray<'i32'> } {
    const [flag, out] = [device.alloc('i32', 1), device.alloc('i32', 1)];
    on.launch(gate, one, { flag, out });
    const key = device.createStream({ nonBlocking: true });
    return { out, open: () => key.memcpyAsync(flag, Int32Array.of(1)) };
  }

  async function download(array: DeviceArray<'i32'>, on = stream): Promise<number[]> {
    const result = new Int32Array(array.length);
    on.memcpyAsync(result, array);
    await on.synchronize();
    return [...result];
  }

  async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
    const error = await promise.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(WarpstageError);
    return error as WarpstageError;
  }

  describe('memory', () => {
    test('is zero, also to a stream that does not synchronise', async () => {
      for (let round = 0; round < 20; ++round) {
        const free = device.createStream({ nonBlocking: true });
        const y = device.alloc('i32', 100_000);
        free.launch(step, { grid: 400, block: 256 }, { y, a: 5 });
        const result = new Int32Array(y.length);
        free.memcpyAsync(result, y);
        await free.destroy();
        expect(new Set(result)).toEqual(new Set([5]));
        y.free();
      }
    });

    test.each([1, 7, 4096, 3_000_001, 20_000_003])(
      'copies %i bytes from and to typed arrays',
      async (bytes) => {
        const source = Uint8Array.from({ length: bytes }, (_, i) => (i * 7) ^ (i >> 8));
        const data = device.alloc('u8', bytes);
        const other = device.alloc('u8', bytes);
        const result = new Uint8Array(bytes);
        stream.memcpyAsync(data, source);
        const kept = source.slice();
        source.fill(9); // the copy has read it
        stream.memcpyAsync(other, data);
        stream.memcpyAsync(result, other);
        await stream.synchronize();
        expect(Buffer.compare(result, kept)).toBe(0);
        data.free();
        other.free();
      },
    );

    test('a typed array that a copy has still to fill may be the source of the next', async () => {
      const [a, b] = [device.alloc('i32', 1000), device.alloc('i32', 1000)];
      const through = new Int32Array(1000);
      stream.memsetAsync(a, 1);
      stream.memcpyAsync(through, a);
      stream.memcpyAsync(b, through);
      expect(new Set(await download(b))).toEqual(new Set([0x01010101]));
    });

    test('sets bytes of arrays of every width', async () => {
      for (const element of ['u8', 'i16', 'f32', 'f64'] as const) {
        const data = device.alloc(element, 1001);
        const result = device.allocPinned(element, 1001);
        stream.memsetAsync(data.subarray(1, 1000), 0x3f);
        stream.memcpyAsync(result, data);
        await stream.synchronize();
        const size = data.byteLength / 1001;
        const { buffer, byteOffset, byteLength } = result.array;
        const bytes = new Uint8Array(buffer, byteOffset, byteLength);
        expect(new Set(bytes.subarray(size, 1000 * size))).toEqual(new Set([0x3f]));
        expect(new Set([...bytes.subarray(0, size), ...bytes.subarray(1000 * size)])).toEqual(new Set([0]));
        data.free();
        result.free();
      }
    });

    test.each(['typed', 'pinned', 'shared'] as const)(
      'copies rows and planes, %s host memory',
      async (host) => {
        const make = (n: number) => {
          if (host === 'typed') return new Int32Array(n);
          return host === 'pinned'
            ? device.allocPinned('i32', n)
            : new Int32Array(new SharedArrayBuffer(4 * n));
        };
        const arrayOf = (made: ReturnType<typeof make>) => ('array' in made ? made.array : made);
        const [width, height, depth] = [5, 3, 2];
        const source = make(200);
        arrayOf(source).forEach((_, i, all) => {
          all[i] = i;
        });
        const data = device.alloc('i32', 300);
        const target = make(200);
        const narrow = { array: source, pitch: 8, height: 4 };
        const wide = { array: data, pitch: 11, height: 5 };
        stream.memcpy3DAsync(wide, narrow, width, height, depth);
        stream.memcpy3DAsync({ array: target, pitch: 8, height: 4 }, wide, width, height, depth);
        stream.memcpy2DAsync({ array: target, pitch: 6 }, { array: data, pitch: 11 }, 1, 2);
        await stream.synchronize();
        const expected = new Int32Array(200);
        for (let z = 0; z < depth; ++z)
          for (let y = 0; y < height; ++y)
            for (let x = 0; x < width; ++x) expected[z * 32 + y * 8 + x] = z * 32 + y * 8 + x;
        expected[6] = 8;
        expect([...arrayOf(target)]).toEqual([...expected]);
        data.free();
      },
    );

    test('that is page-locked cannot be used when it was freed, and harms nobody', async () => {
      const pinned = device.allocPinned('i32', 1000);
      const view = pinned.array;
      const data = device.alloc('i32', 1000);
      view.fill(4);
      stream.memcpyAsync(data, pinned);
      pinned.free();
      expect(() => pinned.array).toThrow(
        'WS4002: array: the page-locked i32 array of 1000 elements was freed',
      );
      expect(() => stream.memcpyAsync(data, pinned)).toThrow('WS4002');
      expect(new Set(await download(data))).toEqual(new Set([4]));
      view.fill(1);
      expect(new Set(view)).toEqual(new Set([1]));
    });

    test('that is short is an error with the figures', () => {
      const length = Math.ceil(device.properties.totalGlobalMemory / 8) + 1;
      expect(() => device.alloc('f64', length)).toThrow(
        new RegExp(`^WS4001: an array of ${length} elements of f64 needs .* of the device's .* free stretch`),
      );
      device.alloc('f64', 10).free();
    });

    test('that is freed in flight comes back', async () => {
      const { allocations } = device.memory;
      for (let i = 0; i < 50; ++i) {
        const y = device.alloc('u8', 2_000_000);
        stream.memsetAsync(y, i);
        y.free();
      }
      await stream.synchronize();
      expect(device.memory.allocations).toBe(allocations);
    });

    test('goes from device to device', async () => {
      await using other = await open();
      const [mine, theirs] = [device.alloc('i32', 5000), other.alloc('i32', 5000)];
      const data = Int32Array.from({ length: 5000 }, (_, i) => i * i);
      const apart = other.createStream();
      apart.memcpyAsync(theirs, data);
      await apart.synchronize();
      stream.memcpyAsync(mine, theirs);
      stream.launch(step, { grid: 20, block: 256 }, { y: mine, a: 1 });
      stream.memcpyAsync(theirs.subarray(0, 100), mine.subarray(100, 200));
      const rows = { array: theirs, pitch: 100 };
      stream.memcpy2DAsync({ array: mine, pitch: 10 }, rows, 3, 2);
      await stream.synchronize();
      const expected = data.map((value) => value * 3 + 1);
      const back = expected.slice(100, 200);
      expect(await download(mine.subarray(0, 3))).toEqual([...back.slice(0, 3)]);
      expect(await download(mine.subarray(10, 13))).toEqual([10_000, 10_201, 10_404]);
      expect(await download(mine.subarray(100))).toEqual([...expected.slice(100)]);
      expect(await download(mine.subarray(0, 3))).toEqual([...back.slice(0, 3)]);
      expect(() => stream.launch(step, one, { y: theirs, a: 1 })).toThrow('WS2005');
      expect(() => stream.memsetAsync(theirs, 1)).toThrow('WS4004');
    });
  });

  describe('streams', () => {
    test('carry their commands out in order, and overlap', async () => {
      const [waiting, free] = [device.createStream(), device.createStream()];
      const shape = { grid: 4, block: 32 };
      const behind = device.allocPinned('i32', 1);
      const y = device.alloc('i32', 100);
      free.launch(step, shape, { y, a: 0 });
      await free.synchronize();
      const shut = closeGate(waiting);
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
      const shut = closeGate(blocking);
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
      const shut = closeGate(stream);
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
        `${step.name} on compute`,
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

  describe('graphs', () => {
    test('carry out what was captured, as often as they are launched', async () => {
      const y = device.alloc('i32', 1000);
      const graph = stream.capture(() => {
        for (let a = 0; a < 5; ++a) stream.launch(step, { grid: 4, block: 256 }, { y, a });
      });
      expect(graph.operations).toBe(5);
      expect(new Set(await download(y))).toEqual(new Set([0]));
      const { ranOn } = graph.launch(stream);
      expect(ranOn).toBe(graphs ? 'graph' : 'commands');
      graph.launch(stream);
      let expected = 0;
      for (let round = 0; round < 2; ++round) for (let a = 0; a < 5; ++a) expected = expected * 3 + a;
      expect(new Set(await download(y))).toEqual(new Set([expected]));
    });

    test('have branches: streams that wait for an event of the capture', async () => {
      const [x, y, z] = [device.alloc('i32', 64), device.alloc('i32', 64), device.alloc('i32', 64)];
      const other = device.createStream({ nonBlocking: true });
      const [fork, joined] = [device.createEvent(), device.createEvent()];
      const pinned = device.allocPinned('i32', 64);
      const shape = { grid: 1, block: 64 };
      const graph = stream.capture(() => {
        stream.memsetAsync(z, 0);
        stream.launch(step, shape, { y: x, a: 2 });
        stream.record(fork);
        other.waitEvent(fork);
        other.launch(step, shape, { y, a: 5 });
        stream.launch(step, shape, { y: x, a: 1 });
        other.record(joined);
        stream.waitEvent(joined);
        stream.launch(add, shape, { to: z, from: x });
        stream.launch(add, shape, { to: z, from: y });
        stream.memcpyAsync(pinned, z);
      });
      expect(graph.launch(stream).ranOn).toBe(graphs ? 'graph' : 'commands');
      await stream.synchronize();
      expect(new Set(pinned.array)).toEqual(new Set([7 + 5]));
      graph.launch(other);
      await other.synchronize();
      expect(new Set(pinned.array)).toEqual(new Set([(7 * 3 + 2) * 3 + 1 + 20]));
    });

    test('read typed arrays, and call host functions, at each launch', async () => {
      const y = device.alloc('i32', 4);
      const input = Int32Array.of(1, 2, 3, 4);
      const output = new Int32Array(4);
      const sums: number[] = [];
      const graph = stream.capture(() => {
        stream.memcpyAsync(y, input);
        stream.launch(step, { grid: 1, block: 4 }, { y, a: 1 });
        stream.memcpyAsync(output, y);
        stream.launchHostFunction(() => sums.push(output.reduce((sum, value) => sum + value, 0)));
      });
      graph.launch(stream);
      await stream.synchronize();
      input.fill(10);
      graph.launch(stream);
      await stream.synchronize();
      expect(sums).toEqual([34, 124]);
    });

    test('are refused where the capture is not sound', async () => {
      const other = device.createStream();
      const event = device.createEvent();
      const y = device.alloc('i32', 1);
      const fork = () => {
        stream.launch(step, one, { y, a: 1 });
        stream.record(event);
        other.waitEvent(event);
        other.launch(step, one, { y, a: 2 });
      };
      expect(() => stream.capture(fork)).toThrow(
        /^WS4009: the capture of stream \d+ ended, and nothing in it waits for/,
      );
      expect(() => stream.capture(() => stream.query())).toThrow('WS4009');
      expect(() => stream.capture(() => device.defaultStream.memsetAsync(y, 0))).toThrow('WS4009');
      expect(() => device.defaultStream.capture(() => {})).toThrow('WS4009: the legacy default stream');
      expect(() => stream.capture(() => void other.capture(() => {}))).toThrow('WS4009');
      expect(() => stream.capture(async () => {})).toThrow('WS4009: capture takes a function that issues');
      expect(() => stream.waitEvent(event)).toThrow('WS4009: waitEvent: the event was recorded in a capture');
      await expect(event.synchronize()).rejects.toThrow('WS4009: synchronize');
      const graph = stream.capture(() => stream.launch(step, one, { y, a: 1 }));
      y.free();
      expect(() => graph.launch(stream)).toThrow(
        'WS4002: launch of a graph: an array that it uses was freed',
      );
      await stream.synchronize();
    });
  });
});
