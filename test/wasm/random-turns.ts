// Random programs whose blocks have a loop that strides over the grid, and what a target leaves of them.

import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import type { Tape } from '../differential/tape.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  convert,
  finish,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';

export const threads = 8;
const mostRounds = 14;

/** A loop at which blocks meet again and again, each for as many rounds as it has, with what it keeps from round to round. */
export function randomStrides(tape: Tape): Program {
  const p = new ProgramBuilder('strides', [threads, 1, 1]);
  const [out, places, totals] = [p.array('out', 'i32'), p.array('places', 'i32'), p.array('totals', 'i32')];
  const input = p.array('input', 'i32', 'readonly');
  const n = p.scalar('n', 'i32');
  const [shared, sums] = [p.shared('shared', 'i32', threads), p.shared('sums', 'f64', threads)];
  const row = p.local('row', 'i32', 2);
  const rank = p.builtin('threadRank');
  const block = p.builtin('blockIdx.x');
  const next = binary('remainder', add(rank, p.index(1)), p.index(threads));
  const [round, limit, at] = [
    p.variable('round', 'i32'),
    p.variable('limit', 'i32'),
    p.variable('at', 'i32'),
  ];
  const first = p.variable('first', 'i32');
  const [kept, wide, real] = [
    p.variable('kept', 'i32'),
    p.variable('wide', 'i64'),
    p.variable('real', 'f64'),
  ];
  const place = add(at.value, rank);
  const label = p.label();
  // All blocks have the same rounds, and the same values of their own in each.
  const alike = tape.chance(1, 2);
  // But where a test is the block's, and what it leads to.
  const other = () => (tape.chance(1, 8) ? block : round.value);
  /** Of the block. */
  const ofBlock = (): Statement =>
    tape.pick<() => Statement>([
      () => wide.set(add(multiply(wide.value, constant('i64', 3n)), convert(round.value, 'i64'))),
      () => real.set(add(multiply(real.value, constant('f64', 0.5)), convert(round.value, 'f64'))),
      () => limit.set(binary('min', limit.value, add(round.value, p.index(6)))),
      () =>
        when(
          compare('equal', binary('and', add(round.value, alike ? other() : block), p.index(7)), p.index(6)),
          [
            alike
              ? wide.set(add(wide.value, constant('i64', 5n)))
              : tape.pick([() => leave('break', label), () => leave('continue', label), finish])(),
          ],
        ),
    ])();
  /** Of each thread: to its own elements. */
  const ofThread = (): Statement =>
    tape.pick<() => Statement>([
      () => kept.set(add(multiply(kept.value, p.index(5)), load(input, place))),
      () => store(shared, rank, add(load(shared, rank), add(kept.value, round.value))),
      () => store(sums, rank, add(load(sums, rank), real.value)),
      () => store(row, p.index(1), add(load(row, p.index(0)), load(row, p.index(1)))),
      () => store(places, place, add(load(places, place), add(kept.value, convert(wide.value, 'i32')))),
      () => atomic('add', [totals, rank], kept.value),
      // Outside of the array, in some rounds of some blocks.
      () => kept.set(load(input, add(place, multiply(round.value, p.index(tape.pick([0, 400])))))),
    ])();
  const several = (make: () => Statement, most: number) => Array.from({ length: 1 + tape.below(most) }, make);
  const begin = p.index(threads);
  const turn = [
    at.set(add(multiply(multiply(round.value, p.builtin('gridDim.x')), begin), first.value)),
    ...several(ofBlock, 2),
    ...several(ofThread, 3),
    sync(),
    kept.set(add(kept.value, load(shared, next))),
    sync(),
    ...several(ofThread, 2),
  ];
  const step = round.set(add(round.value, p.index(1)));
  const isAsked = tape.chance(1, 4);
  const sum = (...values: Expression[]) => values.reduce((a, b) => add(a, b));
  return p.build([
    kept.set(rank),
    store(row, p.index(0), add(block, rank)),
    store(row, p.index(1), n),
    store(shared, rank, multiply(rank, rank)),
    store(sums, rank, constant('f64', 1)),
    wide.set(convert(alike ? n : block, 'i64')),
    limit.set(add(n, binary('and', multiply(alike ? n : block, p.index(5)), p.index(7)))),
    round.set(p.index(0)),
    first.set(multiply(block, begin)),
    sync(),
    loop(label, compare('less', round.value, limit.value), turn, [step], !isAsked),
    store(
      out,
      p.gridRank(),
      sum(
        kept.value,
        load(shared, rank),
        load(row, p.index(1)),
        convert(wide.value, 'i32'),
        convert(add(load(sums, rank), real.value), 'i32'),
        round.value,
      ),
    ),
  ]);
}

interface Launch {
  readonly grid: number;
  readonly n: number;
}

/** What a target leaves of a launch. */
export function outcome(target: Target, program: Program, { grid, n }: Launch) {
  const all = grid * threads;
  const [out, places] = [new Int32Array(all), new Int32Array(all * mostRounds)];
  const totals = new Int32Array(threads);
  const input = Int32Array.from({ length: all * mostRounds }, (_, i) => Math.imul(i, 40_503) >> 9);
  const { fault } = runProgram(target, program, { grid, arguments: { out, places, totals, input, n } });
  return {
    fault: fault && { kind: fault.kind, block: fault.block },
    results: fault === null ? [bitsOf(out), bitsOf(places), bitsOf(totals)] : null,
  };
}
