// Loops of threads that stride over the grid, in slices at which blocks take turns: each thread has the turns that it had, finds what it
// left, and faults where it did. WebAssembly gives what the interpreter gives, with this pass and without it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { programAfter } from '#warpstage/targets/legalise/cpu/lower.js';
import { compileWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  finish,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  subtract,
  when,
} from '../support/ir.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { type Launch, launches, outcome, randomStride, threads } from './random-slices.ts';

const blocksInTurn = (program: Program, without: readonly ['slices'] | [] = []) =>
  compileWasm(program, { without }).blocksInTurn ?? 1;

/** Whether the turns of a whole slice stand one after the other, and none is counted. */
function isInRow(program: Program): boolean {
  const sliced = programAfter(program, 'slices', []);
  return 'program' in sliced && sliced.program.variables.some(({ name }) => name === 'from.1');
}

test.each([wasm, wasmWithout('slices')])('random loops of threads, by $name', (target) => {
  let [runs, inSlices, inRows, faults] = [0, 0, 0, 0];
  fc.assert(
    fc.property(tapes(60), launches, (tape, launch) => {
      const program = randomStride(tape);
      const expected = outcome(interpreter('eager'), program, launch);
      expect(outcome(target, program, launch), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.fault !== null) faults += 1;
      if (blocksInTurn(program) > 1 && blocksInTurn(program, ['slices']) === 1) inSlices += 1;
      if (isInRow(program)) inRows += 1;
    }),
    randomRuns(80),
  );
  expect(faults).toBeGreaterThan(runs / 20);
  expect(faults).toBeLessThan(0.7 * runs);
  expect(inSlices).toBeGreaterThan(runs / 4);
  expect(inRows).toBeGreaterThan(runs / 10);
  expect(inRows).toBeLessThan(inSlices);
});

/** A loop that strides, with something in it, or else. */
function striding(
  what: (p: ProgramBuilder, at: Expression, label: number) => readonly Statement[],
  { limit, after }: { limit?: (p: ProgramBuilder) => Expression; after?: (i: Expression) => Expression } = {},
): Program {
  const p = new ProgramBuilder('striding', [threads, 1, 1]);
  const out = p.array('out', 'i32');
  const n = p.scalar('n', 'i32');
  const i = p.variable('i', 'i32');
  const rank = p.builtin('threadRank');
  const label = p.label();
  const at = add(i.value, rank);
  return p.build([
    i.set(multiply(p.builtin('blockIdx.x'), p.index(threads))),
    loop(
      label,
      compare('less', at, limit?.(p) ?? n),
      [store(out, at, rank), ...what(p, at, label)],
      [i.set(add(i.value, multiply(p.builtin('gridDim.x'), p.index(threads))))],
    ),
    store(out, rank, after?.(i.value) ?? rank),
  ]);
}

test('a loop stays whole where a slice would show, or its turns could fail', () => {
  const inSlices = (program: Program) => blocksInTurn(program) > 1;
  expect(inSlices(striding(() => []))).toBe(true);
  expect(
    inSlices(striding((p) => [atomic('add', [p.shared('sums', 'i32', 1), p.index(0)], p.index(1))])),
  ).toBe(true);
  const found = (p: ProgramBuilder) => p.variable('found', 'i32');
  const whole: Parameters<typeof striding>[] = [
    [(p, at, label) => [when(compare('equal', at, p.index(77)), [leave('break', label)])]],
    [(p, at) => [when(compare('equal', at, p.index(77)), [finish()])]],
    [(p) => [store(p.array('places', 'i32'), found(p).value, p.index(1))]],
    [(p, at) => [store(p.array('places', 'i32'), multiply(at, p.index(2)), p.index(1))]],
    [(p, at) => [store(p.array('places', 'i32'), subtract(p.index(0), at), p.index(1))]],
    [(p) => [store(p.shared('places', 'i32', threads - 1), p.builtin('threadRank'), p.index(1))]],
    [(p, at) => [found(p).set(binary('divide', at, found(p).value))]],
    [(p, at) => [atomic('add', [p.array('totals', 'i32'), at], p.index(1), { result: found(p) })]],
    [(p) => [atomic('add', [p.shared('sums', 'f32', 1), p.index(0)], constant('f32', 0.1))]],
    [(p) => [atomic('exch', [p.shared('last', 'i32', 1), p.index(0)], p.builtin('threadRank'))]],
    [() => [], { limit: (p) => add(p.builtin('threadRank'), p.index(400)) }],
    [() => [], { after: (i) => i }],
  ];
  for (const each of whole) expect(inSlices(striding(...each)), String(each[0])).toBe(false);
});

/** Threads count their turns, and read what lies `offset` from their elements where `reads` holds. */
function counting(offset = 0, reads?: (p: ProgramBuilder, i: Expression) => Expression): Program {
  const p = new ProgramBuilder('counting', [threads, 1, 1]);
  const [out, x] = [p.array('out', 'i32'), p.array('x', 'i32', 'readonly')];
  p.array('y', 'i32');
  p.array('bytes', 'u8', 'readonly');
  const [n, first, stride] = [p.scalar('n', 'i32'), p.scalar('first', 'i32'), p.scalar('stride', 'i32')];
  const [i, count] = [p.variable('i', 'i32'), p.variable('count', 'i32')];
  const at = add(i.value, p.builtin('threadRank'));
  const read = count.set(add(count.value, load(x, add(at, p.index(offset)))));
  return p.build([
    i.set(add(first, multiply(p.builtin('blockIdx.x'), p.index(threads)))),
    loop(
      p.label(),
      compare('less', at, n),
      [count.set(add(count.value, p.index(1))), ...(reads ? [when(reads(p, i.value), [read])] : [read])],
      [i.set(add(i.value, multiply(p.builtin('gridDim.x'), stride)))],
    ),
    store(out, p.gridRank(), count.value),
  ]);
}

function expectSame(program: Program, launch: Launch) {
  expect(blocksInTurn(program)).toBeGreaterThan(1);
  const expected = outcome(interpreter('eager'), program, launch);
  expect(outcome(wasm, program, launch)).toEqual(expected);
  return expected.fault;
}

test.each([1, 5, 31, 32, 33, 100])('each thread has as many turns with a stride of %i', (stride) => {
  for (const n of [0, 1, 127, 128, 129, 700])
    expect(expectSame(counting(), { grid: 1, n, first: 0, stride, length: 700 })).toBeNull();
});

test('of threads that fail in different turns, the first is told, whatever lies outside', () => {
  // Thread 28 in the fourth turn, thread 0 in the fifth.
  const behind = { grid: 1, n: 320, first: 0, stride: threads, length: 424 };
  expect(expectSame(counting(300), behind)).toMatchObject({ thread: [0, 0, 0], index: 424 + 4 });
  // Thread 1 at once, thread 0 later.
  const before = { ...behind, first: -400 };
  const later = (p: ProgramBuilder, i: Expression) =>
    compare('less', p.index(-200), add(i, multiply(p.builtin('threadRank'), p.index(1000))));
  expect(expectSame(counting(0, later), before)).toMatchObject({ thread: [0, 0, 0] });
  const shifted = { ...behind, first: 0 };
  const onlyFirst = (p: ProgramBuilder, i: Expression) =>
    compare('less', p.index(90), add(i, multiply(p.builtin('threadRank'), p.index(1000))));
  expect(expectSame(counting(-250, onlyFirst), shifted)).toMatchObject({ thread: [0, 0, 0] });
});
