// Rows of a block that go two at a time where they load alike: random sums over tiles by row and by column. WebAssembly gives
// what the interpreter gives, with this pass and without it, and names the same thread where one fails.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, load, multiply, ProgramBuilder, store, sync } from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { outcome, outcomeOfReading, randomTiles, reading } from './random-tiles.ts';

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
  const program = reading(16, rows);
  expect(wasmBytes(program)).not.toEqual(wasmBytes(program, { without: ['jam'] }));
  const found = outcomeOfReading(wasm, program);
  expect(found.fault).toMatchObject({ kind: 'out-of-range', thread: [15, rows - 1, 0] });
  expect(found).toEqual(outcomeOfReading(interpreter('eager'), program));
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
