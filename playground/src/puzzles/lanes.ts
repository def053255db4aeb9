// Puzzles about the lanes of a warp: what they tell each other without memory.

import { integers, type Puzzle, program, scattered } from './puzzle.ts';

const butterflySolution = program(
  "{ shares: 'i32[]', x: 'readonly i32[]' }",
  '{ shares, x }',
  `  const i = cuda.thisGrid().threadRank();
  let sum = x[i]!;
  for (let bit = 16; bit > 0; bit >>= 1) sum += cuda.shflXorSync(0xffffffff, sum, bit);
  shares[i] = sum - x[i]!;
`,
  '{ grid: 2, block: 64, arguments: { shares: { length: 128 }, x: { length: 128 } } }',
);

const voteSolution = program(
  "{ place: 'i32[]', x: 'readonly i32[]' }",
  '{ place, x }',
  `  const lane = cuda.threadIdx.x;
  const value = x[cuda.blockIdx.x * 32 + lane]!;
  const even = cuda.ballotSync(0xffffffff, value % 2 === 0);
  const before = even & ((1 << lane) - 1);
  place[cuda.blockIdx.x * 32 + lane] = value % 2 === 0 ? cuda.popc(before) : -1;
`,
  '{ grid: 2, block: 32, arguments: { place: { length: 64 }, x: { length: 64 } } }',
);

/** Elements of each warp. */
const warpOf = (x: Int32Array, i: number) => x.subarray(i - (i % 32), i - (i % 32) + 32);

export const lanePuzzles: readonly Puzzle[] = [
  {
    name: 'butterfly',
    title: 'A sum that every lane has',
    task: 'shares[i] is the sum of the 31 other elements of its warp. Every lane needs the whole sum, not only the first.',
    hint: 'cuda.shflXorSync(0xffffffff, sum, bit) swaps with the lane whose number differs in that bit. After five bits all have the same.',
    solution: butterflySolution,
    gaps: [
      [
        'sum += cuda.shflXorSync(0xffffffff, sum, bit);',
        'sum += cuda.shflDownSync(0xffffffff, sum, bit); // Who has the sum?',
      ],
    ],
    mistakes: [
      {
        what: 'only the first lane has the sum',
        edits: [['cuda.shflXorSync', 'cuda.shflDownSync']],
        says: 'shares[1] is',
      },
      { what: 'a bit is left out', edits: [['let bit = 16', 'let bit = 8']], says: 'shares[0] is' },
      { what: 'the own element counts, too', edits: [['sum - x[i]!', 'sum']], says: 'shares[1] is' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(128);
        const shares = integers(128, (i) => warpOf(x, i).reduce((sum, value) => sum + value, 0) - x[i]!);
        const given = { shares: new Int32Array(128), x };
        return [{ launch: { grid: 2, block: 64, arguments: given }, expected: { shares } }];
      },
    },
  },
  {
    name: 'vote',
    title: 'Who goes before me?',
    task: 'Number the even elements of each warp: place[i] says how many even ones come before it in the warp. Of an odd one it is -1.',
    hint: 'ballotSync gives a bit for each lane. Those of the lanes before mine are below bit `lane`; popc counts bits.',
    solution: voteSolution,
    gaps: [
      [
        '  const before = even & ((1 << lane) - 1);\n',
        '  const before = even; // Only of the lanes before this one.\n',
      ],
    ],
    mistakes: [
      {
        what: 'all even ones are counted',
        edits: [['even & ((1 << lane) - 1)', 'even']],
        says: 'place[0] is',
      },
      {
        what: 'the own one is counted, too',
        edits: [['(1 << lane) - 1', '(2 << lane) - 1']],
        says: 'place[0] is',
      },
      { what: 'half of the lanes are named', edits: [['0xffffffff', '0xffff']], says: 'WS3010' },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(64);
        const place = integers(64, (i) => {
          if (x[i]! % 2 !== 0) return -1;
          return warpOf(x, i)
            .subarray(0, i % 32)
            .filter((value) => value % 2 === 0).length;
        });
        const given = { place: new Int32Array(64), x };
        return [{ launch: { grid: 2, block: 32, arguments: given }, expected: { place } }];
      },
    },
  },
];
