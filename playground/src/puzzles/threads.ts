// Puzzles about threads: which element is whose.

import { integers, type Puzzle, program, scattered } from './puzzle.ts';

const twice = (length: number) => ({
  x: scattered(length),
  expected: { y: scattered(length).map((v) => 2 * v) },
});

const elementSolution = program(
  "{ y: 'i32[]', x: 'readonly i32[]' }",
  '{ y, x }',
  `  const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  if (i < y.length) y[i] = 2 * x[i]!;
`,
  '{ grid: 4, block: 64, arguments: { y: { length: 250 }, x: { length: 250 } } }',
);

const strideSolution = program(
  "{ y: 'i32[]', x: 'readonly i32[]' }",
  '{ y, x }',
  `  const grid = cuda.thisGrid();
  for (let i = grid.threadRank(); i < y.length; i += grid.size()) y[i] = 2 * x[i]!;
`,
  '{ grid: 2, block: 32, arguments: { y: { length: 300 }, x: { length: 300 } } }',
);

const [width, height] = [19, 13];
const mirrorSolution = program(
  "{ out: 'i32[]', picture: 'readonly i32[]', width: 'index', height: 'index' }",
  '{ out, picture, width, height }',
  `  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (x < width && y < height) {
    out[y * width + x] = picture[y * width + (width - 1 - x)]!;
  }
`,
  `{
    grid: [3, 2],
    block: [8, 8],
    arguments: { out: { length: 247 }, picture: { length: 247 }, width: 19, height: 13 },
  }`,
);

const countSolution = program(
  "{ counts: 'i32[]', x: 'readonly i32[]' }",
  '{ counts, x }',
  `  const i = cuda.thisGrid().threadRank();
  if (i < x.length) cuda.atomicAdd(counts, x[i]! % 8, 1);
`,
  '{ grid: 4, block: 64, arguments: { counts: new Int32Array(8), x: { length: 250 } } }',
);

export const threadPuzzles: readonly Puzzle[] = [
  {
    name: 'element',
    title: 'One element a thread',
    task: 'Let each thread write one element: y[i] = 2 * x[i]. There are 256 threads, in four blocks, and 250 elements.',
    hint: 'A thread is known by its block and by its index in the block: blockIdx.x * blockDim.x + threadIdx.x. The last six threads have nothing to do.',
    solution: elementSolution,
    gaps: [
      [
        '  const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;\n',
        '  // Which element is mine?\n',
      ],
      ['  if (i < y.length) y[i] = 2 * x[i]!;\n', ''],
    ],
    mistakes: [
      { what: 'threads beyond the end write', edits: [['if (i < y.length) ', '']], says: 'WS3001' },
      {
        what: 'the block is forgotten',
        edits: [['cuda.blockIdx.x * cuda.blockDim.x + ', '']],
        says: 'y[64] is 0',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () =>
        [250, 256].map((length) => {
          const { x, expected } = twice(length);
          return { launch: { grid: 4, block: 64, arguments: { y: new Int32Array(length), x } }, expected };
        }),
    },
  },
  {
    name: 'stride',
    title: 'More elements than threads',
    task: 'The same, with 64 threads for 300 elements: each thread takes several.',
    hint: 'A thread goes on by as many elements as the grid has threads: thisGrid().size().',
    solution: strideSolution,
    gaps: [
      [
        '  for (let i = grid.threadRank(); i < y.length; i += grid.size()) y[i] = 2 * x[i]!;\n',
        '  const i = grid.threadRank();\n  if (i < y.length) y[i] = 2 * x[i]!;\n',
      ],
    ],
    mistakes: [
      {
        what: 'each thread takes one element',
        edits: [
          [
            'for (let i = grid.threadRank(); i < y.length; i += grid.size())',
            'const i = grid.threadRank();\n  if (i < y.length)',
          ],
        ],
        says: 'y[64] is 0',
      },
      {
        what: 'the steps are twice as long',
        edits: [['i += grid.size()', 'i += 2 * grid.size()']],
        says: 'y[64] is 0',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const { x, expected } = twice(300);
        return [{ launch: { grid: 2, block: 32, arguments: { y: new Int32Array(300), x } }, expected }];
      },
    },
  },
  {
    name: 'mirror',
    title: 'A picture in two dimensions',
    task: 'Mirror a picture of 19 by 13 pixels: the left becomes the right. Blocks are 8 by 8.',
    hint: 'Pixel (x, y) is element y * width + x. Both x and y can lie outside.',
    solution: mirrorSolution,
    gaps: [
      [
        '    out[y * width + x] = picture[y * width + (width - 1 - x)]!;\n',
        '    // Which pixel comes here?\n',
      ],
    ],
    mistakes: [
      { what: 'rows beyond the end', edits: [[' && y < height', '']], says: 'WS3001' },
      { what: 'columns beyond the end', edits: [['x < width && ', '']], says: 'WS3001' },
      {
        what: 'rows and columns are mixed up',
        edits: [['out[y * width + x]', 'out[x * height + y]']],
        says: 'out[1] is',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const picture = scattered(width * height);
        const out = integers(width * height, (i) => picture[i - (i % width) + width - 1 - (i % width)]!);
        const given = { out: new Int32Array(width * height), picture, width, height };
        return [{ launch: { grid: [3, 2], block: [8, 8], arguments: given }, expected: { out } }];
      },
    },
  },
  {
    name: 'count',
    title: 'Many threads, one counter',
    task: 'Count how often each remainder of a division by 8 occurs.',
    hint: 'Two threads that add to one element at the same time lose one of the sums. cuda.atomicAdd(array, index, value) does not.',
    solution: countSolution,
    gaps: [['cuda.atomicAdd(counts, x[i]! % 8, 1)', 'counts[x[i]! % 8] = 1']],
    mistakes: [
      {
        what: 'reads, adds and writes in three steps',
        edits: [['cuda.atomicAdd(counts, x[i]! % 8, 1)', 'counts[x[i]! % 8] = counts[x[i]! % 8]! + 1']],
        says: 'WS7001',
      },
      { what: 'threads beyond the end count', edits: [['if (i < x.length) ', '']], says: 'WS3001' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(250);
        const counts = integers(8, (rest) => x.filter((value) => value % 8 === rest).length);
        const given = { counts: new Int32Array(8), x };
        return [{ launch: { grid: 4, block: 64, arguments: given }, expected: { counts } }];
      },
    },
  },
];
