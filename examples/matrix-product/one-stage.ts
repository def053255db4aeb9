// Tiles copied asynchronously, one step at a time: the threads wait for a copy as soon as they have begun it.

import { kernel } from 'warpstage';
import { product } from './multiply.ts';

/**
 * Each thread copies one element of each tile, by a pipeline of its own.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopySingleStage`.
 */
export const oneStage = kernel(product, ({ c, a, b, depth, columns, multiply }, cuda) => {
  const { x, y } = cuda.threadIdx;
  const row = cuda.blockIdx.y * 16 + y;
  const column = cuda.blockIdx.x * 16 + x;
  const tileA = cuda.sharedArray('f32', 256);
  const tileB = cuda.sharedArray('f32', 256);
  const pipeline = cuda.makePipeline();
  let sum = 0.0;
  for (let step = 0; step < depth; step += 16) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(tileA.subarray(y * 16 + x), a.subarray(row * depth + step + x), 1, pipeline);
    cuda.memcpyAsync(tileB.subarray(y * 16 + x), b.subarray((step + y) * columns + column), 1, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    cuda.syncthreads(); // The copies of all threads have arrived.
    sum += multiply({ a: tileA, b: tileB, x, y });
    pipeline.consumerRelease();
    cuda.syncthreads(); // All threads have read the tiles.
  }
  c[row * columns + column] = sum;
});

/**
 * A quarter of the threads copies 16 bytes each, by pipelines of their own.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopyLargeChunk`.
 */
export const oneStageWide = kernel(product, ({ c, a, b, depth, columns, multiply }, cuda) => {
  const { x, y } = cuda.threadIdx;
  const row = cuda.blockIdx.y * 16 + y;
  const firstColumn = cuda.blockIdx.x * 16;
  const tileA = cuda.sharedArray('f32', 256);
  const tileB = cuda.sharedArray('f32', 256);
  const pipeline = cuda.makePipeline();
  let sum = 0.0;
  for (let step = 0; step < depth; step += 16) {
    pipeline.producerAcquire();
    if (x < 4) {
      const at = y * 16 + 4 * x;
      const four = cuda.alignedSize(16, 4);
      cuda.memcpyAsync(tileA.subarray(at), a.subarray(row * depth + step + 4 * x), four, pipeline);
      cuda.memcpyAsync(
        tileB.subarray(at),
        b.subarray((step + y) * columns + firstColumn + 4 * x),
        four,
        pipeline,
      );
    }
    pipeline.producerCommit();
    pipeline.consumerWait();
    cuda.syncthreads();
    sum += multiply({ a: tileA, b: tileB, x, y });
    pipeline.consumerRelease();
    cuda.syncthreads();
  }
  c[row * columns + firstColumn + x] = sum;
});

/**
 * The same with a barrier of the block, at which the copies arrive too, in place of pipelines.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopyLargeChunkAWBarrier`.
 */
export const oneStageBarrier = kernel(product, ({ c, a, b, depth, columns, multiply }, cuda) => {
  const { x, y } = cuda.threadIdx;
  const row = cuda.blockIdx.y * 16 + y;
  const firstColumn = cuda.blockIdx.x * 16;
  const tileA = cuda.sharedArray('f32', 256);
  const tileB = cuda.sharedArray('f32', 256);
  const barrier = cuda.barrier(cuda.thisThreadBlock());
  let sum = 0.0;
  for (let step = 0; step < depth; step += 16) {
    if (x < 4) {
      const at = y * 16 + 4 * x;
      const four = cuda.alignedSize(16, 4);
      cuda.memcpyAsync(tileA.subarray(at), a.subarray(row * depth + step + 4 * x), four, barrier);
      cuda.memcpyAsync(
        tileB.subarray(at),
        b.subarray((step + y) * columns + firstColumn + 4 * x),
        four,
        barrier,
      );
    }
    barrier.arriveAndWait(); // The copies of all threads have arrived.
    sum += multiply({ a: tileA, b: tileB, x, y });
    barrier.arriveAndWait(); // All threads have read the tiles.
  }
  c[row * columns + firstColumn + x] = sum;
});
