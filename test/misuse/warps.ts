// Lanes of a warp, threads of a tile and blocks of a grid: what orders their accesses and what does not,
// and who must come.

import { kernel } from 'warpstage';
import { batched, type Misuse, schema } from './misuse.ts';

export const warps: readonly Misuse[] = [
  {
    name: 'lanes that read what others of their warp wrote, without a syncwarp',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!; // <- WS7001 <- other
      if (mended) cuda.syncwarp();
      out[t] = shared[31 - t]!; // <- WS7001
    }),
  },
  {
    name: 'a shuffle where a syncwarp is needed: it orders no memory',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!; // <- WS7001 <- other
      const first = cuda.shflSync(0xffffffff, t, 0);
      if (mended) cuda.syncwarp();
      out[t] = first + shared[t ^ 1]!; // <- WS7001
    }),
  },
  {
    name: 'a syncwarp that names half of the lanes that read',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!; // <- WS7001 <- other
      if (mended) cuda.syncwarp(0xffffffff);
      else cuda.syncwarp(t < 16 ? 0xffff : 0xffff0000);
      out[t] = shared[31 - t]!; // <- WS7001
    }),
  },
  {
    name: 'a warp’s sum left in shared memory, added up after a syncwarp of the first warp alone',
    row: 'race',
    code: 'WS7001',
    launch: { block: 64, elements: 64 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const warp = cuda.tiledPartition(block, 32);
      const t = block.threadRank();
      const sums = cuda.sharedArray('i32', 2);
      const sum = cuda.cg.reduce(warp, x[t]!, 'plus');
      if (warp.threadRank() === 0) sums[warp.metaGroupRank()] = sum; // <- WS7001 <- other
      if (mended) block.sync();
      else cuda.syncwarp();
      out[t] = sums[0]! + sums[1]!; // <- WS7001
    }),
  },
  {
    name: 'threads that read from another tile after a sync of their own',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!; // <- WS7001 <- other
      tile.sync();
      out[t] = mended ? shared[t ^ 7]! : shared[t ^ 15]!; // <- WS7001
    }),
  },
  {
    name: 'a sum by halving, whose last steps lack a syncwarp',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const shared = cuda.sharedArray('i32', 32);
      shared[t] = x[t]!;
      cuda.syncwarp();
      for (let half = 16; half > 0; half >>= 1) {
        if (t < half) shared[t]! += shared[t + half]!; // <- WS7001 <- other
        if (mended) cuda.syncwarp();
      }
      out[t] = t === 0 ? shared[0]! : t;
    }),
  },
  {
    name: 'a shuffle from a lane that the mask leaves out',
    row: 'warp',
    code: 'WS3010',
    says: 'lane 20',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = t;
      if (t < 16) {
        out[t] = cuda.shflSync(0xffff, x[t]!, mended ? 2 : 20); // <- WS3010
      }
    }),
  },
  {
    name: 'a shuffle from a lane that the last warp does not have',
    row: 'warp',
    code: 'WS3010',
    says: 'warp 1',
    launch: { block: 48, elements: 48 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = cuda.shflXorSync(0xffffffff, x[t]!, mended ? 8 : 16); // <- WS3010
    }),
  },
  {
    name: 'a shuffle from a lane that has returned',
    row: 'warp',
    code: 'WS3010',
    says: 'lane 31',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = t;
      if (t >= 31 && !mended) return;
      const value = cuda.shflSync(0xffffffff, x[t]!, 31); // <- WS3010
      if (t < 31) out[t] = value;
    }),
  },
  {
    name: 'a mask that does not name the lane that calls',
    row: 'warp',
    code: 'WS3010',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = cuda.ballotSync(mended ? 0xffffffff : 0xffff, x[t]! > 110) & 1; // <- WS3010
    }),
  },
  {
    name: 'activemask taken for the lanes of a branch',
    row: 'warp',
    code: 'WS3010',
    says: 'lane 0',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const half = cuda.ballotSync(0xffffffff, t < 16);
      out[t] = t;
      if (t < 16) {
        const lanes = mended ? half : cuda.activemask();
        out[t] = cuda.shflSync(lanes, x[t]!, 0); // <- WS3010
      }
    }),
  },
  {
    name: 'a shuffle of all lanes in a branch of half of them',
    row: 'warp',
    code: 'WS3002',
    says: 'lanes',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const lanes = mended ? 0xffff : 0xffffffff;
      let value = x[t]!;
      if (t < 16) value = cuda.shflSync(lanes, value, 0); // <- WS3002
      block.sync(); // <- other
      out[t] = value;
    }),
  },
  {
    name: 'lanes that vote by different operations',
    row: 'warp',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      let vote = false;
      if (mended || t < 16)
        vote = cuda.anySync(0xffffffff, x[t]! > 110); // <- WS3002
      else vote = cuda.allSync(0xffffffff, x[t]! > 110); // <- other
      out[t] = vote ? 1 : 0;
    }),
  },
  {
    name: 'lanes that name each other in different masks',
    row: 'warp',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      const lanes = mended || t < 16 ? 0xffffffff : 0xffff0000;
      const sum = cuda.reduceAddSync(lanes, x[t]!); // <- WS3002
      out[t] = sum;
      cuda.syncwarp();
    }),
  },
  {
    name: 'a tile’s sum that one of its threads does not come to',
    row: 'warp',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      let sum = 0;
      if (mended || t !== 13) sum = cuda.cg.reduce(tile, x[t]!, 'plus'); // <- other
      block.sync(); // <- WS3002
      out[t] = sum;
    }),
  },
  {
    name: 'a vote of a group cut by a predicate, to which one of its threads does not come',
    row: 'warp',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), x[t]! % 3 === 0);
      let votes = 0;
      if (mended || t !== 13) votes = group.ballot(t < 9); // <- WS3002
      block.sync(); // <- other
      out[t] = votes;
    }),
  },
  {
    name: 'a warp cut by a predicate in a branch that a half of it takes',
    row: 'warp',
    code: 'WS3002',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const warp = cuda.tiledPartition(block, 32);
      out[t] = t;
      if (mended || t < 16) out[t] = cuda.binaryPartition(warp, x[t]! % 3 === 0).size(); // <- WS3002
      block.sync(); // <- other
    }),
  },
  {
    name: 'what the first of a group wrote, read without a sync of the group',
    row: 'race',
    code: 'WS7001',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const kept = cuda.sharedArray('i32', 1);
      const isKept = x[t]! % 3 === 0;
      const group = cuda.binaryPartition(cuda.tiledPartition(block, 32), isKept);
      out[t] = 0;
      if (isKept) {
        if (group.threadRank() === 0) kept[0] = group.size(); // <- WS7001 <- other
        if (mended) group.sync();
        out[t] = kept[0]! + group.threadRank(); // <- WS7001
      }
    }),
  },
  {
    name: 'threads that happen to run together taken for those of a branch',
    row: 'warp',
    code: 'WS3010',
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const half = cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 16);
      out[t] = t;
      if (t < 16) {
        if (mended) out[t] = half.shfl(x[t]!, 1);
        else out[t] = cuda.coalescedThreads().shfl(x[t]!, 1); // <- WS3010
      }
    }),
  },
];

