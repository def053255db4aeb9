// Arrays of more than 4 GiB, on devices of the CPU that are opened with so much memory; where an engine has none, an
// error that says which has. Only what is used of an array is taken from the machine.
//
// All other tests run with such addresses by `npm run test:wide`.

import { freemem } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, kernel, open, type Stream } from 'warpstage';
import { hasMemory64, maximumBytes, widestBytes } from '#warpstage/runtime/cpu/linear-memory.js';
import { cpuDevices } from '../support/devices.ts';

const GiB = 2 ** 30;

test.skipIf(hasMemory64())('an engine without such memories says which has', async () => {
  const opened = open('cpu', { memory: 6 * GiB });
  await expect(opened).rejects.toMatchObject({
    code: 'WS4007',
    message: expect.stringContaining(`from 65536 to ${maximumBytes}, and is 6442450944`),
  });
  await expect(opened).rejects.toThrow(/hint: with Node 24 or later it may be up to 12884901888/);
  // What a virtual device has besides is not there.
  await using model = await open('model:h200', { memory: 6 * GiB });
  expect(model.memory.total).toBeLessThan(4 * GiB);
});

/** What element i has after `fill`. */
const valueAt = (i: number) => (i % 8191) + 1;

const fill = kernel({ y: 'f32[]', first: 'index' }, ({ y, first }, cuda) => {
  const i = cuda.index(first + cuda.thisGrid().threadRank());
  if (i < y.length) y[i] = (i % 8191) + 1;
});

const add = kernel({ y: 'f32[]', x: 'readonly f32[]', first: 'index' }, ({ y, x, first }, cuda) => {
  const i = cuda.index(first + cuda.thisGrid().threadRank());
  if (i < y.length) y[i] = y[i]! + 2 * x[i]!;
});

/** Reads through a pipeline of two stages, block by block. */
const staged = kernel({ y: 'f32[]', x: 'readonly f32[]', first: 'index' }, ({ y, x, first }, cuda) => {
  const block = cuda.thisThreadBlock();
  const tile = cuda.sharedArray('f32', 256);
  const state = cuda.pipelineSharedState('block', 2);
  const pipe = cuda.makePipeline(block, state);
  for (let part = 0; part < 4; part += 1) {
    const from = cuda.index(first + (cuda.blockIdx.x * 4 + part) * 128);
    const at = (part % 2) * 128;
    pipe.producerAcquire();
    cuda.memcpyAsync(block, tile.subarray(at), x.subarray(from), 128, pipe);
    pipe.producerCommit();
    pipe.consumerWait();
    const rank = block.threadRank();
    y[from + rank] = 3 * tile[at + rank]!;
    pipe.consumerRelease();
  }
});

/** The sum of four elements, from the last to the first. */
const back = kernel(
  { y: 'f32[]', x: 'readonly f32[]', first: 'index', pitch: 'index' },
  ({ y, x, first, pitch }, cuda) => {
    const i = cuda.index(cuda.thisGrid().threadRank());
    let sum = 0;
    for (let k = 0; k < 4; k += 1) sum += x[cuda.index(first + i - k * pitch)]!;
    y[i] = sum;
  },
);

/** Its index wraps, and comes back to where it began. */
const around = kernel({ y: 'u8[]', stride: 'index', turns: 'i32' }, ({ y, stride, turns }, cuda) => {
  for (let turn = 0; turn < turns; turn += 1) {
    const i = cuda.index(turn * stride + cuda.threadIdx.x);
    if (i >= 0 && i < y.length) y[i] = y[i]! + 1;
  }
});

/** Four numbers at a time. */
const fours = kernel({ y: 'f32[]', first: 'index' }, ({ y, first }, cuda) => {
  const all = y.as('f32x4');
  const i = cuda.index(first + cuda.thisGrid().threadRank());
  if (i < all.length) all[i] = cuda.f32x4(i % 8191, 1, 2, 3);
});

