// Random programs whose threads have a loop that strides over the grid, and what a target leaves of them.

import fc from 'fast-check';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import type { Tape } from '../differential/tape.ts';
import {
  add,
  atomic,
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
  sync,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';

export const threads = 32;

/** `for (i = first + block * threads; i + rank < n; i += stride * grid)`, with what keeps values from turn to turn. */
export function randomStride(tape: Tape): Program {
  const p = new ProgramBuilder('strides', [threads, 1, 1]);
  const [out, y] = [p.array('out', 'i32'), p.array('y', 'i32')];
  const [x, bytes] = [p.array('x', 'i32', 'readonly'), p.array('bytes', 'u8', 'readonly')];
  const [n, first, stride] = [p.scalar('n', 'i32'), p.scalar('first', 'i32'), p.scalar('stride', 'i32')];
  const [bins, sums] = [p.shared('bins', 'i32', 256), p.shared('sums', 'f64', threads)];
  const rank = p.builtin('threadRank');
  const [i, kept, real, seen] = [
    p.variable('i', 'i32'),
    p.variable('kept', 'i32'),
    p.variable('real', 'f64'),
    p.variable('seen', 'i32'),
  ];
  const at = (offset = 0) => add(add(i.value, rank), p.index(offset));
  const mix = (value: Expression) => kept.set(add(multiply(kept.value, p.index(5)), value));
  const accesses: (() => Statement)[] = [
    () => mix(load(x, at())),
    () => atomic('add', [bins, load(bytes, at())], p.index(1)),
    () => real.set(add(multiply(real.value, constant('f64', 0.5)), convert(load(x, at()), 'f64'))),
    () => mix(load(x, at(tape.pick([1, 7, -1, -2, 300])))),
    () => store(sums, rank, add(load(sums, rank), real.value)),
    () => when(compare('less', kept.value, load(x, at())), [seen.set(load(bytes, at()))]),
    // Nobody knows where this lies.
    () => mix(load(x, binary('and', kept.value, p.index(63)))),
  ];
  const writing: (() => Statement)[] = [
    () => store(y, at(), kept.value),
    () => store(y, at(), add(load(y, at()), kept.value)),
    () => atomic('add', [y, at()], kept.value),
  ];
  const plain: (() => Statement)[] = [
    () => mix(i.value),
    () => real.set(add(real.value, convert(kept.value, 'f64'))),
    () => when(compare('less', binary('and', kept.value, p.index(3)), p.index(2)), [mix(rank)]),
    () => atomic('add', [bins, binary('and', kept.value, p.index(255))], p.index(1)),
    () => atomic('add', [bins, seen.value], p.index(1)),
    () => seen.set(conditional(compare('less', kept.value, rank), seen.value, p.index(9))),
  ];
  const reads = tape.chance(7, 8);
  // Of two threads that write an element the last one wins. With a step of a block or more, no two write the same one.
  const writes = tape.chance(1, 2);
  const apart = writes ? binary('max', stride, p.index(threads)) : stride;
  if (writes) accesses.push(...writing);
  const some = () => tape.pick(reads && tape.chance(3, 4) ? accesses : plain)();
  const step = tape.chance(1, 6)
    ? add(multiply(p.builtin('gridDim.x'), apart), p.index(tape.pick([0, 1])))
    : multiply(p.builtin('gridDim.x'), apart);
  const beginning = add(first, multiply(p.builtin('blockIdx.x'), p.index(threads)));
  const count = 1 + tape.below(3);
  return p.build([
    kept.set(rank),
    atomic('exch', [bins, rank], rank),
    store(sums, rank, constant('f64', 1)),
    sync(),
    i.set(beginning),
    loop(p.label(), compare('less', add(i.value, rank), n), Array.from({ length: count }, some), [
      i.set(add(i.value, step)),
    ]),
    sync(),
    store(
      out,
      p.gridRank(),
      add(
        add(kept.value, convert(add(load(sums, rank), real.value), 'i32')),
        add(load(bins, rank), seen.value),
      ),
    ),
  ]);
}

export interface Launch {
  readonly grid: number;
  readonly n: number;
  readonly first: number;
  readonly stride: number;
  /** Elements of the arrays. */
  readonly length: number;
}

const most = 2 ** 31 - 1;
/**
 * As usual; with another stride, also a shorter one than the block; and where sums wrap, of few turns: a step is no longer than what
 * lies between `n` and the greatest integer, or a loop would go round for ever.
 */
export const launches: fc.Arbitrary<Launch> = fc.oneof(
  fc.record({
    grid: fc.integer({ min: 1, max: 12 }),
    n: fc.integer({ min: 0, max: 1600 }),
    first: fc.constantFrom(0, 0, 0, 1, 2, -1, -40),
    stride: fc.constantFrom(threads, threads, threads, 31, 5, 40),
    length: fc.constantFrom(2400, 2400, 2400, 1600, 700, 0),
  }),
  fc.record({
    grid: fc.integer({ min: 1, max: 3 }),
    n: fc.constantFrom(2 ** 30, 2 ** 30 - 5, 0, -(2 ** 31), -7),
    first: fc.constantFrom(0, most - 20, most - 400, 2 ** 30, -(2 ** 31), -(2 ** 30)),
    stride: fc.constantFrom(2 ** 25, 2 ** 27 + 5, 2 ** 28),
    length: fc.constant(64),
  }),
);

/** What a target leaves of a launch. */
export function outcome(target: Target, program: Program, { grid, length, ...scalars }: Launch) {
  const [out, y] = [new Int32Array(grid * threads), new Int32Array(length)];
  const x = Int32Array.from({ length }, (_, i) => Math.imul(i, 40_503) >> 9);
  const bytes = Uint8Array.from({ length }, (_, i) => Math.imul(i, 2_654_435_761) >>> 24);
  const { fault } = runProgram(target, program, { grid, arguments: { out, y, x, bytes, ...scalars } });
  return { fault, results: fault === null ? [bitsOf(out), bitsOf(y)] : null };
}
