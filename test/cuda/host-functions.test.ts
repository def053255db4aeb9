// Host functions on a driver of the tests' own whose streams take time, and whose calls wait for them wherever CUDA
// says that they may. Needs a C compiler.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { kernel, open, type Span } from 'warpstage';
import { checkAnyOrder } from '../runtime/any-order.ts';
import { promiseHostFunctions } from '../runtime/host-functions.ts';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const one = { grid: 1, block: 32 };
const step = kernel(
  { y: 'i32[]' },
  ({ y }) => {
    y[0] = 1;
  },
  { name: 'step' },
);

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    fake.lag(20, 1);
  });
  afterAll(() => {
    fake.reset();
    fake.remove();
  });

  describe.each([{ checked: false }, { checked: true }])('%o', (options) => {
    promiseHostFunctions({
      open: (more) => open('cuda', { ...options, ...more }),
      kernels: false,
    });
  });

  test('any order of operations does what it says, whatever stream goes first', async () => {
    for (let seed = 1; seed <= 5; ++seed) {
      fake.lag(1, seed);
      await using device = await open('cuda');
      await checkAnyOrder(device, null, 10);
    }
  });

  describe('behind a host function', () => {
    /** Issues behind a function that has not returned. */
    async function behind() {
      const device = await open('cuda');
      const stream = device.createStream();
      const y = device.alloc('i32', 4);
      const open_ = await new Promise<() => void>((called) => {
        stream.launchHostFunction(() => new Promise<void>((done) => called(done)));
      });
      return { device, stream, y, open: open_ };
    }

    test('an error that only the driver finds fails the command and what depends on it', async () => {
      const { device, stream, y, open } = await behind();
      const other = device.createStream({ nonBlocking: true });
      const event = device.createEvent();
      const result = new Int32Array(4);
      stream.memsetAsync(y, 1);
      stream.launch(step, one, { y });
      stream.memcpyAsync(result, y);
      stream.record(event);
      other.waitEvent(event);
      other.memsetAsync(y, 2);
      fake.fail('cuLaunchKernelEx', 701, 0);
      open();
      await expect(stream.synchronize()).rejects.toThrow('WS2003: launch of kernel `step`: a block of');
      await expect(other.synchronize()).rejects.toThrow('WS2003');
      expect([...result]).toEqual([0, 0, 0, 0]);
      fake.reset();
      stream.memcpyAsync(result, y);
      await stream.synchronize();
      expect(result[0]).toBe(0x01010101);
      await device.close();
    });

    test('a kernel that cannot be loaded is an error of the call', async () => {
      const { device, stream, y, open } = await behind();
      const unloaded = kernel({ y: 'i32[]' }, ({ y }) => {
        y[1] = 2;
      });
      fake.fail('cuModuleLoadData', 218, 0);
      expect(() => stream.launch(unloaded, one, { y })).toThrow(/^WS4006: loading kernel/);
      open();
      await stream.synchronize();
      await device.close();
    });

    test('a GPU that stops fails it, and the function still returns', async () => {
      const { device, stream, y, open } = await behind();
      const other = device.createStream({ nonBlocking: true });
      stream.launch(step, one, { y });
      const waiting = expect(stream.synchronize()).rejects.toThrow(
        /^WS4006: the GPU stopped: CUDA_ERROR_ILLEGAL_ADDRESS/,
      );
      fake.lose(700);
      expect(() => other.memsetAsync(y, 1)).toThrow('WS4006: the GPU stopped');
      await waiting;
      open();
      await new Promise((done) => setTimeout(done, 2));
      expect(() => stream.memsetAsync(y, 1)).toThrow('WS4006: the GPU stopped');
      await device.close();
    });

    test('a GPU that is found to have stopped when it is issued fails it', async () => {
      const { device, stream, y, open } = await behind();
      stream.memsetAsync(y, 1);
      stream.launch(step, one, { y });
      fake.lose(700);
      open();
      await expect(stream.synchronize()).rejects.toThrow('WS4006: the GPU stopped');
      await device.close();
    });

    test('a copy from a device that was closed meanwhile fails', async () => {
      fake.devices(2);
      const { device, stream, y, open: release } = await behind();
      const second = await open('cuda:1');
      stream.memsetAsync(y, 1);
      stream.memcpyAsync(y, second.alloc('i32', 4));
      await second.close();
      release();
      await expect(stream.synchronize()).rejects.toThrow(
        'WS4006: a copy from or to another device was not done: the device was closed',
      );
      const result = new Int32Array(4);
      stream.memcpyAsync(result, y);
      await stream.synchronize();
      expect(result[0]).toBe(0x01010101);
      await device.close();
    });

    test('a stream can be destroyed, and is given back when all of it is done', async () => {
      const { device, stream, y, open } = await behind();
      const controller = new AbortController();
      stream.memsetAsync(y, 1);
      stream.launch(step, { ...one, signal: controller.signal }, { y });
      controller.abort();
      let isOver = false;
      const destroyed = expect(stream.destroy()).rejects.toThrow('WS3004');
      void destroyed.then(() => {
        isOver = true;
      });
      const result = new Int32Array(4);
      const other = device.createStream({ nonBlocking: true });
      await new Promise((done) => setTimeout(done, 2));
      expect(isOver).toBe(false);
      open();
      await destroyed;
      other.memcpyAsync(result, y);
      await other.synchronize();
      expect(result[0]).toBe(0x01010101);
      await device.close();
    });
  });

  test('CUPTI tells of what comes before and behind', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const y = device.alloc('i32', 16);
    const [stream, other] = [device.createStream(), device.createStream()];
    stream.memsetAsync(y, 1);
    stream.launchHostFunction(function between() {
      return new Promise((done) => setTimeout(done, 2));
    });
    stream.memsetAsync(y, 2);
    stream.launch(step, one, { y });
    other.memsetAsync(y, 3);
    await device.synchronize();
    expect(device.times).toEqual({ source: 'cupti', note: null });
    spans.sort((a, b) => a.id! - b.id!);
    expect(spans.map(({ name, channel }) => [name, channel])).toEqual([
      ['memset', 'compute 1'],
      ['between', undefined],
      ['memset', 'compute 1'],
      ['step', 'compute 1'],
      ['memset', 'compute 1'],
    ]);
  });
});
