// Puzzles about threads that share memory: who waits for whom.

import { integers, type Puzzle, program, scattered } from './puzzle.ts';

const reverseSolution = program(
  "{ y: 'i32[]' }",
  '{ y }',
  `  const t = cuda.threadIdx.x;
  const first = cuda.blockIdx.x * 64;
  const part = cuda.sharedArray('i32', 64);
  part[t] = y[first + t]!;
  cuda.syncthreads();
  y[first + t] = part[63 - t]!;
`,
  '{ grid: 2, block: 64, arguments: { y: { length: 128 } } }',
);

const neighboursSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]' }",
  '{ out, x }',
  `  const t = cuda.threadIdx.x;
  const i = cuda.blockIdx.x * 64 + t;
  const part = cuda.sharedArray('i32', 66);
  part[t + 1] = i < x.length ? x[i]! : 0;
  if (t === 0) part[0] = i > 0 ? x[i - 1]! : 0;
  if (t === 63) part[65] = i + 1 < x.length ? x[i + 1]! : 0;
  cuda.syncthreads();
  if (i < out.length) out[i] = part[t]! + part[t + 1]! + part[t + 2]!;
`,
  '{ grid: 3, block: 64, arguments: { out: { length: 150 }, x: { length: 150 } } }',
);

const sumSolution = program(
  "{ sums: 'i32[]', x: 'readonly i32[]' }",
  '{ sums, x }',
  `  const t = cuda.threadIdx.x;
  const part = cuda.sharedArray('i32', 64);
  part[t] = x[cuda.blockIdx.x * 64 + t]!;
  for (let half = 32; half > 0; half >>= 1) {
    cuda.syncthreads();
    if (t < half) part[t] = part[t]! + part[t + half]!;
  }
  if (t === 0) sums[cuda.blockIdx.x] = part[0]!;
`,
  '{ grid: 3, block: 64, arguments: { sums: { length: 3 }, x: { length: 192 } } }',
);

const warpSolution = program(
  "{ sums: 'i32[]', x: 'readonly i32[]' }",
  '{ sums, x }',
  `  let sum = x[cuda.blockIdx.x * 32 + cuda.threadIdx.x]!;
  for (let distance = 16; distance > 0; distance >>= 1) {
    sum += cuda.shflDownSync(0xffffffff, sum, distance);
  }
  if (cuda.threadIdx.x === 0) sums[cuda.blockIdx.x] = sum;
`,
  '{ grid: 4, block: 32, arguments: { sums: { length: 4 }, x: { length: 128 } } }',
);

/** Sums of so many parts. */
const sums = (x: Int32Array, parts: number) =>
  integers(parts, (part) => {
    const length = x.length / parts;
    return x.subarray(part * length, (part + 1) * length).reduce((sum, value) => sum + value, 0);
  });

