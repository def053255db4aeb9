// Rows of a block that go two at a time where they load alike: random sums over tiles by row and by column. WebAssembly gives
// what the interpreter gives, with this pass and without it, and names the same thread where one fails.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, binary, load, multiply, ProgramBuilder, store, sync } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const blocks = [
  [16, 2, 1],
  [8, 3, 1],
  [4, 4, 2],
  [16, 5, 1],
  [32, 1, 2],
] as const;

/** Sums of a tile's rows and columns, in regions that keep some variables for later ones. */
function randomTiles(tape: Tape): Program {
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
function outcome(target: Target, program: Program, missing: number) {
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

test.each([wasm, wasmWithout('jam'), wasmWithout('near')])('random sums over tiles, by $name', (target) => {
  let [runs, changed, parted, faults] = [0, 0, 0, 0];
  fc.assert(
    fc.property(tapes(60), fc.constantFrom(0, 0, 0, 3, 8), (tape, missing) => {
      const program = randomTiles(tape);
      const expected = outcome(interpreter('eager'), program, missing);
      expect(outcome(target, program, missing), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.place !== null) faults += 1;
      const without = wasmBytes(program, { without: ['jam'] });
      const bytes = Buffer.from(wasmBytes(program));
      if (!bytes.equals(without)) changed += 1;
      if (!bytes.equals(wasmBytes(program, { without: ['near'] }))) parted += 1;
    }),
    randomRuns(60),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  expect(changed).toBeGreaterThan(runs / 4);
  expect(parted).toBeGreaterThan(runs / 20);
});

test.each([2, 3, 4])('the thread that reads outside is named, in the last of %i rows', (rows) => {
  const p = new ProgramBuilder('reading', [16, rows, 1]);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const rank = p.builtin('threadRank');
  const both = add(load(x, p.builtin('threadIdx.x')), load(x, add(rank, p.index(2))));
  const program = p.build([store(out, rank, both)]);
  expect(wasmBytes(program)).not.toEqual(wasmBytes(program, { without: ['jam'] }));
  const run = (target: Target) => {
    const out = new Int32Array(16 * rows);
    const x = Int32Array.from({ length: 16 * rows + 1 }, (_, i) => i * i);
    const { fault } = runProgram(target, program, { grid: 1, arguments: { out, x } });
    return { fault, out: [...out] };
  };
  const found = run(wasm);
  expect(found.fault).toMatchObject({ kind: 'out-of-range', thread: [15, rows - 1, 0] });
  expect(found).toEqual(run(interpreter('eager')));
});

test('a variable that is one for a row is not that of the next', () => {
  const p = new ProgramBuilder('scaled', [16, 4, 1]);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const own = p.variable('row', 'i32');
  const sum = p.variable('sum', 'i32');
  const rank = p.builtin('threadRank');
  const common = load(x, p.builtin('threadIdx.x'));
  const program = p.build([
    own.set(load(x, add(multiply(p.builtin('threadIdx.y'), p.index(7)), p.index(3)))),
    sync(),
    sum.set(add(common, multiply(common, own.value))),
    store(out, rank, sum.value),
  ]);
  const [found, expected] = [wasm, interpreter('eager')].map((target) => {
    const out = new Int32Array(64);
    const x = Int32Array.from({ length: 64 }, (_, i) => i * i + 1);
    runProgram(target, program, { grid: 1, arguments: { out, x } });
    return [...out];
  });
  expect(found).toEqual(expected);
});
