// Random sums over tiles by row and by column, in blocks of several rows of threads, and what a target leaves of them.

import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import type { Tape } from '../differential/tape.ts';
import { add, binary, load, multiply, ProgramBuilder, store, sync } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';

const blocks = [
  [16, 2, 1],
  [8, 3, 1],
  [4, 4, 2],
  [16, 5, 1],
  [32, 1, 2],
  [16, 4, 1],
] as const;

/** Sums of a tile's rows and columns, in regions that keep some variables for later ones. */
export function randomTiles(tape: Tape): Program {
  const shape = tape.pick(blocks);
  const p = new ProgramBuilder('tiles', [...shape]);
  const [width, rows] = [shape[0], shape[1] * shape[2]];
  const out = p.array('out', 'i32');
  const wides = p.array('wides', 'f64');
  const f = p.array('f', 'f64', 'readonly');
  const x = p.array('x', 'i32', 'readonly');
  const tile = p.shared('tile', 'i32', width * rows);
  const rank = p.builtin('threadRank');
  const column = p.builtin('threadIdx.x');
  const firstOfRow = binary('subtract', rank, column);
  const sums = [p.variable('sum0', 'i32'), p.variable('sum1', 'i32')];
  const wide = p.variable('wide', 'f64');
  const own = p.variable('row', 'i32');
  const value = (): Expression =>
    tape.pick<() => Expression>([
      // A column's elements, which all rows have in common.
      () => load(tile, add(p.index(width * tape.below(rows)), column)),
      // A row's, which its threads have in common.
      () => load(tile, add(firstOfRow, p.index(tape.below(width)))),
      () => load(tile, rank),
      () => load(x, add(column, p.index(tape.below(9)))),
      () => load(x, add(p.gridRank(), p.index(tape.below(9)))),
      () => tape.pick(sums).value,
      () => p.builtin('threadIdx.y'),
      () => own.value,
    ])();
  const region = (): Statement[] => [
    ...Array.from({ length: 1 + tape.below(tape.chance(1, 3) ? 12 : 4) }, (): Statement => {
      const sum = tape.pick(sums);
      if (tape.chance(1, 8)) {
        const index = tape.pick([column, p.gridRank()]);
        return wide.set(add(wide.value, load(f, index)));
      }
      if (tape.chance(1, 8)) return own.set(add(p.builtin('threadIdx.y'), p.index(tape.below(5))));
      if (tape.chance(1, 6)) return store(out, p.gridRank(), add(value(), sum.value));
      return sum.set(add(tape.chance(1, 2) ? sum.value : value(), multiply(value(), value())));
    }),
    sync(),
    ...(tape.chance(1, 4) ? [store(tile, rank, tape.pick(sums).value), sync()] : []),
  ];
  return p.build([
    store(tile, rank, load(x, p.gridRank())),
    sync(),
    ...region(),
    ...region(),
    ...region(),
    store(wides, p.gridRank(), wide.value),
    store(out, p.gridRank(), binary('xor', sums[0]!.value, sums[1]!.value)),
  ]);
}

/** `missing`: elements that an input lacks at its end. */
export function outcome(target: Target, program: Program, missing: number) {
  const [width, y, z] = program.block;
  const threads = 2 * width * y * z;
  const out = new Int32Array(threads);
  const x = Int32Array.from({ length: threads + 9 - missing }, (_, i) => (i * 2_654_435_761) >> (i % 32));
  const f = Float64Array.from({ length: threads }, (_, i) => i / 3);
  const wides = new Float64Array(threads);
  const { fault } = runProgram(target, program, { grid: 2, arguments: { out, wides, x, f } });
  const place = fault && { kind: fault.kind, block: fault.block };
  return { place, results: place === null ? [bitsOf(out), bitsOf(wides)] : null };
}

/** Each thread adds an element of its row to one of its column's. */
export function reading(width: number, rows: number): Program {
  const p = new ProgramBuilder('reading', [width, rows, 1]);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const rank = p.builtin('threadRank');
  const both = add(load(x, p.builtin('threadIdx.x')), load(x, add(rank, p.index(2))));
  return p.build([store(out, rank, both)]);
}

/** `missing`: elements that the last thread wants and are not there. */
export function outcomeOfReading(target: Target, program: Program, missing = 1) {
  const [width, rows] = program.block;
  const out = new Int32Array(width * rows);
  const x = Int32Array.from({ length: width * rows + 2 - missing }, (_, i) => i * i);
  const { fault } = runProgram(target, program, { grid: 1, arguments: { out, x } });
  return { fault, out: [...out] };
}
