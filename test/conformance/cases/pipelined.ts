// cuda.pipelined: every kind of group, roles, several arrays in a stage, and stages that are used once more.

import { kernel } from 'warpstage';
import { type Case, type Cases, counting, integers } from '../case.ts';

const copied = { out: 'i32[]', input: 'readonly i32[]', batches: 'index', stages: 'constant index' } as const;

/** Each thread uses what another one has copied. */
const ofBlocks = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  cuda.pipelined({
    group: block,
    stages,
    batches,
    copy: (batch) => ({ source: input.subarray(batch * size), count: size }),
    use: (staged, batch) => {
      out[batch * size + t] = staged[size - 1 - t]! + staged.length;
    },
  });
});

/** The tiles of a block work apart, and do not take the same number of batches. */
const ofTiles = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 16);
  const size = tile.size();
  const t = tile.threadRank();
  const begin = (batch: number) => (tile.metaGroupRank() * batches + batch) * size;
  cuda.pipelined({
    group: tile,
    stages,
    batches: batches - (tile.metaGroupRank() % 2),
    copy: (batch) => ({ source: input.subarray(begin(batch)), count: cuda.alignedSize(16, size) }),
    use: (staged, batch) => {
      out[begin(batch) + t] = staged[size - 1 - t]! + 1;
    },
  });
});

/** Each thread by itself, and some copy nothing. */
const ofThreads = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  cuda.pipelined({
    group: cuda.thisThread(),
    stages,
    batches: t % 3 === 0 ? 0 : batches,
    copy: (batch) => ({ source: input.subarray((t * batches + batch) * 3), count: 3 }),
    use: (staged, batch) => {
      for (let i = 0; i < 3; i++) out[(t * batches + batch) * 3 + i] = staged[2 - i]! + 1;
    },
  });
});

/** A warp copies for the rest of the block. */
const ofProducers = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const block = cuda.thisThreadBlock();
  const warp = cuda.tiledPartition(block, 32);
  const size = block.size() - 32;
  cuda.pipelined({
    group: block,
    producers: 32,
    stages,
    batches,
    copy: (batch) => ({ source: input.subarray(batch * size), count: size, by: warp }),
    use: (staged, batch) => {
      const t = block.threadRank() - 32;
      out[batch * size + t] = staged[size - 1 - t]! + 1;
    },
  });
});

/** Threads of even rank copy an element each for the odd ones. */
const ofRoles = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const block = cuda.thisThreadBlock();
  const half = Math.trunc(block.size() / 2);
  const at = Math.trunc(block.threadRank() / 2);
  cuda.pipelined({
    group: block,
    role: block.threadRank() % 2 === 0 ? 'producer' : 'consumer',
    stages,
    batches,
    copy: (batch) => ({
      source: input.subarray(batch * half + at),
      count: 1,
      room: half,
      at,
      by: cuda.thisThread(),
    }),
    use: (staged, batch) => {
      out[batch * half + at] = staged[half - 1 - at]! + 1;
    },
  });
});

/** Two arrays of two types, of which the last batch is not full; the stage is written, too. */
const ofPairs = kernel(
  { out: 'f64[]', a: 'readonly f64[]', b: 'readonly u8[]', stages: 'constant index' },
  ({ out, a, b, stages }, cuda) => {
    const block = cuda.thisThreadBlock();
    const size = block.size();
    const t = block.threadRank();
    cuda.pipelined({
      group: block,
      stages,
      batches: Math.ceil(a.length / size),
      copy: (batch) => {
        const begin = batch * size;
        const count = Math.min(size, a.length - begin);
        return {
          large: { source: a.subarray(begin), count, room: size },
          small: { source: b.subarray(begin), count, room: size },
        };
      },
      use: ({ large, small }, batch) => {
        const i = batch * size + t;
        if (i >= a.length) return;
        large[t] = large[t]! * 2;
        out[i] = large[t]! + small[t]!;
      },
    });
  },
);

/** Twice in a loop, the second with what the first has left. */
const inLoops = kernel(copied, ({ out, input, batches, stages }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  for (let round = 0; round < 3; round++) {
    let sum = 0;
    cuda.pipelined({
      group: block,
      stages,
      batches,
      copy: (batch) => ({ source: input.subarray(batch * size), count: size }),
      use: (staged) => {
        sum += staged[size - 1 - t]!;
      },
    });
    cuda.pipelined({
      group: block,
      stages,
      batches: 1,
      copy: () => ({ source: input.subarray(round * size), count: size }),
      use: (staged) => {
        out[round * size + t] = sum - staged[t]!;
      },
    });
  }
});

const block = 64;

/** Position by position: the batch, and the element of it that is mirrored. */
const mirrored = (size: number, by: number) => (i: number) => {
  const batch = Math.trunc(i / size);
  return 100 + batch * size + (size - 1 - (i % size)) + by;
};

const staged = [1, 2, 3, 5].flatMap((stages): Cases => {
  const batches = 4;
  const length = batches * block;
  const of = (size: number) => ({ out: new Int32Array(size), input: counting(size), batches, stages });
  const tiles = block / 16;
  return [
    {
      name: `a block, ${stages} stages`,
      kernel: ofBlocks,
      grid: 1,
      block,
      data: of(length),
      expected: { out: integers(length, mirrored(block, block)) },
    },
    {
      name: `tiles with batches of their own, ${stages} stages`,
      kernel: ofTiles,
      grid: 1,
      block,
      data: of(length),
      expected: {
        out: integers(length, (i) => {
          const batch = Math.trunc(i / 16);
          const tile = Math.trunc(batch / batches);
          if (tile >= tiles) throw new RangeError('beyond the tiles');
          return tile % 2 === 1 && batch % batches === batches - 1 ? 0 : mirrored(16, 1)(i);
        }),
      },
    },
    {
      name: `threads, ${stages} stages`,
      kernel: ofThreads,
      grid: 1,
      block,
      data: of(length * 3),
      expected: {
        out: integers(length * 3, (i) => (Math.trunc(i / (3 * batches)) % 3 === 0 ? 0 : mirrored(3, 1)(i))),
      },
    },
    {
      name: `a number of producers, ${stages} stages`,
      kernel: ofProducers,
      grid: 1,
      block: block + 32,
      data: of(length),
      expected: { out: integers(length, mirrored(block, 1)) },
    },
    {
      name: `roles, ${stages} stages`,
      kernel: ofRoles,
      grid: 1,
      block,
      data: of(length / 2),
      expected: { out: integers(length / 2, mirrored(block / 2, 1)) },
    },
    {
      name: `two arrays, ${stages} stages`,
      kernel: ofPairs,
      grid: 1,
      block,
      data: {
        out: new Float64Array(length - 9),
        a: Float64Array.from({ length: length - 9 }, (_, i) => i / 8),
        b: Uint8Array.from({ length: length - 9 }, (_, i) => i),
        stages,
      },
      expected: {
        out: Float64Array.from({ length: length - 9 }, (_, i) => i / 4 + (i % 256)),
      },
    },
    {
      name: `in a loop, ${stages} stages`,
      kernel: inLoops,
      grid: 1,
      block,
      data: of(length),
      expected: {
        out: integers(length, (i) => {
          if (i >= 3 * block) return 0;
          const t = i % block;
          const sum = Array.from({ length: batches }, (_, batch) => 100 + batch * block + (block - 1 - t));
          return sum.reduce((a, b) => a + b) - (100 + i);
        }),
      },
    },
  ] satisfies Case[];
});

export const pipelinedCases: Cases = staged;
