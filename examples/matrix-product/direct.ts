// Tiles copied by plain loads and stores: what the asynchronous copies are compared with.

import { kernel } from 'warpstage';
import { product } from './multiply.ts';

/**
 * Each thread copies one element of each tile.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulNaive`.
 */
export const direct = kernel(product, ({ c, a, b, depth, columns, multiply }, cuda) => {
  const { x, y } = cuda.threadIdx;
  const row = cuda.blockIdx.y * 16 + y;
  const column = cuda.blockIdx.x * 16 + x;
  const tileA = cuda.sharedArray('f32', 256);
  const tileB = cuda.sharedArray('f32', 256);
  let sum = 0.0;
  for (let step = 0; step < depth; step += 16) {
    tileA[y * 16 + x] = a[row * depth + step + x]!;
    tileB[y * 16 + x] = b[(step + y) * columns + column]!;
    cuda.syncthreads();
    sum += multiply({ a: tileA, b: tileB, x, y });
    cuda.syncthreads();
  }
  c[row * columns + column] = sum;
});

/**
 * A quarter of the threads copies four elements each, as one vector.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulNaiveLargeChunk`.
 */
export const directWide = kernel(
  { ...product, a: 'readonly f32x4[]', b: 'readonly f32x4[]' },
  ({ c, a, b, depth, columns, multiply }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const row = cuda.blockIdx.y * 16 + y;
    const tileA = cuda.sharedArray('f32', 256);
    const tileB = cuda.sharedArray('f32', 256);
    let sum = 0.0;
    for (let step = 0; step < depth; step += 16) {
      if (x < 4) {
        const fourOfA = a[Math.trunc((row * depth + step) / 4) + x]!;
        const fourOfB = b[Math.trunc(((step + y) * columns + cuda.blockIdx.x * 16) / 4) + x]!;
        const at = y * 16 + 4 * x;
        tileA[at] = fourOfA.x;
        tileA[at + 1] = fourOfA.y;
        tileA[at + 2] = fourOfA.z;
        tileA[at + 3] = fourOfA.w;
        tileB[at] = fourOfB.x;
        tileB[at + 1] = fourOfB.y;
        tileB[at + 2] = fourOfB.z;
        tileB[at + 3] = fourOfB.w;
      }
      cuda.syncthreads();
      sum += multiply({ a: tileA, b: tileB, x, y });
      cuda.syncthreads();
    }
    c[row * columns + cuda.blockIdx.x * 16 + x] = sum;
  },
);
