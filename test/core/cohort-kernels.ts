// Kernels whose threads wait for one another in ways that the ordering kernels do not have.

/** Kernels of what the ordering kernels do not have: barriers of an array, lanes that masks name, early returns, and blocks that meet. */
export const others: Readonly<Record<string, string>> = {
  'barriers of two roles': `const full = cuda.barrierArray(block, 2);
      const empty = cuda.barrierArray(block, 2);
      const staged = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        const at = b % 2;
        if (t < 32) {
          if (b > 1) empty[at].waitParity(((b >> 1) + 1) % 2 === 1);
          staged[32 * at + t] = input[32 * b + t];
          full[at].arrive();
          empty[at].arrive();
        } else {
          full[at].arrive();
          full[at].waitParity((b >> 1) % 2 === 1);
          out[32 * b + t - 32] = staged[32 * at + 63 - t];
          empty[at].arrive();
        }
      }`,
  'a pipeline of each turn': `
      const staged = cuda.sharedArray('i32', 32);
      for (let b = 0; b < batches; b++) {
        const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        for (let i = 0; i < 2; i++) {
          pipe.producerAcquire();
          if (t >= 32) staged[t - 32] = input[32 * b + t - 32] + i;
          pipe.producerCommit();
          pipe.consumerWait();
          if (t < 32) out[32 * b + t] += staged[31 - t];
          pipe.consumerRelease();
        }
        pipe.quit();
      }`,
  'roles of each turn': `
      const staged = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        const produces = (t >> 5) % 2 === b % 2;
        const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), produces ? 'producer' : 'consumer');
        for (let i = 0; i < 3; i++) {
          const at = 32 * (i % 2) + t % 32;
          if (produces) {
            pipe.producerAcquire();
            staged[at] = input[32 * b + t % 32] + i;
            pipe.producerCommit();
          } else {
            pipe.consumerWait();
            out[32 * b + t % 32] += staged[at ^ 5];
            pipe.consumerRelease();
          }
        }
        pipe.quit();
      }`,
  'few producers': `
      const staged = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), t < 16 ? 'producer' : 'consumer');
      for (let b = 0; b < batches; b++) {
        if (t < 16) {
          pipe.producerAcquire();
          staged[16 * (b % 2) + t] = input[16 * b + t];
          pipe.producerCommit();
        } else {
          pipe.consumerWait();
          if (t < 32) out[16 * b + t - 16] = staged[16 * (b % 2) + 31 - t];
          pipe.consumerRelease();
        }
      }`,
  'a barrier of each turn': `
      const staged = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        const bar = cuda.barrier(block, 32 + 32 * (b % 2));
        if (b % 2 === 1 || t < 32) {
          staged[t] = input[32 * b + t % 32];
          bar.arrive();
          bar.waitParity(false);
          if (t < 32) out[32 * b + t] = staged[31 - t];
        }
      }`,
  'some of a block return': `
      const shared = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        shared[t] = input[32 * b + t % 32] + t;
        if (t >= 32 && b === 2) return;
        block.sync();
        if (t < 32) out[32 * b + t] = shared[t ^ 1] + shared[t + 32];
        block.sync();
      }`,
  'some of each tile return': `
      const tile = cuda.tiledPartition(block, 16);
      const shared = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        shared[t] = input[32 * b + t % 32] + t;
        if (t % 16 >= 8 && b === 1 + (t >> 4) % 2) return;
        tile.sync();
        if (t % 16 < 8) out[32 * b + t % 16 + 8 * (t >> 4)] = shared[t ^ 1] + shared[t + 8];
        tile.sync();
      }`,
  'blocks of a grid': `const grid = cuda.thisGrid();
      const rank = grid.threadRank();
      let sum = input[rank];
      for (let b = 0; b < batches; b++) {
        out[rank] = sum + b;
        grid.sync();
        sum += out[127 - rank];
        grid.sync();
      }
      out[rank] = sum;`,
  'lanes by masks': `const shared = cuda.sharedArray('i32', 64);
      for (let b = 0; b < batches; b++) {
        if (t % 32 < 8) {
          shared[t] = input[32 * b + t % 32];
          cuda.syncwarp(0xff);
          const other = shared[t ^ 7];
          out[16 * b + t % 32 + 8 * (t >> 5)] = other + cuda.shflXorSync(0xff, other, 1);
        }
      }`,
  'lanes by masks at two places': `const shared = cuda.sharedArray('i32', 64);
      const lane = t % 32;
      for (let b = 0; b < batches; b++) {
        if (lane < 4) {
          shared[t] = input[32 * b + lane];
          cuda.syncwarp(0xff);
          out[16 * b + lane + 8 * (t >> 5)] = shared[t ^ 7];
          cuda.syncwarp(0xff);
        } else if (lane < 8) {
          shared[t] = input[32 * b + lane];
          cuda.syncwarp(0xff);
          out[16 * b + lane + 8 * (t >> 5)] = shared[t ^ 7] + cuda.shflXorSync(0xf0, b + lane, 1);
          cuda.syncwarp(0xff);
        }
      }`,
  'some lanes of a mask return': `const shared = cuda.sharedArray('i32', 64);
      const lane = t % 32;
      for (let b = 0; b < batches; b++) {
        if (lane < 8) {
          shared[t] = input[32 * b + lane] + t;
          if (lane >= 4 && b === 2) return;
          cuda.syncwarp(0xff);
          if (lane < 4) out[16 * b + lane + 8 * (t >> 5)] = shared[t + 4];
          cuda.syncwarp(0xff);
        }
      }`,
};
