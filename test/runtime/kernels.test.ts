// Compiled kernels on streams, on every device.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, deviceFunction, kernel, type Stream, WarpstageError } from 'warpstage';
import { busy } from '../support/busy.ts';
import { checkedDevices, cpuDevices, devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * y[i]!;
});

const square = deviceFunction({ x: 'i32' }, ({ x }) => x * x);
const negate = deviceFunction({ x: 'i32' }, ({ x }) => -x);
const apply = kernel({ y: 'i32[]', offset: 'constant i32 = 5', f: square }, ({ y, offset, f }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = f({ x: y[i]! }) + offset;
});

const reverse = kernel({ y: 'i32[]', tile: 'index' }, ({ y, tile }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32', tile);
  const i = cuda.thisGrid().threadRank();
  shared[block.threadRank()] = y[i]!;
  block.sync();
  y[i] = shared[tile - 1 - block.threadRank()]!;
});

const transpose = kernel(
  { out: 'i32[]', input: 'readonly i32[]', width: 'index', height: 'index' },
  ({ out, input, width, height }, cuda) => {
    const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
    const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
    if (x < width && y < height) out[x * height + y] = input[y * width + x]!;
  },
);

const scalars = kernel(
  { out: 'f64[]', n: 'index', i: 'i32', u: 'u32', f: 'f32', d: 'f64', b: 'bool' },
  ({ out, n, i, u, f, d, b }, cuda) => {
    if (cuda.thisGrid().threadRank() === 0) {
      out[0] = cuda.f64(n);
      out[1] = cuda.f64(i);
      out[2] = cuda.f64(u);
      out[3] = cuda.f64(f);
      out[4] = d;
      out[5] = b ? 1.0 : 0.0;
    }
  },
);

const count = kernel({ counter: 'i32[]' }, ({ counter }, cuda) => {
  cuda.atomicAdd(counter, 0, 1);
});

const wait = kernel({ flag: 'i32[]', out: 'i32[]' }, ({ flag, out }, cuda) => {
  let seen = 0;
  while (seen === 0) seen = cuda.atomicAdd(flag, 0, 0);
  out[0] = seen;
});

const beyond = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i + 1] = 1;
});

const remainder = kernel({ y: 'i32[]', divisor: 'i32' }, ({ y, divisor }, cuda) => {
  y[cuda.threadIdx.x] = 7 % divisor;
});

/** Through shared memory, a block at a time. */
const copy = kernel({ to: 'i32[]', from: 'readonly i32[]' }, ({ to, from }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32', block.size());
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  const begin = block.groupIndex().x * block.size();
  if (begin + block.size() <= from.length) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, shared, from.subarray(begin), block.size(), pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    to[begin + block.threadRank()] = shared[block.threadRank()]!;
    pipeline.consumerRelease();
  }
});

const stuck = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32', block.size());
  const role = block.threadRank() < 2 ? 'producer' : 'consumer';
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), role);
  if (role === 'producer') {
    pipeline.producerAcquire();
    cuda.memcpyAsync(shared.subarray(block.threadRank()), y, 1, pipeline);
    if (block.threadRank() === 0) pipeline.producerCommit();
  } else {
    pipeline.consumerWait();
    y[block.threadRank()] = shared[0]!;
    pipeline.consumerRelease();
  }
});

const print = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) console.log('y', i, y[i]!);
});

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WarpstageError);
  return error as WarpstageError;
}

/** 1, 2, 3, … */
const numbers = (length: number) => Int32Array.from({ length }, (_, i) => i + 1);

let device: Device;
let stream: Stream;

/** A device for the tests of a suite. */
function useDevice(openDevice: () => Promise<Device>): void {
  beforeAll(async () => {
    device = await openDevice();
    stream = device.createStream();
  });
  afterAll(() => device.close());
}

function upload(values: Int32Array) {
  const array = device.alloc('i32', values.length);
  stream.memcpyAsync(array, values);
  return array;
}

sayWithoutGpu();

