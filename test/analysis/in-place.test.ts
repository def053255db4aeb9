// Arrays that may lie in one place: a kernel gives the same with the output in its input's place, whatever it does.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { inPlacePairs } from '#warpstage/targets/analysis/in-place.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  block,
  compare,
  conditional,
  constant,
  convert,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  print,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const threads = 32;
const grid = 3;
const length = 256;
const names = ['x', 'w', 'y', 'z'] as const;

/** A kernel that loads and stores at one index, or at several, in any order. */
function randomKernel(tape: Tape): Program {
  const p = new ProgramBuilder('anywhere', [threads, 1, 1]);
  const from = [p.array('x', 'i32', 'readonly'), p.array('w', 'i32', 'readonly')];
  const into = [p.array('y', 'i32'), p.array('z', 'i32')];
  const n = p.scalar('n', 'i32');
  const [i, j, kept, turn] = ['i', 'j', 'kept', 'turn'].map((name) => p.variable(name, 'i32')) as [
    ReturnType<typeof p.variable>,
    ReturnType<typeof p.variable>,
    ReturnType<typeof p.variable>,
    ReturnType<typeof p.variable>,
  ];
  const rank = p.builtin('threadRank');
  const own = () =>
    tape.pick([
      () => p.gridRank(),
      () => p.gridRank(),
      () => add(p.builtin('threadIdx.x'), multiply(p.index(threads), p.builtin('blockIdx.x'))),
      () => add(n, p.gridRank()),
      () => convert(convert(p.gridRank(), 'u32'), 'i32'),
    ])();
  const shared = () =>
    tape.pick([
      () => add(multiply(p.builtin('blockIdx.x'), p.index(16)), rank),
      () => add(multiply(p.builtin('blockIdx.x'), p.index(threads)), binary('divide', rank, p.index(2))),
      () => multiply(rank, p.builtin('blockIdx.x')),
      () => binary('and', p.gridRank(), p.index(63)),
      () => rank,
      () => n,
    ])();
  const plain = tape.chance(3, 4);
  const otherwise = tape.chance(1, 8);
  const first = i.set(plain ? own() : shared());
  const at = () =>
    plain && !tape.chance(1, 40) ? i.value : tape.pick([i.value, j.value, add(i.value, p.index(1))]);
  const mix = (value: Expression) => kept.set(add(multiply(kept.value, p.index(3)), value));
  const loads = () => mix(load(tape.pick(from), at()));
  const stores = () => store(tape.pick(into), at(), add(kept.value, load(tape.pick(from), at())));
  const some = (depth: number): Statement =>
    tape.pick([
      loads,
      loads,
      stores,
      () => store(tape.pick(into), at(), kept.value),
      () => mix(conditional(compare('less', kept.value, n), load(tape.pick(from), at()), rank)),
      () => (otherwise ? mix(load(tape.pick(into), at())) : mix(rank)),
      () => (otherwise ? store(tape.pick(from), at(), kept.value) : mix(i.value)),
      () => (otherwise ? atomic('add', [tape.pick(into), at()], kept.value) : mix(n)),
      () =>
        depth > 0 ? when(compare('less', load(tape.pick(from), at()), kept.value), list(depth - 1)) : loads(),
      () => {
        if (depth === 0) return loads();
        const test = compare(
          'less',
          add(turn.value, binary('and', load(tape.pick(from), at()), p.index(1))),
          p.index(3),
        );
        return loop(p.label(), test, list(depth - 1), [turn.set(add(turn.value, p.index(1)))]);
      },
    ])();
  const list = (depth: number): Statement[] => Array.from({ length: 1 + tape.below(3) }, () => some(depth));
  const label = p.label();
  // Half of them read before they write, and do at most one thing more.
  const reading = () => tape.pick([loads, loads, () => when(compare('less', kept.value, n), [loads()])])();
  const body = tape.chance(1, 2)
    ? [
        reading(),
        reading(),
        store(tape.pick(into), at(), kept.value),
        ...(tape.chance(1, 4) ? [some(1)] : []),
      ]
    : [...list(2), ...(otherwise ? [sync()] : []), ...list(1)];
  return p.build([
    ...(tape.chance(1, 16) ? list(0) : []),
    tape.chance(1, 16) ? when(compare('less', rank, p.index(20)), [first]) : first,
    j.set(i.value),
    ...(tape.chance(1, 16) ? [i.set(add(i.value, p.index(tape.below(2))))] : []),
    block(label, [when(compare('less', p.index(200), i.value), [leave('break', label)]), ...body]),
  ]);
}

/** What a kernel leaves in all arrays: each by itself, or an output where an input is. */
function outcome(target: Target, program: Program, pairs: readonly { input: number; output: number }[]) {
  const run = (isTogether: boolean) => {
    const arrays = names.map((_, k) =>
      Int32Array.from({ length }, (_, at) => Math.imul(at + 40 * k, 40_503) >> 5),
    );
    // By itself an output has at first what its input has.
    for (const { input, output } of pairs)
      arrays[output] = isTogether ? arrays[input]! : arrays[input]!.slice();
    const given = Object.fromEntries(names.map((name, k) => [name, arrays[k]!]));
    const { fault } = runProgram(target, program, { grid, arguments: { ...given, n: 5 } });
    return { fault, results: arrays.slice(2).map(bitsOf) };
  };
  return { apart: run(false), together: run(true) };
}

