// Arrays of two and three dimensions: shared, local, and those of a launch seen as such.

import { deviceFunction, kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** The transposition of the programming guide: tiles of 8x8 in rows of nine, so that columns lie in different banks. */
const transposed = kernel(
  { out: 'i32[]', input: 'readonly i32[]', width: 'index', height: 'index' },
  ({ out, input, width, height }, cuda) => {
    const block = cuda.thisThreadBlock();
    const tile = cuda.sharedArray('i32', [8, 9]);
    const from = input.shaped([height, width]);
    const to = out.shaped([width, height]);
    const tilesX = Math.ceil(width / 8);
    const left = (cuda.blockIdx.x % tilesX) * 8;
    const top = Math.trunc(cuda.blockIdx.x / tilesX) * 8;
    const x = block.threadRank() % 8;
    const y = Math.trunc(block.threadRank() / 8);
    for (let row = y; row < 8; row += 4) {
      if (top + row < height && left + x < width) tile[row]![x] = from[top + row]![left + x]!;
    }
    block.sync();
    for (let row = y; row < 8; row += 4) {
      if (left + row < width && top + x < height) to[left + row]![top + x] = tile[x]![row]!;
    }
  },
);

const total = deviceFunction({ row: 'readonly i32[]' }, ({ row }) => {
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += row[i]!;
  return sum;
});

/** Rows that lie `pitch` elements from each other are copied to a stage each, and added by a device function. */
const rowSums = kernel(
  { out: 'i32[]', input: 'readonly i32[]', pitch: 'index', rows: 'index', total },
  ({ out, input, pitch, rows, total }, cuda) => {
    const block = cuda.thisThreadBlock();
    const matrix = input.shaped([rows, 16], pitch);
    const stages = cuda.sharedArray('i32', [2, 16]);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    for (let row = 0, next = 0; row < rows; row++) {
      for (; next < rows && next < row + 2; next++) {
        pipeline.producerAcquire();
        cuda.memcpyAsync(block, stages[next % 2]!, matrix[next]!, 16, pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      if (block.threadRank() === row % block.size()) out[row] = total({ row: stages[row % 2]! });
      pipeline.consumerRelease();
    }
  },
);

/** Three dimensions of shared memory, two of the thread's own, and vectors as elements. */
const stencil = kernel(
  { out: 'f32[]', input: 'readonly i32[]', counts: 'i32[]' },
  ({ out, input, counts }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const cube = cuda.sharedArray('i32', [4, 3, 5]);
    const pairs = cuda.sharedArray('f32x2', [6, 10]);
    const own = cuda.localArray('i32', [3, 4]);
    const [z, y, x] = [Math.trunc(t / 15), Math.trunc(t / 5) % 3, t % 5];
    cube[z]![y]![x] = input[t]!;
    block.sync();
    for (let dy = -1; dy <= 1; dy++) {
      for (let dz = -1; dz <= 2; dz++) {
        const isInside = z + dz >= 0 && z + dz < cube.length && y + dy >= 0 && y + dy < cube[0]!.length;
        if (isInside) own[dy + 1]![dz + 1]! += cube[z + dz]![y + dy]![x]!;
      }
    }
    let sum = 0;
    for (let i = 0; i < own.length; i++) {
      const row = own[i]!;
      for (let j = 0; j < row.length; j++) sum += row[j]!;
    }
    const pair = pairs[t % 6]!;
    pair[Math.trunc(t / 6)] = cuda.f32x2(sum, 1);
    pair[Math.trunc(t / 6)]!.y += 2;
    block.sync();
    const { x: first, y: second } = pairs[t % 6]![Math.trunc(t / 6)]!;
    const results = out.shaped([60, 2]);
    results[t]![0] = first;
    results[t]![1] = second;
    cuda.atomicAdd(counts.shaped([2, 3])[z % 2]!, y, 1);
  },
);

const [width, height] = [19, 13];
const pitch = 20;

export const shapeCases: Cases = [
  {
    name: 'a transposition through padded tiles',
    kernel: transposed,
    grid: Math.ceil(width / 8) * Math.ceil(height / 8),
    block: 32,
    data: { out: new Int32Array(width * height), input: counting(width * height), width, height },
    expected: {
      out: integers(width * height, (i) => 100 + (i % height) * width + Math.trunc(i / height)),
    },
  },
  {
    name: 'rows with a pitch, copied and passed on',
    kernel: rowSums,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(5), input: counting(5 * pitch), pitch, rows: 5 },
    expected: { out: integers(5, (row) => 16 * (100 + row * pitch) + (16 * 15) / 2) },
  },
  {
    name: 'three dimensions, local ones, and vectors',
    kernel: stencil,
    grid: 1,
    block: 60,
    data: { out: new Float32Array(120), input: counting(60), counts: new Int32Array(6) },
    expected: {
      out: Float32Array.from({ length: 120 }, (_, i) => (i % 2 === 1 ? 3 : around(Math.trunc(i / 2)))),
      counts: new Int32Array(6).fill(10),
    },
  },
];

/** The sum that a thread of `stencil` finds. */
function around(t: number): number {
  const [z, y, x] = [Math.trunc(t / 15), Math.trunc(t / 5) % 3, t % 5];
  let sum = 0;
  for (let dy = -1; dy <= 1; dy++) {
    for (let dz = -1; dz <= 2; dz++) {
      if (z + dz < 0 || z + dz > 3 || y + dy < 0 || y + dy > 2) continue;
      sum += 100 + (z + dz) * 15 + (y + dy) * 5 + x;
    }
  }
  return sum;
}
