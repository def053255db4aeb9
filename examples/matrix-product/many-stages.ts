// Tiles copied asynchronously some steps ahead, so that copies hide behind the multiplication.
//
// NVIDIA's sample lets a thread begin the copy of a later step while others may still read the tiles that it
// overwrites. Here the threads of a block synchronise before a stage is filled again.

import { kernel } from 'warpstage';
import { product } from './multiply.ts';

/**
 * Each thread copies one element of each tile, by a pipeline of its own, up to `stages` steps ahead.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopyMultiStage`.
 */
export const manyStages = kernel(
  { ...product, stages: 'constant index = 4' },
  ({ c, a, b, depth, columns, stages, multiply }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const row = cuda.blockIdx.y * 16 + y;
    const column = cuda.blockIdx.x * 16 + x;
    const tilesA = cuda.sharedArray('f32', 256 * stages);
    const tilesB = cuda.sharedArray('f32', 256 * stages);
    const pipeline = cuda.makePipeline();
    const steps = Math.trunc(depth / 16);
    let sum = 0.0;
    for (let step = 0, next = 0; step < steps; ++step) {
      for (; next < steps && next < step + stages; ++next) {
        const at = (next % stages) * 256 + y * 16 + x;
        pipeline.producerAcquire();
        cuda.memcpyAsync(tilesA.subarray(at), a.subarray(row * depth + next * 16 + x), 1, pipeline);
        cuda.memcpyAsync(tilesB.subarray(at), b.subarray((next * 16 + y) * columns + column), 1, pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      cuda.syncthreads(); // The copies of all threads for this step have arrived.
      const stage = (step % stages) * 256;
      sum += multiply({ a: tilesA.subarray(stage), b: tilesB.subarray(stage), x, y });
      pipeline.consumerRelease();
      cuda.syncthreads(); // All threads have read the stage; it may be filled again.
    }
    c[row * columns + column] = sum;
  },
);

/**
 * A quarter of the threads copies 16 bytes each, by pipelines of their own, up to `stages` steps ahead.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopyMultiStageLargeChunk`.
 */
export const manyStagesWide = kernel(
  { ...product, stages: 'constant index = 4' },
  ({ c, a, b, depth, columns, stages, multiply }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const row = cuda.blockIdx.y * 16 + y;
    const firstColumn = cuda.blockIdx.x * 16;
    const tilesA = cuda.sharedArray('f32', 256 * stages);
    const tilesB = cuda.sharedArray('f32', 256 * stages);
    const pipeline = cuda.makePipeline();
    const steps = Math.trunc(depth / 16);
    let sum = 0.0;
    for (let step = 0, next = 0; step < steps; ++step) {
      for (; next < steps && next < step + stages; ++next) {
        pipeline.producerAcquire();
        if (x < 4) {
          const at = (next % stages) * 256 + y * 16 + 4 * x;
          const four = cuda.alignedSize(16, 4);
          cuda.memcpyAsync(tilesA.subarray(at), a.subarray(row * depth + next * 16 + 4 * x), four, pipeline);
          cuda.memcpyAsync(
            tilesB.subarray(at),
            b.subarray((next * 16 + y) * columns + firstColumn + 4 * x),
            four,
            pipeline,
          );
        }
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      cuda.syncthreads();
      const stage = (step % stages) * 256;
      sum += multiply({ a: tilesA.subarray(stage), b: tilesB.subarray(stage), x, y });
      pipeline.consumerRelease();
      cuda.syncthreads();
    }
    c[row * columns + firstColumn + x] = sum;
  },
);

/**
 * Roles: a block of 16 x 20 threads, whose last 64 copy 16 bytes of each tile each, up to `stages` steps
 * ahead, while the first 256 multiply.
 *
 * Source of the idea: NVIDIA's sample `globalToShmemAsyncCopy`, `MatrixMulAsyncCopyMultiStageSharedState`.
 */
export const sharedState = kernel(
  { ...product, stages: 'constant index = 4' },
  ({ c, a, b, depth, columns, stages, multiply }, cuda) => {
    const block = cuda.thisThreadBlock();
    const rank = block.threadRank();
    const firstRow = cuda.blockIdx.y * 16;
    const firstColumn = cuda.blockIdx.x * 16;
    const tilesA = cuda.sharedArray('f32', 256 * stages);
    const tilesB = cuda.sharedArray('f32', 256 * stages);
    const role = rank < 256 ? 'consumer' : 'producer';
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stages), role);
    const steps = Math.trunc(depth / 16);
    if (role === 'producer') {
      const four = cuda.alignedSize(16, 4);
      const y = Math.trunc((rank - 256) / 4);
      const x = ((rank - 256) % 4) * 4;
      for (let step = 0; step < steps; ++step) {
        const at = (step % stages) * 256 + y * 16 + x;
        pipeline.producerAcquire();
        cuda.memcpyAsync(
          tilesA.subarray(at),
          a.subarray((firstRow + y) * depth + step * 16 + x),
          four,
          pipeline,
        );
        cuda.memcpyAsync(
          tilesB.subarray(at),
          b.subarray((step * 16 + y) * columns + firstColumn + x),
          four,
          pipeline,
        );
        pipeline.producerCommit();
      }
    } else {
      const { x, y } = cuda.threadIdx;
      let sum = 0.0;
      for (let step = 0; step < steps; ++step) {
        pipeline.consumerWait();
        const stage = (step % stages) * 256;
        sum += multiply({ a: tilesA.subarray(stage), b: tilesB.subarray(stage), x, y });
        pipeline.consumerRelease();
      }
      c[(firstRow + y) * columns + firstColumn + x] = sum;
    }
  },
);
