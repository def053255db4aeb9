// `device.proposeBlock`: the block size with which most threads of a kernel run at once.

import { expect, test } from 'vitest';
import { type Device, kernel, open } from 'warpstage';
import { devices } from '../support/devices.ts';

const schema = { y: 'f32[]' } as const;
const doubled = kernel(schema, ({ y }, cuda) => {
  const grid = cuda.thisGrid();
  for (let i = grid.threadRank(); i < y.length; i += grid.size()) y[i] = 2 * y[i]!;
});
const narrow = kernel(schema, doubled.body as never, { name: 'narrow', launchBounds: { maxThreads: 128 } });
/** Its shared memory is the same for every size of a block. */
const staged = kernel({ y: 'f32[]', room: 'constant index' }, ({ y, room }, cuda) => {
  const shared = cuda.sharedArray('f32', room);
  shared[cuda.threadIdx.x] = y[cuda.threadIdx.x]!;
  cuda.syncthreads();
  y[cuda.threadIdx.x] = shared[cuda.blockDim.x - 1 - cuda.threadIdx.x]!;
});

test.each(devices)('$name proposes a shape that it runs', async ({ open: openDevice }) => {
  await using device = await openDevice();
  const y = device.alloc('f32', 10_000);
  const ones = new Float32Array(10_000).fill(1);
  const found = new Float32Array(10_000);
  device.defaultStream.memcpyAsync(y, ones);
  const { block, grid, occupancy } = device.proposeBlock(doubled, { y });
  expect(occupancy).toEqual(device.occupancy(doubled, { grid: 1, block }, { y }));
  expect(grid).toBe(occupancy.residentBlocks);
  device.defaultStream.launch(doubled, { grid, block }, { y });
  device.defaultStream.memcpyAsync(found, y);
  await device.synchronize();
  expect(found.every((value) => value === 2)).toBe(true);
  expect(device.proposeBlock(narrow, { y }).block).toBeLessThanOrEqual(128);
  expect(device.proposeBlock(doubled, { y }, { maxThreads: 100 }).block).toBeLessThanOrEqual(100);
  expect(device.proposeBlock(doubled, { y }, { maxThreads: 20 }).block).toBe(20);
  y.free();
});

async function onH200(use: (device: Device) => void): Promise<void> {
  await using device = await open('model:h200', { execute: false });
  use(device);
}

test('takes 256 threads where they fill a multiprocessor, and others where those fit more', () =>
  onH200((device) => {
    const y = device.alloc('f32', 4096);
    // A virtual device runs 262144 threads together, fewer than the eight blocks of each multiprocessor have.
    expect(device.proposeBlock(doubled, { y })).toMatchObject({ block: 256, grid: 1024 });
    // Four blocks of 48 KiB fit: 4 x 512 threads are all that a multiprocessor has.
    expect(device.proposeBlock(staged, { y, room: 12_288 })).toMatchObject({ block: 512, grid: 512 });
    // One of 200 KiB: the largest block.
    expect(device.proposeBlock(staged, { y, room: 51_200 })).toMatchObject({ block: 1024, grid: 132 });
    // Of those with 256 threads at most, 256 is the best.
    expect(device.proposeBlock(staged, { y, room: 12_288 }, { maxThreads: 300 }).block).toBe(256);
    expect(device.proposeBlock(narrow, { y }).block).toBe(128);
  }));

test('takes what is best among all sizes that could be asked for', () =>
  onH200((device) => {
    const y = device.alloc('f32', 4096);
    for (const kilobytes of [1, 3, 7, 12, 20, 33, 57, 75, 110, 180]) {
      const args = { y, room: kilobytes * 256 };
      const best = Math.max(
        ...[32, 64, 128, 192, 256, 384, 512, 768, 1024].map(
          (block) => device.occupancy(staged, { grid: 1, block }, args).occupancy,
        ),
      );
      expect(device.proposeBlock(staged, args).occupancy.occupancy).toBe(best);
    }
  }));

test('throws what every size throws, and what is wrong with its options', () =>
  onH200((device) => {
    const y = device.alloc('f32', 4096);
    expect(() => device.proposeBlock(staged, { y, room: 1_000_000 })).toThrowError(
      expect.objectContaining({ code: 'WS2004' }),
    );
    for (const maxThreads of [0, -1, 2.5, Number.NaN, '64'])
      expect(() => device.proposeBlock(doubled, { y }, { maxThreads: maxThreads as never })).toThrowError(
        expect.objectContaining({
          code: 'WS4007',
          message: expect.stringContaining(`must be a positive integer, and is ${maxThreads}`),
          issues: [expect.objectContaining({ hint: '{ maxThreads: 256 }' })],
        }),
      );
  }));
