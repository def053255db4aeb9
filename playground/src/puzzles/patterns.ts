// Puzzles about patterns of parallel programs: gather, greatest, transpose, histogram, prefix sums.

import { integers, type Puzzle, program, scattered } from './puzzle.ts';

const gatherSolution = program(
  "{ y: 'i32[]', x: 'readonly i32[]', at: 'readonly i32[]' }",
  '{ y, x, at }',
  `  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  const from = at[i]!;
  y[i] = from >= 0 && from < x.length ? x[from]! : -1;
`,
  '{ grid: 2, block: 64, arguments: { y: { length: 100 }, x: { length: 50 }, at: { length: 100 } } }',
);

const greatestSolution = program(
  "{ greatest: 'i32[]', x: 'readonly i32[]' }",
  '{ greatest, x }',
  `  const grid = cuda.thisGrid();
  let own = -1;
  for (let i = grid.threadRank(); i < x.length; i += grid.size()) own = Math.max(own, x[i]!);
  cuda.atomicMax(greatest, 0, own);
`,
  '{ grid: 2, block: 32, arguments: { greatest: Int32Array.of(-1), x: { length: 300 } } }',
);

const transposeSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]' }",
  '{ out, x }',
  `  const [column, row] = [cuda.threadIdx.x, cuda.threadIdx.y];
  const tile = cuda.sharedArray('i32', 64);
  const [left, top] = [cuda.blockIdx.x * 8, cuda.blockIdx.y * 8];
  tile[row * 8 + column] = x[(top + row) * 24 + left + column]!;
  cuda.syncthreads();
  out[(left + row) * 16 + top + column] = tile[column * 8 + row]!;
`,
  '{ grid: [3, 2], block: [8, 8], arguments: { out: { length: 384 }, x: { length: 384 } } }',
);

const histogramSolution = program(
  "{ counts: 'i32[]', x: 'readonly i32[]' }",
  '{ counts, x }',
  `  const t = cuda.threadIdx.x;
  const own = cuda.sharedArray('i32', 8);
  if (t < 8) own[t] = 0;
  cuda.syncthreads();
  const i = cuda.blockIdx.x * 64 + t;
  if (i < x.length) cuda.atomicAdd(own, x[i]! % 8, 1);
  cuda.syncthreads();
  if (t < 8) cuda.atomicAdd(counts, t, own[t]!);
`,
  '{ grid: 3, block: 64, arguments: { counts: { length: 8 }, x: { length: 170 } } }',
);

const scanSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]' }",
  '{ out, x }',
  `  const t = cuda.threadIdx.x;
  const part = cuda.sharedArray('i32', 64);
  part[t] = x[t]!;
  for (let distance = 1; distance < 64; distance *= 2) {
    cuda.syncthreads();
    const before = t >= distance ? part[t - distance]! : 0;
    cuda.syncthreads();
    part[t] = part[t]! + before;
  }
  out[t] = part[t]!;
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 64 }, x: { length: 64 } } }',
);

export const patternPuzzles: readonly Puzzle[] = [
  {
    name: 'gather',
    title: 'Read where another array says',
    task: 'y[i] is x[at[i]]. Some of the 100 positions are no position in x: then y[i] is -1.',
    hint: 'Two things can lie outside: i, as there are more threads than elements, and the position that was read.',
    solution: gatherSolution,
    gaps: [
      [
        '  y[i] = from >= 0 && from < x.length ? x[from]! : -1;\n',
        '  // Is there an x[from]?\n  y[i] = x[from]!;\n',
      ],
    ],
    mistakes: [
      { what: 'positions beyond the end', edits: [[' && from < x.length', '']], says: 'WS3001' },
      { what: 'negative positions', edits: [['from >= 0 && ', '']], says: 'WS3001' },
      { what: 'threads beyond the end', edits: [['  if (i >= y.length) return;\n', '']], says: 'WS3001' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(50);
        const at = integers(100, (i) => ((i * 29) % 64) - 7);
        const y = integers(100, (i) => x[at[i]!] ?? -1);
        const given = { y: new Int32Array(100), x, at };
        return [{ launch: { grid: 2, block: 64, arguments: given }, expected: { y } }];
      },
    },
  },
  {
    name: 'greatest',
    title: 'The greatest of many',
    task: 'Find the greatest of 300 elements with 64 threads. Each finds that of its own; then one array element takes the greatest of these.',
    hint: 'cuda.atomicMax(array, index, value) keeps the greater of the two, whoever else does so at the same time.',
    solution: greatestSolution,
    gaps: [
      [
        '  cuda.atomicMax(greatest, 0, own);\n',
        '  if (own > greatest[0]!) greatest[0] = own; // Others do so, too.\n',
      ],
    ],
    mistakes: [
      {
        what: 'looks and writes in two steps',
        edits: [['cuda.atomicMax(greatest, 0, own)', 'if (own > greatest[0]!) greatest[0] = own']],
        says: 'WS7001',
      },
      {
        what: 'each thread looks at one element',
        edits: [['i += grid.size()', 'i += x.length']],
        says: 'greatest[0] is',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = integers(300, (i) => (i === 277 ? 5000 : (i * 37) % 101));
        const given = { greatest: Int32Array.of(-1), x };
        return [
          { launch: { grid: 2, block: 32, arguments: given }, expected: { greatest: Int32Array.of(5000) } },
        ];
      },
    },
  },
  {
    name: 'transpose',
    title: 'Transpose, tile by tile',
    task: 'Transpose a matrix of 16 rows and 24 columns. A block takes a tile of 8 by 8 into shared memory and writes it row by row, so that neighbours write neighbours.',
    hint: 'What a thread writes, another has read. The tile at (left, top) goes to rows from left on, columns from top on.',
    solution: transposeSolution,
    gaps: [
      [
        '  out[(left + row) * 16 + top + column] = tile[column * 8 + row]!;\n',
        '  // Which element of the tile, and where does it go?\n',
      ],
    ],
    mistakes: [
      { what: 'nobody waits', edits: [['  cuda.syncthreads();\n', '']], says: 'WS7001' },
      {
        what: 'the tile is not turned',
        edits: [['tile[column * 8 + row]', 'tile[row * 8 + column]']],
        says: 'out[1] is',
      },
      {
        what: 'the tile stays where it was',
        edits: [['out[(left + row) * 16 + top + column]', 'out[(top + row) * 16 + left + column]']],
        says: 'out[8] is',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = integers(384, (i) => i + 1);
        const out = integers(384, (i) => x[(i % 16) * 24 + Math.floor(i / 16)]!);
        const given = { out: new Int32Array(384), x };
        return [{ launch: { grid: [3, 2], block: [8, 8], arguments: given }, expected: { out } }];
      },
    },
  },
  {
    name: 'histogram',
    title: 'Count in the block first',
    task: 'Count remainders again, but let each block count in shared memory, and add its eight counts to the result once.',
    hint: 'Shared memory holds anything at first. Who counts waits for who cleared, and who adds waits for who counted.',
    solution: histogramSolution,
    gaps: [
      [
        '  if (i < x.length) cuda.atomicAdd(own, x[i]! % 8, 1);\n  cuda.syncthreads();\n',
        '  // Count, and wait.\n',
      ],
    ],
    mistakes: [
      {
        what: 'nobody waits for the counts',
        edits: [['1);\n  cuda.syncthreads();\n', '1);\n']],
        says: 'WS7001',
      },
      {
        what: 'nobody waits until all is cleared',
        edits: [['own[t] = 0;\n  cuda.syncthreads();\n', 'own[t] = 0;\n']],
        says: 'WS7001',
      },
      {
        what: 'blocks add without atomics',
        edits: [['cuda.atomicAdd(counts, t, own[t]!)', 'counts[t] = counts[t]! + own[t]!']],
        says: 'WS7001',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(170);
        const counts = integers(8, (rest) => x.filter((value) => value % 8 === rest).length);
        const given = { counts: new Int32Array(8), x };
        return [{ launch: { grid: 3, block: 64, arguments: given }, expected: { counts } }];
      },
    },
  },
  {
    name: 'scan',
    title: 'Sums of all before',
    task: 'out[i] is the sum of x[0] to x[i], for 64 elements. In six steps each thread adds what the thread 1, 2, 4, 8, 16 and 32 before it has.',
    hint: 'In a step some threads still read what others are about to write. So all read, all wait, and then all write.',
    solution: scanSolution,
    gaps: [
      [
        '    const before = t >= distance ? part[t - distance]! : 0;\n    cuda.syncthreads();\n    part[t] = part[t]! + before;\n',
        '    if (t >= distance) part[t] = part[t]! + part[t - distance]!; // Has that one added already?\n',
      ],
    ],
    mistakes: [
      {
        what: 'nobody waits between reading and writing',
        edits: [[': 0;\n    cuda.syncthreads();\n', ': 0;\n']],
        says: 'WS7001',
      },
      {
        what: 'nobody waits for the step before',
        edits: [['*= 2) {\n    cuda.syncthreads();\n', '*= 2) {\n']],
        says: 'WS7001',
      },
      { what: 'one step too few', edits: [['distance < 64', 'distance < 32']], says: 'out[33] is' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(64);
        const out = integers(64, (i) => x.subarray(0, i + 1).reduce((sum, value) => sum + value, 0));
        const given = { out: new Int32Array(64), x };
        return [{ launch: { grid: 1, block: 64, arguments: given }, expected: { out } }];
      },
    },
  },
];
