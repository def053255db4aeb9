// Launch bounds, and what a launch takes of a device.

import { expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import {
  type BlockNeeds,
  blocksThatFit,
  type Multiprocessor,
  scarcest,
} from '#warpstage/runtime/occupancy.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { devices } from '../support/devices.ts';

const schema = { y: 'f32[]' } as const;
const plain = kernel(schema, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = 2 * y[i]!;
});
const bounded = kernel(
  schema,
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = 2 * y[i]!;
  },
  { name: 'bounded', launchBounds: { maxThreads: 128, minBlocks: 12 } },
);
const staged = kernel({ y: 'f32[]', room: 'constant index = 1024' }, ({ y, room }, cuda) => {
  const shared = cuda.sharedArray('f32', room);
  const t = cuda.threadIdx.x;
  shared[t] = y[t]!;
  cuda.syncthreads();
  y[t] = shared[255 - t]!;
});

test.each(devices)('$name says how many blocks run together, and that many run', async ({ open, kind }) => {
  await using device = await open();
  const y = device.alloc('f32', 256);
  const shape = { grid: 1, block: 256 };
  const found = device.occupancy(staged, shape, { y });
  expect(found.sharedBytes).toBeGreaterThanOrEqual(4096);
  expect(found.blocksPerMultiprocessor).toBeGreaterThanOrEqual(1);
  expect(found.residentBlocks).toBeGreaterThanOrEqual(found.blocksPerMultiprocessor);
  expect(found.occupancy).toBeGreaterThan(0);
  expect(found.occupancy).toBeLessThanOrEqual(1);
  if (kind === 'cuda') expect(found.registers).toBeGreaterThan(0);
  else expect(found.registers).toBeNull();
  const wide = device.alloc('f32', 256 * found.residentBlocks);
  const together = { grid: found.residentBlocks, block: 256, cooperative: true };
  device.defaultStream.launch(plain, together, { y: wide });
  await device.synchronize();
  const tooMany = { ...together, grid: found.residentBlocks + 1 };
  const most = device.occupancy(plain, shape, { y: wide }).residentBlocks;
  if (most === found.residentBlocks)
    await expect(
      (async () => {
        device.defaultStream.launch(plain, tooMany, { y: wide });
        await device.synchronize();
      })(),
    ).rejects.toMatchObject({ code: 'WS2006' });
});

const ends = kernel({ out: 'i32[]', room: 'constant index = 16' }, ({ out, room }, cuda) => {
  const shared = cuda.sharedArray('u8', room);
  const t = cuda.threadIdx.x;
  if (t === 0) {
    shared[0] = 7;
    shared[room - 1] = 9;
  }
  cuda.syncthreads();
  if (t === 1) out[0] = 16 * shared[0]! + shared[room - 1]!;
});
const virtual = ['model:c2050', 'model:h200'] as const;

test.each([
  ...devices.map(({ name, open: openDevice }) => ({ name, openDevice })),
  ...virtual.map((name) => ({ name, openDevice: () => open(name, { threads: 1 }) })),
])('$name gives a block all the shared memory that it says it has, and no more', async ({ openDevice }) => {
  await using device = await openDevice();
  const out = device.alloc('i32', 1);
  const found = new Int32Array(1);
  const room = device.properties.sharedMemoryPerBlock;
  const shape = { grid: 1, block: 32 };
  const all = device.occupancy(ends, shape, { out, room });
  expect(all.sharedBytes).toBeGreaterThanOrEqual(room);
  expect(all.blocksPerMultiprocessor).toBe(1);
  device.defaultStream.launch(ends, shape, { out, room });
  device.defaultStream.memcpyAsync(found, out);
  await device.synchronize();
  expect([...found]).toEqual([16 * 7 + 9]);
  const refusal = expect.objectContaining({
    code: 'WS2004',
    message: expect.stringContaining(
      `a block needs ${room + 16} bytes of shared memory; the device has ${room}`,
    ),
    hint: expect.stringContaining('smaller'),
  });
  const more = { out, room: room + 1 };
  expect(() => device.defaultStream.launch(ends, shape, more)).toThrowError(refusal);
  expect(() => device.occupancy(ends, shape, more)).toThrowError(refusal);
});

test.each(devices)('$name refuses a block beyond the bounds of a kernel', async ({ open }) => {
  await using device = await open();
  const y = device.alloc('f32', 256);
  device.defaultStream.launch(bounded, { grid: 2, block: 128 }, { y });
  await device.synchronize();
  for (const block of [129, [64, 3]] as const) {
    const threads = block === 129 ? 129 : 192;
    expect(() => device.defaultStream.launch(bounded, { grid: 1, block }, { y })).toThrowError(
      expect.objectContaining({
        code: 'WS2003',
        message: expect.stringContaining(`has ${threads} threads; its launch bounds allow 128`),
        hint: expect.stringContaining(`launchBounds: { maxThreads: ${threads} }`),
      }),
    );
    expect(() => device.occupancy(bounded, { grid: 1, block }, { y })).toThrowError(/launch bounds/);
  }
});

test.each([{ maxThreads: 0 }, { minBlocks: 1.5 }, { minBlocks: '4' }, { threads: 256 }, null])(
  'bounds of %o are refused where the kernel is made',
  (launchBounds) => {
    const make = () => kernel(schema, plain.body as never, { launchBounds: launchBounds as never });
    expect(make).toThrowError(expect.objectContaining({ code: 'WS4007' }));
  },
);

test('the blocks that are to fit stand in CUDA C++', () => {
  const textOf = (of: unknown) => {
    const specialisation = { block: [128, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;
    return cudaText(specialise(of as never, specialisation).program, 90);
  };
  expect(textOf(bounded)).toContain('__launch_bounds__(128, 12)');
  expect(textOf(plain)).toContain('__launch_bounds__(128)');
});

// From NVIDIA's occupancy calculator: what the runtime's own function gives for such blocks.
const hopper: Multiprocessor = {
  threads: 2048,
  blocks: 32,
  registers: 65_536,
  sharedBytes: 228 * 1024,
  reservedBytes: 1024,
};

test.each<[BlockNeeds, number, string]>([
  [{ threads: 256, registers: 32, sharedBytes: 0 }, 8, 'threads'],
  [{ threads: 32, registers: 16, sharedBytes: 0 }, 32, 'blocks'],
  [{ threads: 256, registers: 64, sharedBytes: 0 }, 4, 'registers'],
  [{ threads: 250, registers: 33, sharedBytes: 0 }, 6, 'registers'],
  [{ threads: 128, registers: 32, sharedBytes: 48 * 1024 }, 4, 'shared memory'],
])('%o: %i blocks, by %s', (needs, blocks, limitedBy) => {
  const fits = blocksThatFit(hopper, needs);
  expect(Math.min(...fits.values())).toBe(blocks);
  expect(scarcest(fits)).toBe(limitedBy);
});

test('a virtual device knows its multiprocessors', async () => {
  await using device = await open('model:h200', { execute: false });
  const y = device.alloc('f32', 256);
  expect(device.occupancy(plain, { grid: 1, block: 256 }, { y })).toMatchObject({
    blocksPerMultiprocessor: 8,
    occupancy: 1,
    limitedBy: 'threads',
  });
  const full = { grid: 1, block: 64 };
  expect(device.occupancy(plain, full, { y })).toMatchObject({ blocksPerMultiprocessor: 32, occupancy: 1 });
  expect(device.occupancy(staged, { grid: 1, block: 256 }, { y, room: 12_288 })).toMatchObject({
    blocksPerMultiprocessor: 4,
    occupancy: 0.5,
    limitedBy: 'shared memory',
  });
});
