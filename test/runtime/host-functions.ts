// What host functions promise, on every device: they hold up what is behind them, and nothing else.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, kernel, type OpenOptions, type Span, type Stream } from 'warpstage';
import { checkAnyOrder } from './any-order.ts';
import { errorOf, one, step } from './device-work.ts';

/** Nothing here takes longer, unless something waits for ever. */
const limit = { timeout: 15_000 };

export interface Promised {
  readonly open: (options?: OpenOptions) => Promise<Device>;
  /** Whether kernels do what they say. */
  readonly kernels: boolean;
}

/** A function in a stream that has not returned until `open` is called. */
async function holdUp(stream: Stream): Promise<{ readonly open: () => void }> {
  return new Promise((called) => {
    stream.launchHostFunction(() => new Promise<void>((done) => called({ open: done })));
  });
}

const turns = async () => {
  for (let i = 0; i < 5; ++i) await new Promise((done) => setTimeout(done, 1));
};

export function promiseHostFunctions({ open, kernels }: Promised): void {
  let device: Device;
  let [stream, other]: Stream[] = [];
  beforeAll(async () => {
    device = await open();
  });
  beforeEach(() => {
    stream = device.createStream({ nonBlocking: true });
    other = device.createStream({ nonBlocking: true });
  });
  afterAll(() => device.close());

  const download = async (array: Parameters<Stream['memcpyAsync']>[1], on: Stream) => {
    const result = new Int32Array(array.length);
    on.memcpyAsync(result, array as never);
    await on.synchronize();
    return [...result];
  };

  describe('while a host function has not returned, the program can', () => {
    /** Does something, and then has the function return. */
    async function meanwhile(doing: () => Promise<void>): Promise<void> {
      const y = device.alloc('i32', 4);
      const result = new Int32Array(4);
      stream!.memsetAsync(y, 1);
      await stream!.synchronize();
      const held = await holdUp(stream!);
      stream!.memsetAsync(y, 2);
      stream!.memcpyAsync(result, y);
      await doing();
      expect(stream!.query()).toBe(false);
      expect([...result]).toEqual([0, 0, 0, 0]);
      held.open();
      await stream!.synchronize();
      expect([...result]).toEqual([2, 2, 2, 2].map((byte) => byte * 0x01010101));
    }

    test('launch kernels for the first time', limit, () =>
      meanwhile(async () => {
        const fresh = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
          y[cuda.threadIdx.x] = 5;
        });
        const z = device.alloc('i32', 4);
        other!.launch(fresh, { grid: 1, block: 4 }, { y: z });
        expect(await download(z, other!)).toEqual(new Array(4).fill(kernels ? 5 : 0));
      }),
    );

    test('take and free memory of the device and of the host', limit, () =>
      meanwhile(async () => {
        const pinned = device.allocPinned('i32', 2 ** 16);
        const array = device.alloc('i32', 2 ** 16);
        pinned.array.fill(3);
        other!.memcpyAsync(array, pinned);
        await other!.synchronize();
        array.free();
        pinned.free();
        const again = device.allocPinned('i32', 8);
        again.free();
      }),
    );

    test('capture graphs and launch them', limit, () =>
      meanwhile(async () => {
        const z = device.alloc('i32', 4);
        const graph = other!.capture(() => other!.memsetAsync(z, 7));
        graph.launch(other!);
        graph.launch(other!);
        expect(await download(z, other!)).toEqual(new Array(4).fill(0x07070707));
      }),
    );

    test('make, wait for and destroy streams', limit, () =>
      meanwhile(async () => {
        await using another = device.createStream({ nonBlocking: true });
        const z = device.alloc('i32', 4);
        another.memsetAsync(z, 1);
        await another.synchronize();
        expect(another.query()).toBe(true);
      }),
    );

    test('copy from and to typed arrays', limit, () =>
      meanwhile(async () => {
        const z = device.alloc('i32', 4);
        other!.memcpyAsync(z, Int32Array.of(1, 2, 3, 4));
        expect(await download(z, other!)).toEqual([1, 2, 3, 4]);
      }),
    );

    test('record, and read the times of events', limit, () =>
      meanwhile(async () => {
        const spans: Span[] = [];
        const [start, stop] = [device.createEvent(), device.createEvent()];
        const z = device.alloc('i32', 4);
        device.recorder = (span) => spans.push(span);
        other!.record(start);
        other!.memsetAsync(z, 1);
        other!.record(stop);
        await stop.synchronize();
        expect(stop.elapsedTime(start)).toBeGreaterThanOrEqual(0);
        device.recorder = null;
        expect(spans.map(({ name }) => name)).toEqual(['memset']);
      }),
    );
  });

  describe('behind a host function', () => {
    test('typed arrays are read when the copy is issued, page-locked ones in their turn', limit, async () => {
      const [y, z] = [device.alloc('i32', 4), device.alloc('i32', 4)];
      const typed = Int32Array.of(1, 2, 3, 4);
      const pinned = device.allocPinned('i32', 4);
      const held = await holdUp(stream!);
      stream!.memcpyAsync(y, typed);
      stream!.memcpyAsync(z, pinned);
      typed.fill(9);
      pinned.array.fill(9);
      held.open();
      expect(await download(y, stream!)).toEqual([1, 2, 3, 4]);
      expect(await download(z, stream!)).toEqual([9, 9, 9, 9]);
    });

    test('a typed array that is still to be filled there cannot be copied from', limit, async () => {
      const [y, z] = [device.alloc('i32', 4), device.alloc('i32', 4)];
      const typed = new Int32Array(4);
      stream!.memsetAsync(y, 1);
      const held = await holdUp(stream!);
      stream!.memcpyAsync(typed, y);
      expect(() => other!.memcpyAsync(z, typed)).toThrow(
        'WS4007: memcpy host to device: the source is still to be filled',
      );
      held.open();
      await stream!.synchronize();
      other!.memcpyAsync(z, typed);
      expect(await download(z, other!)).toEqual(new Array(4).fill(0x01010101));
    });

    test('arrays that were freed stay until the commands are done', limit, async () => {
      const before = device.memory.allocations;
      const y = device.alloc('i32', 4);
      const pinned = device.allocPinned('i32', 4);
      const { array } = pinned;
      const held = await holdUp(stream!);
      stream!.memsetAsync(y, 4);
      stream!.memcpyAsync(pinned, y);
      y.free();
      pinned.free();
      await turns();
      expect(device.memory.allocations).toBe(before + 1);
      expect([...array]).toEqual([0, 0, 0, 0]);
      held.open();
      await stream!.synchronize();
      expect([...array]).toEqual(new Array(4).fill(0x04040404));
      expect(device.memory.allocations).toBe(before);
    });

    test('streams wait that wait for an event of it, through whichever streams', limit, async () => {
      const third = device.createStream({ nonBlocking: true });
      const y = device.alloc('i32', 4);
      const [first, second, start] = [device.createEvent(), device.createEvent(), device.createEvent()];
      stream!.record(start);
      const held = await holdUp(stream!);
      stream!.memsetAsync(y, 1);
      stream!.record(first);
      other!.waitEvent(first);
      other!.record(second);
      third.waitEvent(second);
      third.memsetAsync(y, 2);
      await turns();
      expect([first, second].map((event) => event.query())).toEqual([false, false]);
      expect([other!, third].map((each) => each.query())).toEqual([false, false]);
      expect(() => second.elapsedTime(start)).toThrow('WS4005');
      held.open();
      await second.synchronize();
      expect(first.query()).toBe(true);
      expect(first.elapsedTime(start)).toBeGreaterThan(0);
      expect(second.elapsedTime(first)).toBeGreaterThanOrEqual(0);
      expect(await download(y, third)).toEqual(new Array(4).fill(0x02020202));
    });

    test('events can be recorded anew, and destroyed', limit, async () => {
      const y = device.alloc('i32', 4);
      const [event, gone] = [device.createEvent(), device.createEvent()];
      const held = await holdUp(stream!);
      stream!.record(event);
      stream!.record(gone);
      gone.destroy();
      stream!.memsetAsync(y, 1);
      other!.record(event);
      expect(event.query()).toBe(true);
      stream!.record(event);
      expect(event.query()).toBe(false);
      held.open();
      await event.synchronize();
      expect(event.elapsedTime(event)).toBe(0);
    });

    test('the legacy default stream waits, and what comes behind that', limit, async () => {
      const [blocking, later] = [device.createStream(), device.createStream()];
      const y = device.alloc('i32', 4);
      const held = await holdUp(blocking);
      device.defaultStream.memsetAsync(y, 1);
      later.memsetAsync(y, 2);
      other!.memsetAsync(y, 3);
      await other!.synchronize();
      await turns();
      expect([device.defaultStream, later].map((each) => each.query())).toEqual([false, false]);
      held.open();
      expect(await download(y, later)).toEqual(new Array(4).fill(0x02020202));
    });

    test('a default stream per thread does not wait', limit, async () => {
      await using own = await open({ defaultStream: 'perThread' });
      const blocking = own.createStream();
      const held = await holdUp(blocking);
      own.defaultStream.memsetAsync(own.alloc('i32', 4), 1);
      await own.defaultStream.synchronize();
      held.open();
      await blocking.synchronize();
    });

    test('graphs are launched in their turn', limit, async () => {
      const [y, z] = [device.alloc('i32', 4), device.alloc('i32', 4)];
      const seen: number[] = [];
      const pinned = device.allocPinned('i32', 4);
      const plain = stream!.capture(() => stream!.memcpyAsync(z, y));
      const calling = stream!.capture(() => {
        stream!.memcpyAsync(pinned, z);
        stream!.launchHostFunction(() => seen.push(pinned.array[0]!));
        stream!.memsetAsync(z, 9);
      });
      stream!.memsetAsync(y, 1);
      const held = await holdUp(stream!);
      stream!.memsetAsync(y, 2);
      plain.launch(stream!);
      calling.launch(stream!);
      calling.launch(stream!);
      held.open();
      await stream!.synchronize();
      expect(seen).toEqual([0x02020202, 0x09090909]);
    });

    test('what throws fails what depends on it, in whichever stream', limit, async () => {
      const y = device.alloc('i32', 4);
      const called: string[] = [];
      const event = device.createEvent();
      stream!.launchHostFunction(async () => {
        await turns();
        throw new RangeError('no more');
      });
      stream!.memsetAsync(y, 1);
      stream!.launchHostFunction(() => called.push('behind'));
      stream!.record(event);
      other!.memsetAsync(y, 2);
      other!.waitEvent(event);
      other!.memsetAsync(y, 3);
      for (const each of [stream!, other!]) {
        expect((await errorOf(each.synchronize())).message).toMatch(/^WS4008: .* RangeError: no more/);
      }
      await expect(event.synchronize()).rejects.toThrow('WS4008');
      expect(called).toEqual([]);
      expect(await download(y, other!)).toEqual(new Array(4).fill(0x02020202));
    });

    test('launches can be cancelled', limit, async () => {
      const y = device.alloc('i32', 4);
      const controller = new AbortController();
      stream!.launch(step, one, { y, a: 0 });
      await stream!.synchronize();
      const held = await holdUp(stream!);
      stream!.memsetAsync(y, 1);
      stream!.launch(step, { ...one, signal: controller.signal }, { y, a: 1 });
      stream!.memsetAsync(y, 2);
      controller.abort();
      // What was issued before it goes on, and the stream is not through before that is done.
      expect(stream!.query()).toBe(false);
      const synchronised = expect(stream!.synchronize()).rejects.toThrow('WS3004');
      held.open();
      await synchronised;
      expect(await download(y, stream!)).toEqual(new Array(4).fill(0x01010101));
    });

    test('thousands of commands are done in order', limit, async () => {
      const y = device.alloc('i32', 1);
      const result = new Int32Array(1);
      const held = await holdUp(stream!);
      for (let i = 0; i < 900; ++i) stream!.memsetAsync(y, i % 251);
      stream!.memcpyAsync(result, y);
      held.open();
      await stream!.synchronize();
      expect(result[0]).toBe(((899 % 251) * 0x01010101) | 0);
    });

    test('what is not done when the device closes fails', limit, async () => {
      const closing = await open();
      const own = closing.createStream();
      const y = closing.alloc('i32', 4);
      const called: string[] = [];
      await holdUp(own);
      own.memsetAsync(y, 1);
      own.launchHostFunction(() => called.push('late'));
      const waiting = errorOf(own.synchronize());
      await closing.close();
      expect((await waiting).message).toMatch(/^WS4006: .*: the device was closed/);
      await turns();
      expect(called).toEqual([]);
    });
  });

  test('a failure is thrown once where the device is closed while somebody waits for it', limit, async () => {
    for (let steps = 0; steps < 12; ++steps) {
      const closing = await open();
      closing.createStream().launchHostFunction(() => {
        throw new RangeError('once');
      });
      const thrown: unknown[] = [];
      const note = (error: unknown) => void thrown.push(error);
      const waiting = closing.synchronize().catch(note);
      for (let step = 0; step < steps; ++step) await null;
      await closing.close().catch(note);
      await waiting;
      // Before the function was called, closing is what it fails with.
      expect(thrown.map((error) => (error as Error).message)).toEqual([
        expect.stringMatching(/once|was closed/),
      ]);
    }
  });

  describe('when the device closes, what has been thrown by then is thrown by close', () => {
    test.each([0, 1, 8])('by a function that took %i further steps to reject', limit, async (steps) => {
      const closing = await open();
      const own = closing.createStream();
      let fail: () => void = () => {};
      await new Promise<void>((called) => {
        own.launchHostFunction(async () => {
          await new Promise<void>((done) => {
            fail = done;
            called();
          });
          for (let step = 0; step < steps; ++step) await null;
          throw new RangeError('at the last moment');
        });
      });
      fail();
      await expect(closing.close()).rejects.toThrow(/^WS4008: .* RangeError: at the last moment/);
      await closing.close();
    });
  });

  test('a recorder gets a host function, and of what is behind it', limit, async () => {
    const spans: Span[] = [];
    const y = device.alloc('i32', 4);
    device.recorder = (span) => spans.push(span);
    stream!.memsetAsync(y, 1);
    stream!.launchHostFunction(function between() {
      return turns();
    });
    stream!.memsetAsync(y, 2);
    await device.synchronize();
    device.recorder = null;
    spans.sort((a, b) => a.id! - b.id!);
    expect(spans.map(({ name }) => name)).toEqual(['memset', 'between', 'memset']);
    const [first, between, last] = spans as [Span, Span, Span];
    expect(last.queued).toBeLessThanOrEqual(between.started + 1);
    // The clocks of a GPU and of its host agree to some microseconds.
    expect(between.started).toBeGreaterThanOrEqual(first.ended - 0.1);
    expect(between.ended).toBeGreaterThanOrEqual(between.started);
    expect(last.started).toBeGreaterThanOrEqual(between.ended - 0.1);
  });

  test('operations in any order do what they say, with host functions among them', limit, () =>
    checkAnyOrder(device, kernels ? step : null, 25),
  );
}