const grid = { grid: 4, block: 8, cooperative: true } as const;

export const grids: readonly Misuse[] = [
  {
    name: 'blocks that read what others wrote, without a sync of the grid',
    row: 'race',
    code: 'WS7001',
    says: 'of block',
    launch: { ...grid, arguments: { sums: new Int32Array(4) } },
    kernel: kernel({ ...schema, sums: 'i32[]' }, ({ out, x, sums, mended }, cuda) => {
      const all = cuda.thisGrid();
      const i = all.threadRank();
      const block = cuda.thisThreadBlock();
      if (block.threadRank() === 0) sums[all.blockRank()] = x[i]!; // <- WS7001 <- other
      if (mended) all.sync();
      out[i] = sums[(all.blockRank() + 1) % all.numBlocks()]!; // <- WS7001
    }),
  },
  {
    name: 'a sync of the block where one of the grid is needed',
    row: 'race',
    code: 'WS7001',
    launch: { ...grid, arguments: { y: new Int32Array(32) } },
    kernel: kernel({ ...schema, y: 'i32[]' }, ({ out, x, y, mended }, cuda) => {
      const all = cuda.thisGrid();
      const i = all.threadRank();
      y[i] = x[i]!; // <- WS7001 <- other
      if (mended) all.sync();
      else cuda.thisThreadBlock().sync();
      out[i] = y[y.length - 1 - i]!; // <- WS7001
    }),
  },
  {
    name: 'rounds of a grid that has one sync where it needs two',
    row: 'race',
    code: 'WS7001',
    launch: { ...grid, elements: 128, arguments: { y: new Int32Array(32) } },
    kernel: kernel({ ...batched, y: 'i32[]' }, ({ out, x, y, batches, mended }, cuda) => {
      const all = cuda.thisGrid();
      const i = all.threadRank();
      for (let batch = 0; batch < batches; batch++) {
        y[i] = x[batch * 32 + i]!; // <- WS7001
        all.sync();
        out[batch * 32 + i] = y[y.length - 1 - i]!; // <- WS7001 <- other
        if (mended) all.sync();
      }
    }),
  },
  {
    name: 'shared memory of each block in a grid that synchronises, used again without a sync of the block',
    row: 'race',
    code: 'WS7001',
    launch: { ...grid, arguments: { y: new Int32Array(32) } },
    kernel: kernel({ ...schema, y: 'i32[]' }, ({ out, x, y, mended }, cuda) => {
      const all = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const [i, t] = [all.threadRank(), block.threadRank()];
      const shared = cuda.sharedArray('i32', 8);
      shared[t] = x[i]!;
      all.sync();
      y[i] = shared[7 - t]!; // <- WS7001 <- other
      if (mended) block.sync();
      shared[t] = i; // <- WS7001
      all.sync();
      out[i] = y[31 - i]! + shared[7 - t]!;
    }),
  },
  {
    name: 'a copy of a block whose destination another reads before a wait',
    row: 'UB-13',
    code: 'WS7002',
    launch: { ...grid, arguments: { y: new Int32Array(32) } },
    kernel: kernel({ ...schema, y: 'i32[]' }, ({ out, x, y, mended }, cuda) => {
      const all = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const first = all.blockRank() * 8;
      const pipe = cuda.makePipeline();
      cuda.memcpyAsync(block, y.subarray(first), x.subarray(first), 8, pipe); // <- WS7002 <- other
      pipe.producerCommit();
      if (mended) pipe.consumerWait();
      all.sync();
      out[all.threadRank()] = y[31 - all.threadRank()]!; // <- WS7002
      pipe.consumerWait();
    }),
  },
  {
    name: 'a sync of the grid that one block does not come to',
    row: 'grid',
    code: 'WS3002',
    says: 'sync of the grid',
    launch: grid,
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const all = cuda.thisGrid();
      out[all.threadRank()] = 1;
      if (mended || all.blockRank() !== 2) all.sync(); // <- WS3002
    }),
  },
  {
    name: 'a thread that returns before the grid synchronises',
    row: 'grid',
    code: 'WS3002',
    says: 'thread 7 has returned',
    launch: { ...grid, elements: 31 },
    kernel: kernel(schema, ({ out, x, mended }, cuda) => {
      const all = cuda.thisGrid();
      const i = all.threadRank();
      if (!mended && i >= out.length) return;
      if (i < out.length) out[i] = x[i]!;
      all.sync(); // <- WS3002
    }),
  },
  {
    name: 'threads of one block that wait for their block while the others wait for the grid',
    row: 'grid',
    code: 'WS3002',
    launch: grid,
    kernel: kernel(schema, ({ out, mended }, cuda) => {
      const all = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      out[all.threadRank()] = 1;
      if (!mended && all.threadRank() === 13) {
        block.sync(); // <- other
        all.sync();
      } else {
        all.sync(); // <- WS3002
      }
    }),
  },
];
