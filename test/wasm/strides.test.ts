// Loops that stride over arrays, and tests that compare what grows from lane to lane with what lanes share: groups take
// more threads, and ask the first lane for all. WebAssembly gives what the interpreter gives, with these passes and without.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  conditional,
  constant,
  convert,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  unary,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const blocks = [
  [128, 1, 1],
  [64, 1, 1],
  [192, 1, 1],
  [64, 2, 1],
  [40, 1, 1],
] as const;
const edges = [
  0,
  3,
  60,
  -70,
  127,
  2 ** 31 - 1,
  2 ** 31 - 40,
  2 ** 31 - 65,
  -(2 ** 31),
  20 - 2 ** 31,
  90 - 2 ** 31,
];

/** Sums in grid-stride order, stored where a test holds. */
function randomStrides(tape: Tape): Program {
  const p = new ProgramBuilder('strides', [...tape.pick(blocks)]);
  const out = p.array('out', 'i32');
  const other = p.array('other', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const bytes = p.array('bytes', 'u8', 'readonly');
  const [limit, start, bound] = [
    p.scalar('limit', 'i32'),
    p.scalar('start', 'i32'),
    p.scalar('bound', 'i32'),
  ];
  const [i, sum, label] = [p.variable('i', 'i32'), p.variable('sum', 'i32'), p.label()];
  const threads = p.index(p.blockSize);
  const step = tape.pick([
    multiply(p.builtin('gridDim.x'), threads),
    threads,
    p.index(4),
    multiply(p.index(-1), threads),
  ]);
  const more = comparison(tape, i.value, tape.pick([p.length(x), limit]));
  const inside = compare('greaterEqual', i.value, p.index(0));
  const both = (left: Expression, right: Expression) => conditional(left, right, constant('bool', false));
  const either = (left: Expression, right: Expression) => conditional(left, constant('bool', true), right);
  const each = tape.pick<Statement>([
    sum.set(add(multiply(sum.value, p.index(31)), load(x, i.value))),
    sum.set(add(multiply(sum.value, p.index(31)), load(bytes, i.value))),
  ]);
  const turn = tape.pick<readonly Statement[]>([
    [each],
    [each, when(compare('less', load(bytes, i.value), p.index(90)), [sum.set(add(sum.value, i.value))])],
    [each, sum.set(binary('xor', sum.value, load(x, binary('and', i.value, p.index(63)))))],
  ]);
  const rank = p.gridRank();
  const moved = add(tape.pick([rank, p.builtin('threadIdx.x'), p.builtin('threadRank')]), start);
  const tested = comparison(tape, moved, tape.pick([bound, p.index(tape.pick(edges))]));
  const guarded = tape.pick([
    tested,
    both(tested, compare('less', limit, p.index(900))),
    unary('not', tested),
    either(tested, compare('less', limit, p.index(900))),
    either(comparison(tape, moved, tape.pick([bound, p.index(tape.pick(edges))])), tested),
    either(either(compare('less', limit, p.index(3)), comparison(tape, moved, limit)), tested),
    comparison(tape, moved, convert(p.builtin('threadIdx.y'), 'i32')),
  ]);
  return p.build([
    i.set(rank),
    loop(label, tape.pick([both(more, inside), both(inside, more)]), turn, [i.set(add(i.value, step))]),
    when(
      guarded,
      tape.pick<readonly Statement[]>([[store(out, rank, sum.value)], []]),
      tape.pick<readonly Statement[]>([[], [store(other, rank, sum.value)]]),
    ),
  ]);
}

function comparison(tape: Tape, left: Expression, right: Expression): Expression {
  const operator = tape.pick(['less', 'lessEqual', 'greater', 'greaterEqual'] as const);
  const compared = tape.chance(1, 3) ? compare(operator, right, left) : compare(operator, left, right);
  return tape.chance(1, 4) ? unary('not', compared) : compared;
}

const grid = 2;

interface Inputs {
  readonly length: number;
  readonly start: number;
  readonly bound: number;
}

function outcome(target: Target, program: Program, { length, start, bound }: Inputs) {
  const threads = grid * program.block[0] * program.block[1];
  const [out, other] = [new Int32Array(threads), new Int32Array(threads)];
  const x = Int32Array.from({ length }, (_, i) => (i * 2_654_435_761) >> (i % 32));
  const bytes = Uint8Array.from({ length }, (_, i) => i * 37);
  const { fault } = runProgram(target, program, {
    grid,
    arguments: { out, other, x, bytes, limit: 700, start, bound },
  });
  const place = fault && { kind: fault.kind, block: fault.block };
  return { place, results: fault === null ? [bitsOf(out), bitsOf(other)] : null };
}

test.each<[string, OptionalCpuPass | null]>([
  ['all passes', null],
  ['no first and last lanes', 'ends'],
  ['no wide groups', 'wide'],
])('random strides, by %s', (_, without) => {
  const target = without === null ? wasm : wasmWithout(without);
  const changed = { ends: 0, wide: 0 };
  let [runs, faults] = [0, 0];
  const inputs = fc.record({
    length: fc.constantFrom(1000, 701, 600),
    start: fc.constantFrom(...edges),
    bound: fc.constantFrom(...edges),
  });
  fc.assert(
    fc.property(tapes(24), inputs, (tape, given) => {
      const program = randomStrides(tape);
      const expected = outcome(interpreter('eager'), program, given);
      expect(outcome(target, program, given), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.place !== null) faults += 1;
      if (without !== null) return;
      const bytes = wasmBytes(program);
      for (const pass of ['ends', 'wide'] as const) {
        if (!Buffer.from(bytes).equals(wasmBytes(program, { without: [pass] }))) changed[pass] += 1;
      }
    }),
    randomRuns(80),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs);
  if (without !== null) return;
  expect(changed.ends).toBeGreaterThan(runs / 3);
  expect(changed.wide).toBeGreaterThan(runs / 6);
});

/** Threads whose value is below a bound, or not above it, store it; the others do not. */
function below(operator: 'less' | 'lessEqual') {
  const p = new ProgramBuilder('below', [64, 1, 1]);
  const out = p.array('out', 'i32');
  const [start, bound, rank] = [p.scalar('start', 'i32'), p.scalar('bound', 'i32'), p.gridRank()];
  const value = add(rank, start);
  return p.build([when(compare(operator, value, bound), [store(out, rank, value)])]);
}

test.each([
  ['between the lanes', 0, 37],
  ['at the last lane but one', 0, 62],
  ['at the last lane', 0, 63],
  ['behind the last lane', 0, 64],
  ['where values wrap', 2 ** 31 - 20, 2 ** 31 - 1],
  ['at the least integer', -(2 ** 31), 5 - 2 ** 31],
])('a bound %s', (_, start, bound) => {
  const run = (target: Target, operator: 'less' | 'lessEqual') => {
    const out = new Int32Array(64);
    runProgram(target, below(operator), { grid: 1, arguments: { out, start, bound } });
    return bitsOf(out);
  };
  for (const operator of ['less', 'lessEqual'] as const) {
    expect(run(wasm, operator), operator).toEqual(run(interpreter('eager'), operator));
  }
});