describe.each(devices)('$name', ({ open: openDevice, ranOn }) => {
  useDevice(openDevice);

  test('runs a kernel over an array, and says what ran it', async () => {
    const y = device.alloc('f32', 1000);
    const result = new Float32Array(1000);
    stream.memcpyAsync(
      y,
      Float32Array.from({ length: 1000 }, (_, i) => i),
    );
    expect(stream.launch(scale, { grid: 8, block: 128 }, { y, a: 0.1 }).ranOn).toMatch(ranOn);
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect([...result]).toEqual(Array.from({ length: 1000 }, (_, i) => Math.fround(Math.fround(0.1) * i)));
    y.free();
  });

  test('runs a kernel on a part of an array, and on no other', async () => {
    const y = upload(numbers(100));
    const result = new Int32Array(100);
    stream.launch(apply, { grid: 1, block: 128 }, { y: y.subarray(10, 20), offset: 0 });
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect(result).toEqual(numbers(100).map((value, i) => (i >= 10 && i < 20 ? value * value : value)));
    y.free();
  });

  test('specialises constants and device functions', async () => {
    const y = upload(numbers(4));
    const result = new Int32Array(12);
    for (const [i, changes] of [{}, { f: negate }, { offset: -1, f: square }].entries()) {
      stream.memcpyAsync(y, numbers(4));
      stream.launch(apply, { grid: 1, block: 4 }, { y, ...changes });
      stream.memcpyAsync(result.subarray(4 * i, 4 * i + 4), y);
    }
    await stream.synchronize();
    expect([...result]).toEqual([6, 9, 14, 21, 4, 3, 2, 1, 0, 3, 8, 15]);
    y.free();
  });

  test('sizes shared memory by an argument', async () => {
    for (const tile of [1, 32, 256]) {
      const y = upload(numbers(tile * 5));
      const result = new Int32Array(tile * 5);
      stream.launch(reverse, { grid: 5, block: tile }, { y, tile });
      stream.memcpyAsync(result, y);
      await stream.synchronize();
      expect([...result]).toEqual(
        Array.from({ length: 5 }, (_, b) =>
          [...numbers(tile * 5).slice(b * tile, (b + 1) * tile)].reverse(),
        ).flat(),
      );
      y.free();
    }
  });

  test('refuses more shared memory than a block has', () => {
    const y = device.alloc('i32', 1);
    const launch = (tile: number) => stream.launch(reverse, { grid: 1, block: 1 }, { y, tile });
    expect(() => launch(60_000)).toThrow(
      `WS2004: launch of the kernel: with shared array \`shared\` (60000 elements of i32) a block needs 240000 bytes of shared memory; the device has ${device.properties.sharedMemoryPerBlock}`,
    );
    expect(() => launch(-1)).toThrow(
      'WS2004: launch of the kernel: shared array `shared` would have -1 elements',
    );
    y.free();
  });

  test('runs blocks and grids of two dimensions', async () => {
    const [width, height] = [37, 21];
    const input = upload(numbers(width * height));
    const out = device.alloc('i32', width * height);
    const result = new Int32Array(width * height);
    stream.launch(transpose, { grid: [5, 3], block: [8, 8] }, { out, input, width, height });
    stream.memcpyAsync(result, out);
    await stream.synchronize();
    const expected = Array.from(
      { length: width * height },
      (_, i) => (i % height) * width + Math.floor(i / height) + 1,
    );
    expect([...result]).toEqual(expected);
    input.free();
    out.free();
  });

  test.each([4, 2 ** 40])('passes every kind of scalar, with n = %d', async (n) => {
    const out = device.alloc('f64', 6);
    const result = new Float64Array(6);
    stream.launch(
      scalars,
      { grid: 2, block: 3 },
      { out, n, i: -5, u: 2 ** 32 - 1, f: 0.1, d: Math.PI, b: true },
    );
    stream.memcpyAsync(result, out);
    await stream.synchronize();
    expect([...result]).toEqual([n, -5, 2 ** 32 - 1, Math.fround(0.1), Math.PI, 1]);
    out.free();
  });

  test('runs every thread of every block once', async () => {
    const counter = device.alloc('i32', 1);
    const result = new Int32Array(1);
    for (const [grid, block] of [
      [1, 1],
      [7, 96],
      [100, 33],
    ] as const) {
      stream.launch(count, { grid, block }, { counter });
    }
    stream.memcpyAsync(result, counter);
    await stream.synchronize();
    expect(result[0]).toBe(1 + 7 * 96 + 100 * 33);
    counter.free();
  });

  test('reaches memory that grew after its threads had started', async () => {
    await using fresh = await openDevice();
    const ordinary = fresh.createStream();
    const first = fresh.alloc('i32', 4);
    for (const grid of [1, 4]) ordinary.launch(copy, { grid, block: 4 }, { to: first, from: first });
    await ordinary.synchronize();
    // Nothing touches the large array, so it takes addresses and no memory.
    const gap = 3 * 2 ** 30;
    for (const length of [100_000, 5_000_000, gap, 1000]) {
      fresh.alloc('u8', length);
      const [a, b] = [fresh.alloc('i32', 1000), fresh.alloc('i32', 1000)];
      const result = new Int32Array(1000);
      ordinary.memcpyAsync(a, numbers(1000));
      ordinary.launch(copy, { grid: 10, block: 100 }, { to: b, from: a });
      ordinary.memcpyAsync(result, b);
      ordinary.memsetAsync(a, 255);
      await ordinary.synchronize();
      expect(result).toEqual(numbers(1000));
    }
  });

  test('goes on while the main thread is busy, copies beside a kernel', async () => {
    const other = device.createStream();
    const [flag, out] = [device.alloc('i32', 1), device.alloc('i32', 1)];
    const result = device.allocPinned('i32', 1);
    stream.launch(wait, { grid: 1, block: 1 }, { flag, out });
    stream.memcpyAsync(result, out);
    other.memcpyAsync(flag, Int32Array.of(3));
    busy(() => result.array[0] !== 0);
    expect(result.array[0]).toBe(3);
    busy(() => stream.query());
    await other.destroy();
  });
});