const count = kernel({ counts: 'u32[]', at: 'index' }, ({ counts, at }, cuda) => {
  cuda.atomicAdd(counts, cuda.index(at + (cuda.threadIdx.x % 4)), 1);
});

/** Each of its blocks has an arena of its own, as all of them are there at once. */
const everyone = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const own = cuda.sharedArray('f32', 57_000);
  own[cuda.threadIdx.x] = 1;
  cuda.thisGrid().sync();
  y[cuda.threadIdx.x] = own[cuda.threadIdx.x]!;
});

const outside = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  y[cuda.index(y.length + cuda.threadIdx.x)] = 1;
});

const bytes = kernel({ y: 'u8[]', first: 'index' }, ({ y, first }, cuda) => {
  const i = cuda.index(first + cuda.thisGrid().threadRank());
  if (i < y.length) y[i] = i % 251;
});

const length = 1.25 * GiB + 3;
const launch = { grid: 16, block: 128 };

describe.skipIf(!hasMemory64()).each(cpuDevices)('$name', ({ open }) => {
  /** Each test has a device of its own, as memory that was used before is cleared when it is allocated again. */
  let device: Device;
  let stream: Stream;

  beforeEach(async () => {
    device = await open({ memory: 11 * GiB });
    stream = device.createStream();
  });
  afterEach(() => device.close());

  const read = async (array: DeviceArray<'f32'>, first: number) => {
    const host = new Float32Array(2048);
    stream.memcpyAsync(host, array.subarray(first, first + 2048));
    await stream.synchronize();
    return host;
  };
  const expected = (first: number, of: (value: number) => number) =>
    Float32Array.from({ length: 2048 }, (_, i) => of(valueAt(first + i)));

  test('kernels, copies and fills before, across and behind 4 GiB of an array', async () => {
    const [x, y] = [device.alloc('f32', length), device.alloc('f32', length)];
    for (const first of [0, GiB - 1000, length - 2048]) {
      stream.launch(fill, launch, { y: x, first });
      stream.memcpyAsync(y.subarray(first, first + 2048), x.subarray(first, first + 2048));
      stream.launch(add, launch, { y, x, first });
      expect(await read(y, first)).toEqual(expected(first, (value) => 3 * value));
      stream.memsetAsync(y.subarray(first, first + 2048), 0);
      expect(await read(y, first)).toEqual(new Float32Array(2048));
      stream.launch(staged, { grid: 4, block: 128 }, { y, x, first });
      expect(await read(y, first)).toEqual(expected(first, (value) => 3 * value));
    }
  });

  test('copies inside of a kernel, which none can be spared of where it writes to what they read', async () => {
    const x = device.alloc('f32', length);
    for (const first of [0, length - 2048]) {
      stream.launch(fill, launch, { y: x, first });
      stream.launch(staged, { grid: 4, block: 128 }, { y: x, x, first });
      expect(await read(x, first)).toEqual(expected(first, (value) => 3 * value));
    }
  });

  test('loops that go back through an array', async () => {
    const [x, y] = [device.alloc('f32', length), device.alloc('f32', 2048)];
    const [first, pitch] = [length - 2048, 100_000_000];
    for (let k = 0; k < 4; ++k) stream.launch(fill, launch, { y: x, first: first - k * pitch });
    stream.launch(back, launch, { y, x, first, pitch });
    const sums = expected(first, () => 0).map((_, i) =>
      [0, 1, 2, 3].reduce((sum, k) => sum + valueAt(first + i - k * pitch), 0),
    );
    expect(await read(y, 0)).toEqual(sums);
  });

  test('an index that wraps is that of the element where it comes to', async () => {
    const y = device.alloc('u8', 128);
    stream.launch(around, { grid: 1, block: 128 }, { y, stride: 2 ** 20, turns: 2 * 4096 + 1 });
    const host = new Uint8Array(128);
    stream.memcpyAsync(host, y);
    await stream.synchronize();
    expect(new Set(host)).toEqual(new Set([3]));
  });

  test('an array that is seen as other elements', async () => {
    const y = device.alloc('f32', 1.25 * GiB);
    const first = 1.25 * (GiB / 4) - 512;
    stream.launch(fours, { grid: 4, block: 128 }, { y, first });
    const numbers = Float32Array.from({ length: 2048 }, (_, i) =>
      i % 4 === 0 ? (first + i / 4) % 8191 : i % 4,
    );
    expect(await read(y, 4 * first)).toEqual(numbers);
  });

  test('a part of an array that begins beyond 4 GiB', async () => {
    const y = device.alloc('f32', length);
    const part = y.subarray(length - 5000);
    stream.launch(fill, launch, { y: part, first: 0 });
    expect(await read(part, 0)).toEqual(expected(0, (value) => value));
    expect((await read(y, length - 5000)).slice(0, 3)).toEqual(Float32Array.of(1, 2, 3));
  });

  test('atomic operations', async () => {
    const counts = device.alloc('u32', 1.5 * GiB);
    const at = 1.5 * GiB - 4;
    stream.launch(count, launch, { counts, at });
    const host = new Uint32Array(4);
    stream.memcpyAsync(host, counts.subarray(at));
    await stream.synchronize();
    expect([...host]).toEqual([512, 512, 512, 512]);
  });

  test('more elements than 32 bits count', async () => {
    const all = device.alloc('u8', 5 * GiB + 7);
    for (const first of [0, 2 ** 31 - 1000, 2 ** 32 - 1000, 5 * GiB - 2000]) {
      stream.launch(bytes, launch, { y: all, first });
      const part = new Uint8Array(2007);
      stream.memcpyAsync(part, all.subarray(first, first + 2007));
      await stream.synchronize();
      expect(part).toEqual(Uint8Array.from(part, (_, i) => (first + i) % 251));
    }
  });

  test('an index outside is that of the array', async () => {
    const y = device.alloc('f32', length);
    stream.launch(outside, { grid: 1, block: 32 }, { y });
    await expect(stream.synchronize()).rejects.toMatchObject({
      code: 'WS3001',
      message: expect.stringContaining(`\`y[${length}]\`, but \`y\` has ${length} elements`),
    });
  });

  test('what a launch needs beside its arrays has no more than 4 GiB, and more is an error', () => {
    const y = device.alloc('f32', 32);
    expect(() => stream.launch(everyone, { grid: 20_000, block: 8, cooperative: true }, { y })).toThrow(
      /WS4001: a launch needs 4\.\d+ GiB beside its arrays, and .* is 4 GiB\n {2}hint: launch fewer/,
    );
  });

  test('memory is what the device was opened with; more of it, or of what engines have, is an error', async () => {
    expect(device.memory.total).toBe(11 * GiB);
    expect(() => device.alloc('f64', 2 * GiB)).toThrow(/WS4001: .* needs 16 GiB: of the device's 11 GiB/);
    await expect(open({ memory: widestBytes + 1 })).rejects.toThrow(/WS4007: .* to 12884901888, and is/);
  });
});

// As much is staged at once. Copies are the same code, whatever runs kernels.
test.skipIf(!hasMemory64() || freemem() < 16 * GiB)(
  'all of an array of more than 4 GiB is copied to the host and back',
  async () => {
    await using device = await open('cpu', { memory: 6 * GiB });
    const stream = device.defaultStream;
    const x = device.alloc('f32', GiB + 1000);
    for (const first of [0, GiB - 1048]) stream.launch(fill, launch, { y: x, first });
    const host = new Float32Array(GiB + 1000);
    stream.memcpyAsync(host, x);
    await stream.synchronize();
    expect([host[0], host[2047], host[GiB - 1], host[GiB + 999]]).toEqual(
      [0, 2047, GiB - 1, GiB + 999].map(valueAt),
    );
    host[GiB + 500] = -1;
    stream.memcpyAsync(x, host);
    const end = new Float32Array(1000);
    stream.memcpyAsync(end, x.subarray(GiB));
    await stream.synchronize();
    expect(end).toEqual(host.slice(GiB));
  },
);
