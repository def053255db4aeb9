// Random programs whose blocks walk down the columns of a matrix beside each other, and what a target leaves of them.

import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import type { Tape } from '../differential/tape.ts';
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
  subtract,
  sync,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';

export const [width, height] = [8, 2];
const threads = width * height;
/** As many elements as make blocks go abreast, and fewer. */
export const inputs = [2 ** 18, 2 ** 12].map((length) =>
  Int32Array.from({ length }, (_, i) => Math.imul(i, 40_503) >> 7),
);

/** Blocks of two rows of threads, each of which reads its part of two rows of a matrix in a round. */
export function randomWalk(tape: Tape): Program {
  const p = new ProgramBuilder('walk', [width, height, 1]);
  const [out, sums] = [p.array('out', 'i32'), p.array('sums', 'f64')];
  const input = p.array('input', 'i32', 'readonly');
  const [n, rounds] = [p.scalar('n', 'i32'), p.scalar('rounds', 'i32')];
  const [tile, other] = [p.shared('tile', 'i32', 3 * threads), p.shared('other', 'f64', threads)];
  const [x, y, rank] = [p.builtin('threadIdx.x'), p.builtin('threadIdx.y'), p.builtin('threadRank')];
  const [column, step, carried] = [
    p.variable('column', 'i32'),
    p.variable('step', 'i32'),
    p.variable('carried', 'i32'),
  ];
  const [row, kept, sum] = [p.variable('row', 'i32'), p.variable('kept', 'i32'), p.variable('sum', 'f64')];
  const hasOwn = tape.chance(1, 4);
  const own = hasOwn ? p.local('own', 'i32', 1) : null;
  const block = add(multiply(p.builtin('blockIdx.y'), p.builtin('gridDim.x')), p.builtin('blockIdx.x'));
  const at = add(multiply(block, p.index(threads)), rank);
  const place = tape.pick([rank, add(multiply(y, p.index(width)), x)]);
  const rowValue = add(multiply(p.builtin('blockIdx.y'), p.index(height)), y);
  const half = binary('divide', step.value, p.index(height));
  const slot = multiply(binary('and', half, p.index(1)), p.index(threads));
  const beyond = tape.pick([0, 0, 0, 0, 300_000]);
  const element = () =>
    load(
      input,
      add(
        add(multiply(add(step.value, y), n), add(column.value, x)),
        tape.pick([p.index(0), multiply(multiply(half, p.builtin('blockIdx.x')), p.index(beyond))]),
      ),
    );
  // What rounds find is all of the round, in the same place or in one of two; what was there at the beginning, too; what the round before
  // left; or what the first one did, beside what each row of threads stores again.
  const mode = tape.pick(['fresh', 'fresh', 'slots', 'left', 'earlier', 'rows'] as const);
  const always = {
    fresh: () => store(tile, place, element()),
    slots: () => store(tile, add(slot, place), element()),
    left: () =>
      tape.pick([
        when(compare('less', x, p.index(5)), [store(tile, place, element())]),
        when(compare('equal', slot, p.index(0)), [store(tile, add(place, p.index(threads)), element())]),
        store(tile, add(slot, place), element()),
      ]),
    earlier: () => store(tile, add(slot, place), element()),
    rows: () =>
      tape.pick([
        store(tile, x, load(input, add(multiply(step.value, n), add(column.value, x)))),
        store(tile, x, add(column.value, step.value)),
      ]),
  }[mode];
  const isFirst = compare('equal', step.value, p.index(0));
  const former = subtract(p.index(threads), slot);
  const found = {
    fresh: () => [
      add(multiply(y, p.index(width)), p.index(tape.below(width))),
      add(x, p.index(width * tape.below(2))),
      binary('remainder', add(rank, p.index(1)), p.index(threads)),
    ],
    slots: () => [add(slot, rank), add(slot, place)],
    left: () => [add(rank, p.index(threads)), add(slot, rank), add(x, p.index(width * tape.below(6)))],
    earlier: () => [conditional(isFirst, add(slot, rank), add(former, rank))],
    rows: () => [add(x, p.index(width))],
  }[mode];
  const elsewhere = () => tape.pick<Expression>(found());
  const used = (): Statement =>
    tape.pick<() => Statement>([
      () => kept.set(add(multiply(kept.value, p.index(3)), load(tile, elsewhere()))),
      () => kept.set(add(kept.value, multiply(load(tile, elsewhere()), row.value))),
      () => sum.set(add(multiply(sum.value, constant('f64', 1.5)), load(other, rank))),
      () =>
        own
          ? store(own, p.index(0), add(load(own, p.index(0)), load(tile, elsewhere())))
          : kept.set(row.value),
      () => store(out, multiply(at, p.index(2)), add(kept.value, row.value)),
    ])();
  const several = (make: () => Statement, most: number) => Array.from({ length: 1 + tape.below(most) }, make);
  // Where it is given another value, or by some alone, it is kept.
  const rows = tape.pick<() => Statement[]>([
    () => [row.set(rowValue)],
    () => [row.set(rowValue)],
    () => [row.set(rowValue), when(compare('less', x, p.index(3)), [row.set(p.index(7))])],
    () => [when(compare('less', x, p.index(3)), [row.set(rowValue)])],
    () => [row.set(binary('divide', rowValue, n))],
    () => [kept.set(multiply(rank, n)), row.set(add(rowValue, kept.value))],
  ])();
  const carries = tape.chance(1, 3);
  return p.build([
    ...rows,
    ...(mode === 'left' ? [0, 1, 2].map((part) => store(tile, add(rank, p.index(part * threads)), n)) : []),
    ...(own ? [store(own, p.index(0), n)] : []),
    kept.set(add(rank, row.value)),
    sum.set(constant('f64', 0.5)),
    column.set(multiply(p.builtin('blockIdx.x'), p.index(width))),
    step.set(p.index(0)),
    carried.set(p.index(1)),
    loop(
      p.label(),
      compare('less', step.value, multiply(rounds, p.index(height))),
      [
        ...(carries ? [carried.set(add(multiply(carried.value, p.index(5)), step.value))] : []),
        ...(mode === 'rows'
          ? [when(isFirst, [store(tile, add(x, p.index(width)), add(column.value, x))])]
          : []),
        ...(mode === 'rows' ? [store(sums, at, convert(element(), 'f64'))] : []),
        ...several(always, 2),
        store(other, rank, sum.value),
        sync(),
        ...several(used, 3),
        sync(),
      ],
      [step.set(add(step.value, p.index(height)))],
    ),
    store(out, add(multiply(at, p.index(2)), p.index(1)), add(add(kept.value, row.value), carried.value)),
    store(sums, at, sum.value),
    ...(own ? [store(out, multiply(at, p.index(2)), load(own, p.index(0)))] : []),
  ]);
}

export interface Launch {
  readonly grid: readonly [number, number];
  readonly n: number;
  readonly rounds: number;
  readonly input: Int32Array;
}

export function outcome(target: Target, program: Program, { grid, ...scalars }: Launch) {
  const all = grid[0] * grid[1] * threads;
  const [out, sums] = [new Int32Array(2 * all), new Float64Array(all)];
  const { fault } = runProgram(target, program, { grid, arguments: { out, sums, ...scalars } });
  return {
    fault: fault && { kind: fault.kind, block: fault.block },
    results: fault === null ? [bitsOf(out), bitsOf(sums)] : null,
  };
}
