// A grid of one dimension has code of its own, in which the other axes are constants. All that a kernel can ask of
// its place in the grid is the same in both, whichever was compiled first.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { devices } from '../support/devices.ts';

const block = 8;
const answers = 13;

const asks = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const grid = cuda.thisGrid();
  const group = cuda.thisThreadBlock();
  const { x, y, z } = cuda.blockIdx;
  const rank = (z * cuda.gridDim.y + y) * cuda.gridDim.x + x;
  if (group.threadRank() === 0) {
    const at = 13 * rank;
    out[at] = x;
    out[at + 1] = y;
    out[at + 2] = z;
    out[at + 3] = cuda.gridDim.x;
    out[at + 4] = cuda.gridDim.y;
    out[at + 5] = cuda.gridDim.z;
    out[at + 6] = grid.blockRank();
    out[at + 7] = grid.numBlocks();
    out[at + 8] = grid.size();
    out[at + 9] = grid.threadRank();
    out[at + 10] = group.groupIndex().y + 10 * group.groupIndex().z;
    out[at + 11] = grid.dimBlocks().y + 10 * grid.dimBlocks().z;
    out[at + 12] = grid.blockIndex().x;
  }
});

function expected([width, height, depth]: readonly [number, number, number]): number[] {
  const blocks = width * height * depth;
  return Array.from({ length: blocks }, (_, rank) => {
    const [x, y, z] = [rank % width, Math.floor(rank / width) % height, Math.floor(rank / (width * height))];
    const ranks = [rank, blocks, blocks * block, rank * block];
    return [x, y, z, width, height, depth, ...ranks, y + 10 * z, height + 10 * depth, x];
  }).flat();
}

describe.each(devices)('$name', ({ open }) => {
  test('every launch sees its own grid', async () => {
    await using device = await open();
    const grids = [
      5,
      [5],
      [5, 2],
      [5, 1, 3],
      [1, 4],
      [5],
      [5, 1, 1],
      [5, 2, 1],
      [1, 1, 2],
      1,
      [5, 1, 3],
    ] as const;
    for (const grid of grids) {
      const [x, y = 1, z = 1] = typeof grid === 'number' ? [grid] : grid;
      const out = device.alloc('i32', x * y * z * answers);
      device.defaultStream.launch(asks, { grid, block }, { out });
      const found = new Int32Array(out.length);
      await device.defaultStream.memcpyAsync(found, out);
      await device.synchronize();
      expect({ grid, found: [...found] }).toEqual({ grid, found: expected([x, y, z]) });
      out.free();
    }
  });
});

test('the registers of the other axes are not read where the grid has one', () => {
  const [one, any] = [true, false].map((flatGrid) => {
    const specialisation = {
      block: [block, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
      flatGrid,
    } as const;
    return cudaText(specialise(asks, specialisation).program, 90);
  });
  expect(one).not.toMatch(/(blockIdx|gridDim)\.[yz]/);
  expect(any).toMatch(/blockIdx\.y/);
});
