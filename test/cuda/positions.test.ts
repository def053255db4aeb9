// Positions in arrays wrap on a GPU as they do everywhere: what CUDA C++ computes as signed arithmetic comes to
// the same, or to a position that no array has by either rule.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { type Expression, narrowIndexLimit, type Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { factsOf } from '#warpstage/targets/analysis/facts.js';
import { isBounded } from '#warpstage/targets/analysis/values.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { positionText } from '#warpstage/targets/cuda/positions.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { atLength } from '../support/thorough.ts';

const block = 64;
const schema = { y: 'i32[]', x: 'readonly i32[]', u8: 'readonly u8[]', n: 'index', m: 'i32' } as const;

function programOf(body: string): Program {
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => { ${body} }`;
  const made = kernel(schema, new Function(`return ${text}`)(), { name: 'positions' });
  return specialise(made, { block: [block, 1, 1], indexType: 'i32', constants: {}, functions: {} }).program;
}

const leaves = [
  'n',
  'm',
  '1',
  '2',
  '-1',
  'cuda.index(2147483647)',
  'cuda.index(-2147483648)',
  'cuda.index(65536)',
  'cuda.threadIdx.x',
  'cuda.blockIdx.x',
  'cuda.gridDim.x * 64',
  'cuda.thisGrid().threadRank()',
  'cuda.thisGrid().size()',
  'x.length',
  '(n % 128)',
  'Math.max(n, 0)',
];

function position(tape: Tape, depth: number): string {
  if (depth === 0) return tape.pick(leaves);
  const [a, b] = [position(tape, depth - 1), position(tape, depth - 1)];
  return tape.pick([
    a,
    `(${a} + ${b})`,
    `(${a} - ${b})`,
    `(${a} * ${b})`,
    `(${a} + ${b} + 1)`,
    `(${a} + ${b} - 1)`,
  ]);
}

/** What a thread finds: the grid has fewer than 2^31 threads, and lengths and indices are below their limit. */
type World = { readonly n: number; readonly m: number; readonly length: number } & Readonly<
  Record<string, number>
>;

const near = (tape: Tape) =>
  (tape.pick([0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 30, -(2 ** 30), 65_536]) + tape.below(5) - 2) | 0;

function world(tape: Tape): World {
  let most = Math.floor((2 ** 31 - 1) / block);
  const grid = ['x', 'y', 'z'].flatMap((axis) => {
    const extent = tape.pick([1, most, 2, Math.max(1, Math.floor(Math.sqrt(most)))]);
    const count = Math.min(extent, most);
    most = Math.floor(most / count);
    return [
      [`gridDim.${axis}`, count],
      [`blockIdx.${axis}`, tape.pick([0, count - 1])],
    ] as const;
  });
  const thread = tape.pick([0, block - 1]);
  const length = tape.pick([narrowIndexLimit - 1, 1, 100]);
  return {
    n: Math.max(-narrowIndexLimit, Math.min(near(tape), narrowIndexLimit - 1)),
    m: near(tape),
    length,
    threadRank: thread,
    'threadIdx.x': thread,
    ...Object.fromEntries(grid),
  };
}

/** The value as the language has it: modulo 2^32 at each step. */
function wrapped(program: Program, expression: Expression, given: World): number {
  const of = (one: Expression) => wrapped(program, one, given);
  switch (expression.kind) {
    case 'constant':
      return Number(expression.value);
    case 'scalar':
      return given[program.parameters[expression.id]!.name]!;
    case 'builtin':
      return given[expression.name]!;
    case 'length':
      return given.length;
    case 'convert':
      return of(expression.operand);
    case 'binary': {
      const [a, b] = [of(expression.left), of(expression.right)];
      switch (expression.operator) {
        case 'add':
          return (a + b) | 0;
        case 'subtract':
          return (a - b) | 0;
        case 'multiply':
          return Math.imul(a, b);
        case 'remainder':
          return (a % b) | 0;
        case 'max':
          return Math.max(a, b);
      }
    }
  }
  throw new Error(`not in these tests: ${JSON.stringify(expression)}`);
}

/** The index of the program's only store. */
function storedAt(program: Program): Expression {
  const store = program.body.find(({ kind }) => kind === 'store');
  if (store?.kind !== 'store') throw new Error('no store');
  return store.index;
}

/** The value of the C++, whose signed operations are exact. */
function exact(program: Program, index: Expression, given: World): bigint {
  const parts: Expression[] = [];
  const text = positionText(index, factsOf(program).at(null), (part) => `w[${parts.push(part) - 1}]`);
  const w = parts.map((part) => BigInt(wrapped(program, part, given)));
  return new Function('w', `return ${text}`)(w);
}

test('a position that is signed arithmetic is the one that wraps, or is no position', () => {
  let signed = 0;
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const text = `y[${position(tape, 3)}] = 1;`;
      const program = programOf(text);
      const index = storedAt(program);
      if (!positionText(index, factsOf(program).at(null), () => 'w').startsWith('w')) signed += 1;
      for (let worlds = 0; worlds < 20; worlds += 1) {
        const given = world(tape);
        const expected = wrapped(program, index, given);
        const actual = exact(program, index, given);
        const isPosition = (value: number | bigint) => value >= 0 && value < 2 ** 31 - 1;
        if (isPosition(expected) || isPosition(actual)) {
          expect(actual, `${text} ${JSON.stringify(given)}`).toBe(BigInt(expected));
        }
      }
    }),
    randomRuns(atLength ? 150 : 75),
  );
  expect(signed).toBeGreaterThan(15);
});

test('a position lies between the bounds that are known of it', () => {
  let bounded = 0;
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const text = `y[${position(tape, 3)}] = 1;`;
      const program = programOf(text);
      const index = storedAt(program);
      const { least, most } = factsOf(program).at(null)(index);
      if (isBounded({ least, most }, 'i32')) bounded += 1;
      for (let worlds = 0; worlds < 20; worlds += 1) {
        const given = world(tape);
        const value = wrapped(program, index, given);
        expect(value, `${text} ${JSON.stringify(given)}`).toBeGreaterThanOrEqual(least);
        expect(value, `${text} ${JSON.stringify(given)}`).toBeLessThanOrEqual(most);
      }
    }),
    randomRuns(atLength ? 150 : 75),
  );
  expect(bounded).toBeGreaterThan(7);
});

describe('as C++', () => {
  const lineOf = (body: string, indexType: 'i32' | 'i64' = 'i32') => {
    const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => { const t = cuda.threadIdx.x; ${body} }`;
    const made = kernel(schema, new Function(`return ${text}`)(), { name: 'positions' });
    const { program } = specialise(made, { block: [block, 1, 1], indexType, constants: {}, functions: {} });
    return cudaText(program, 90)
      .split('\n')
      .find((line) => line.includes('g_y_0['))!
      .trim();
  };

  test.each([
    [
      'a difference of what may be anything wraps',
      'y[t * n - t * n + t] = 0;',
      'g_y_0[((int)((unsigned)(int)((unsigned)(int)ws_thread_rank * (unsigned)n_3) - (unsigned)(int)((unsigned)(int)ws_thread_rank * (unsigned)n_3)) + (int)ws_thread_rank)]',
    ],
    [
      'a product of what may be anything wraps, and what is added need not',
      'y[n * m + t] = 0;',
      'g_y_0[((int)((unsigned)n_3 * (unsigned)m_4) + (int)ws_thread_rank)]',
    ],
    [
      'the rank in the grid does not wrap',
      'y[cuda.blockIdx.x * 64 + t] = 0;',
      'g_y_0[(((int)blockIdx.x * 64) + (int)ws_thread_rank)]',
    ],
    [
      'a neighbour does not wrap',
      'y[cuda.blockIdx.x * 64 + t - 1] = 0;',
      'g_y_0[((((int)blockIdx.x * 64) + (int)ws_thread_rank) - 1)]',
    ],
    [
      'a remainder of a sum that may wrap is signed',
      'y[0] = (t + 2147483647) % 7;',
      '(int)((int)((unsigned)(int)ws_thread_rank + (unsigned)2147483647) % 7)',
    ],
    [
      'a counter that starts near the limit may wrap',
      'let k = 2147483640; while (k > 7) k++; y[0] = k % 7;',
      '(int)(k_0 % 7)',
    ],
  ])('%s', (_, body, expected) => {
    expect(lineOf(body)).toContain(expected);
  });
});