describe.each(cpuDevices)('$name', ({ open: openDevice }) => {
  useDevice(openDevice);

  test('tells a deadlock, with who waits where, and goes on', async () => {
    const y = device.alloc('i32', 8);
    stream.launch(stuck, { grid: 3, block: 8 }, { y });
    const error = await errorOf(stream.synchronize());
    expect(error.issues[0]).toMatchObject({ code: 'WS3002', block: [0, 0, 0] });
    expect(error.issues[0]!.message).toMatch(
      /^the kernel is deadlocked: threads 2 to 7 wait in consumerWait on stage 0 of .*1 of 2/,
    );
    const { text, line } = error.issues[0]!.location!;
    expect(text.split('\n')[line - 1]!.trim()).toBe('pipeline.consumerWait();');
    stream.launch(count, { grid: 1, block: 8 }, { counter: y });
    await stream.synchronize();
    y.free();
  });
});

describe.each(checkedDevices)('$name', ({ open: openDevice }) => {
  useDevice(openDevice);

  test('tells an access beyond an array, with line, thread, block and values', async () => {
    const y = device.alloc('f32', 100);
    stream.launch(beyond, { grid: 4, block: 32 }, { y });
    const error = await errorOf(stream.synchronize());
    const [issue] = error.issues;
    expect(issue).toMatchObject({
      code: 'WS3001',
      message: 'the kernel writes `y[100]`, but `y` has 100 elements',
      thread: [3, 0, 0],
      block: [3, 0, 0],
    });
    expect(issue!.location!.file).toMatch(/kernels\.test\.ts$/);
    const line = issue!.location!.text.split('\n')[issue!.location!.line - 1]!;
    expect(line.trim()).toBe('y[i + 1] = 1;');
    stream.memsetAsync(y, 0);
    await stream.synchronize();
    y.free();
  });

  test('tells a division by zero', async () => {
    const y = device.alloc('i32', 1);
    stream.launch(remainder, { grid: 1, block: 1 }, { y, divisor: 0 });
    const error = await errorOf(stream.synchronize());
    expect(error.issues[0]).toMatchObject({
      code: 'WS3003',
      message: 'the kernel divides an integer by zero',
    });
    y.free();
  });

  test('prints lines', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const y = upload(numbers(3));
    stream.launch(print, { grid: 2, block: 2 }, { y });
    await stream.synchronize();
    expect(lines.sort()).toEqual(['y 0 1', 'y 1 2', 'y 2 3']);
    y.free();
  });

  test('stops a kernel that never ends', async () => {
    const [flag, out] = [device.alloc('i32', 1), device.alloc('i32', 1)];
    const signal = AbortSignal.timeout(30);
    stream.launch(wait, { grid: 2, block: 1, signal }, { flag, out });
    expect((await errorOf(stream.synchronize())).code).toBe('WS3004');
    stream.launch(count, { grid: 2, block: 1 }, { counter: out });
    await stream.synchronize();
    flag.free();
    out.free();
  });
});