describe('nobody can tell that an output is in the place of an input', () => {
  test.each([interpreter('eager'), wasm, wasmStates])('by $name', (target) => {
    let [runs, allowed, told] = [0, 0, 0];
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const program = randomKernel(tape);
        const pairs = inPlacePairs(program);
        runs += 1;
        if (pairs.length > 0) allowed += 1;
        const both = pairs.filter(({ input, output }, at) =>
          pairs.slice(0, at).every((other) => other.input !== input && other.output !== output),
        );
        for (const some of pairs.length > 1
          ? [...pairs.map((pair) => [pair]), both]
          : pairs.map((pair) => [pair])) {
          const { apart, together } = outcome(target, program, some);
          expect(together, printProgram(program)).toEqual(apart);
        }
        for (const input of [0, 1])
          for (const output of [2, 3]) {
            if (pairs.some((pair) => pair.input === input && pair.output === output)) continue;
            const { apart, together } = outcome(target, program, [{ input, output }]);
            if (together.fault === null && together.results.join() !== apart.results.join()) told += 1;
          }
      }),
      randomRuns(400),
    );
    // The programs have many pairs that may, and many that may not.
    expect(allowed).toBeGreaterThan(runs / 8);
    expect(told).toBeGreaterThan(runs / 5);
  });
});

/** A kernel of one statement behind the index. */
function kernelOf(
  make: (p: ProgramBuilder, i: Expression) => readonly Statement[],
  {
    elements = ['f32', 'f32'] as ['f32' | 'f64' | 'i32', 'f32' | 'f64' | 'i32'],
    shape = [threads, 1, 1] as [number, number, number],
  } = {},
): Program {
  const p = new ProgramBuilder('one', shape);
  p.array('y', elements[0]);
  p.array('x', elements[1], 'readonly');
  const i = p.variable('i', 'i32');
  return p.build([i.set(p.gridRank()), ...make(p, i.value)]);
}

const y = { space: 'global', id: 0, element: 'f32' } as const;
const x = { space: 'global', id: 1, element: 'f32' } as const;
const copied = (_: ProgramBuilder, i: Expression) => [store(y, i, load(x, i))];

test('a kernel that computes an element from an element may', () => {
  expect(inPlacePairs(kernelOf(copied))).toEqual([{ input: 1, output: 0 }]);
  const guarded = kernelOf((p, i) => [when(compare('less', i, p.length(y)), copied(p, i)), print('done')]);
  expect(inPlacePairs(guarded)).toEqual([{ input: 1, output: 0 }]);
  const other = kernelOf((_, i) => [store({ ...y, element: 'i32' }, i, convert(load(x, i), 'i32'))], {
    elements: ['i32', 'f32'],
  });
  expect(inPlacePairs(other)).toEqual([{ input: 1, output: 0 }]);
});

test.each<[string, Program]>([
  [
    'of elements of two lengths',
    kernelOf((_, i) => [store({ ...y, element: 'f64' }, i, convert(load(x, i), 'f64'))], {
      elements: ['f64', 'f32'],
    }),
  ],
  ['of a block of two dimensions', kernelOf(copied, { shape: [16, 2, 1] })],
  [
    'that sees the input as other elements',
    kernelOf((_, i) => [
      store(y, i, { ...load(x, i), array: { space: 'global', id: 1, as: 'f32' } } as Expression),
    ]),
  ],
  ['whose threads meet', kernelOf((p, i) => [...copied(p, i), sync()])],
  ['that adds to its output', kernelOf((_, i) => [store(y, i, add(load(y, i), load(x, i)))])],
  ['that stores a constant alone', kernelOf((_, i) => [store(y, i, constant('f32', 1))])],
  [
    'whose threads have an element together',
    kernelOf((p) => {
      const first = multiply(p.builtin('blockIdx.x'), p.index(threads));
      return [store(y, first, load(x, first))];
    }),
  ],
  ['that reads the next element', kernelOf((p, i) => [store(y, i, load(x, add(i, p.index(1))))])],
  [
    'whose rows have elements together',
    kernelOf(
      (p) => {
        const at = add(multiply(p.builtin('blockIdx.x'), p.index(16)), p.builtin('threadIdx.x'));
        return [store(y, at, load(x, at))];
      },
      { shape: [16, 2, 1] },
    ),
  ],
  [
    'whose index is multiplied by what is not known',
    kernelOf((p) => {
      const at = add(p.gridRank(), multiply(p.builtin('gridDim.x'), p.builtin('threadRank')));
      return [store(y, at, load(x, at))];
    }),
  ],
])('a kernel may not %s', (_, program) => {
  expect(inPlacePairs(program)).toEqual([]);
});

test('chains of definitions and loops in loops take no time of their own', () => {
  const p = new ProgramBuilder('chain', threads);
  const at = p.variable('at', 'i32');
  let last = at.value;
  const chain = Array.from({ length: 60 }, (_, k) => {
    const next = p.variable(`v${k}`, 'i32');
    const assigned = next.set(add(last, last));
    last = next.value;
    return assigned;
  });
  const [into, from] = [p.array('y', 'f32'), p.array('x', 'f32', 'readonly')];
  let nested: Statement = store(into, at.value, load(from, at.value));
  for (let depth = 0; depth < 40; ++depth) nested = loop(p.label(), constant('bool', false), [nested]);
  const after = store(into, last, constant('f32', 1));
  expect(inPlacePairs(p.build([at.set(p.gridRank()), ...chain, nested, after]))).toEqual([]);
});