export const sharingPuzzles: readonly Puzzle[] = [
  {
    name: 'reverse',
    title: 'Wait for the others',
    task: 'Each block reverses its 64 elements. Threads read what others wrote to shared memory.',
    hint: 'cuda.syncthreads() waits until all threads of the block have come there.',
    solution: reverseSolution,
    gaps: [['  cuda.syncthreads();\n', '']],
    mistakes: [
      { what: 'nobody waits', edits: [['  cuda.syncthreads();\n', '']], says: 'WS7001' },
      {
        what: 'the threads wait before they write',
        edits: [
          [
            '  part[t] = y[first + t]!;\n  cuda.syncthreads();\n',
            '  cuda.syncthreads();\n  part[t] = y[first + t]!;\n',
          ],
        ],
        says: 'WS7001',
      },
      {
        what: 'half of the threads wait',
        edits: [['cuda.syncthreads()', 'if (t < 32) cuda.syncthreads()']],
        says: 'WS7001',
      },
      { what: 'one too far', edits: [['part[63 - t]', 'part[64 - t]']], says: 'WS3001' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const y = scattered(128);
        const reversed = integers(128, (i) => y[i - (i % 64) + 63 - (i % 64)]!);
        return [{ launch: { grid: 2, block: 64, arguments: { y } }, expected: { y: reversed } }];
      },
    },
  },
  {
    name: 'neighbours',
    title: 'Neighbours, and the edge of a block',
    task: 'Add each element to its two neighbours; beyond the ends there are zeros. A block stages its 64 elements, and one more at each side.',
    hint: 'The first thread fetches the element before the block’s, and the last one the element after it.',
    solution: neighboursSolution,
    gaps: [
      ['  if (t === 0) part[0] = i > 0 ? x[i - 1]! : 0;\n', '  // What about part[0] and part[65]?\n'],
      ['  if (t === 63) part[65] = i + 1 < x.length ? x[i + 1]! : 0;\n', ''],
    ],
    mistakes: [
      {
        what: 'the left edge is missing',
        edits: [['  if (t === 0) part[0] = i > 0 ? x[i - 1]! : 0;\n', '']],
        says: 'out[64] is',
      },
      {
        what: 'the right edge is always zero',
        edits: [['i + 1 < x.length ? x[i + 1]! : 0', '0']],
        says: 'out[63] is',
      },
      { what: 'nobody waits', edits: [['  cuda.syncthreads();\n', '']], says: 'WS7001' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(150);
        const out = integers(150, (i) => (x[i - 1] ?? 0) + x[i]! + (x[i + 1] ?? 0));
        return [
          { launch: { grid: 3, block: 64, arguments: { out: new Int32Array(150), x } }, expected: { out } },
        ];
      },
    },
  },
  {
    name: 'sum',
    title: 'Sum up in a block',
    task: 'Each block adds its 64 elements, in six steps: in each, half of the threads add the other half’s.',
    hint: 'In every step threads read what others wrote in the one before. All threads must wait, also those that add nothing.',
    solution: sumSolution,
    gaps: [
      [
        '    cuda.syncthreads();\n    if (t < half) part[t] = part[t]! + part[t + half]!;\n',
        '    // Add the other half.\n',
      ],
    ],
    mistakes: [
      { what: 'nobody waits', edits: [['    cuda.syncthreads();\n', '']], says: 'WS7001' },
      {
        what: 'the threads wait once',
        edits: [
          ['    cuda.syncthreads();\n', ''],
          ['  for (let half', '  cuda.syncthreads();\n  for (let half'],
        ],
        says: 'WS7001',
      },
      { what: 'a step too few', edits: [['let half = 32', 'let half = 16']], says: 'sums[0] is' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(192);
        const given = { sums: new Int32Array(3), x };
        return [{ launch: { grid: 3, block: 64, arguments: given }, expected: { sums: sums(x, 3) } }];
      },
    },
  },
  {
    name: 'warp',
    title: 'Sum up in a warp',
    task: 'The same in a warp of 32 lanes, without shared memory: lanes read each other’s variables.',
    hint: 'cuda.shflDownSync(0xffffffff, sum, distance) gives the value of the lane so far above.',
    solution: warpSolution,
    gaps: [
      [
        '    sum += cuda.shflDownSync(0xffffffff, sum, distance);\n',
        '    // Add the sum of the lane `distance` above.\n',
      ],
    ],
    mistakes: [
      { what: 'a step too few', edits: [['let distance = 16', 'let distance = 8']], says: 'sums[0] is' },
      { what: 'half of the lanes are named', edits: [['0xffffffff', '0xffff']], says: 'WS3010' },
      {
        what: 'every lane writes',
        edits: [['if (cuda.threadIdx.x === 0) sums', 'sums']],
        says: 'sums[0] is',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(128);
        const given = { sums: new Int32Array(4), x };
        return [{ launch: { grid: 4, block: 32, arguments: given }, expected: { sums: sums(x, 4) } }];
      },
    },
  },
];
