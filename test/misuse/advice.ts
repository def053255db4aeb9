// What is right, and slower than it need be or undefined in CUDA's own words.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const advice: readonly Misuse[] = [
  {
    name: 'a copy of bytes without a promise',
    row: 'PERF-1',
    code: 'WS7101',
    says: '1 byte',
    launch: { arguments: { out: new Uint8Array(32), x: new Uint8Array(32) } },
    kernel: kernel({ ...schema, out: 'u8[]', x: 'readonly u8[]' }, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('u8', 32);
      const pipe = cuda.makePipeline();
      const count = cuda.alignedSize(mended ? 16 : 1, 32);
      cuda.memcpyAsync(block, shared, x, count, pipe); // <- WS7101
      pipe.producerCommit();
      pipe.consumerWait();
      block.sync();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a copy that does not go from global to shared memory',
    row: 'PERF-2',
    code: 'WS7102',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      shared[t] = x[t]! + 1;
      block.sync();
      if (!mended) cuda.memcpyAsync(block, out, shared, 32, pipe); // <- WS7102
      pipe.producerCommit();
      pipe.consumerWait();
      if (mended) out[t] = shared[t]!;
    }),
  },
  {
    name: 'roles that alternate in a warp',
    row: 'PERF-3',
    code: 'WS7103',
    launch: { block: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const lane = mended ? block.threadRank() % 32 : Math.floor(block.threadRank() / 2);
      const produces = mended ? block.threadRank() < 32 : block.threadRank() % 2 === 0;
      const shared = cuda.sharedArray('i32', 32);
      const state = cuda.pipelineSharedState('block', 2);
      const pipe = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer'); // <- WS7103
      if (produces) {
        pipe.producerAcquire();
        cuda.memcpyAsync(shared.subarray(lane), x.subarray(lane), 1, pipe);
        pipe.producerCommit();
      } else {
        pipe.consumerWait();
        out[lane] = shared[lane]!;
        pipe.consumerRelease();
      }
    }),
  },
  {
    name: 'a warp whose lanes commit at two places',
    row: 'PERF-3',
    code: 'WS7103',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline();
      if (t % 2 === 0) {
        cuda.memcpyAsync(shared.subarray(t), x.subarray(t), 1, pipe);
        if (!mended) pipe.producerCommit(); // <- WS7103
      } else {
        shared[t] = 0;
        if (!mended) pipe.producerCommit(); // <- WS7103
      }
      if (mended) pipe.producerCommit();
      pipe.consumerWait();
      block.sync();
      out[t] = shared[31 - t]!;
    }),
  },
  {
    name: 'a block’s pipeline in which all threads take part',
    row: 'PERF-4',
    code: 'WS7104',
    launch: { elements: 128 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = mended
        ? cuda.makePipeline()
        : cuda.makePipeline(block, cuda.pipelineSharedState('block', 1)); // <- WS7104
      for (let batch = 0; batch < batches; batch++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, shared, x.subarray(batch * 32), 32, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        if (mended) block.sync();
        out[batch * 32 + t] = shared[31 - t]!;
        pipe.consumerRelease();
        if (mended) block.sync();
      }
    }),
  },
  {
    name: 'a sync of the block in each of two branches that lanes part at',
    row: 'warp',
    code: 'WS7105',
    launch: { block: 64, elements: 64 },
    says: '32 come to one sync of the block, and 32 to another',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t % 2 === 0) {
        out[t] = x[t]!;
        if (!mended) cuda.syncthreads(); // <- WS7105
      } else {
        if (!mended) cuda.syncthreads(); // <- other
        out[t] = x[t]! * 2;
      }
      if (mended) cuda.syncthreads();
    }),
  },
  {
    name: 'a sync of the block in each of two branches that warps part at, round by round',
    row: 'warp',
    code: 'WS7105',
    launch: { block: 64, elements: 256 },
    kernel: kernel(batched, ({ out, x, batches, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      for (let batch = 0; batch < batches; batch++) {
        const i = batch * 64 + t;
        shared[t] = x[i]!;
        if (mended) block.sync();
        else if (t < 32)
          block.sync(); // <- WS7105
        else block.sync(); // <- other
        out[i] = shared[63 - t]!;
        block.sync();
      }
    }),
  },
  {
    name: 'a function that syncs the block, called in two branches',
    row: 'warp',
    code: 'WS7105',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      const met = (value: number) => {
        cuda.syncthreads(); // <- WS7105 <- other
        return value;
      };
      if (mended) out[t] = met(t < 16 ? x[t]! : t);
      else if (t < 16) out[t] = met(x[t]!);
      else out[t] = met(t);
    }),
  },
  {
    name: 'a sync of the grid in each of two branches',
    row: 'grid',
    code: 'WS7105',
    launch: { grid: 2, block: 64, elements: 128, cooperative: true },
    says: 'sync of the grid',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const all = cuda.thisGrid();
      const i = all.threadRank();
      out[i] = x[i]!;
      if (mended) all.sync();
      else if (cuda.threadIdx.x < 32)
        all.sync(); // <- WS7105
      else all.sync(); // <- other
    }),
  },
  {
    name: 'a vote of all lanes in each of two branches',
    row: 'warp',
    code: 'WS7106',
    says: 'lanes 0-15 of warp 0 come to one ballot, and lanes 16-31 to another',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      const lanes = cuda.ballotSync(0xffffffff, t < 16);
      if (t < 16)
        out[t] = cuda.popc(cuda.ballotSync(mended ? lanes : 0xffffffff, x[t]! > 104)); // <- WS7106
      else out[t] = cuda.popc(cuda.ballotSync(mended ? ~lanes >>> 0 : 0xffffffff, x[t]! > 120)); // <- other
    }),
  },
  {
    name: 'a shuffle of all lanes in a branch of half of them, whose others return',
    row: 'warp',
    code: 'WS7106',
    says: 'names lanes 16-31',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      let value = x[t]!;
      const lanes = cuda.ballotSync(0xffffffff, t < 16);
      if (t < 16) value += cuda.shflXorSync(mended ? lanes : 0xffffffff, value, 1); // <- WS7106
      out[t] = value;
    }),
  },
  {
    name: 'a reduction of all lanes in a loop that they leave at different times',
    row: 'warp',
    code: 'WS7106',
    launch: { elements: 80 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      const rounds = Math.ceil(x.length / 32);
      for (let round = 0; round < rounds; round++) {
        const i = round * 32 + t;
        if (!mended && i >= x.length) return;
        const most = cuda.reduceMaxSync(0xffffffff, i < x.length ? x[i]! : 0); // <- WS7106
        if (i < x.length) out[i] = most;
      }
    }),
  },
  {
    name: 'a tile’s sum without its threads that returned',
    row: 'warp',
    code: 'WS7106',
    says: 'lanes 29-31',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.threadIdx.x;
      const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 8);
      if (!mended && t > 28) return;
      out[t] = cuda.cg.reduce(tile, t > 28 ? 0 : x[t]!, 'plus'); // <- WS7106
    }),
  },
];
