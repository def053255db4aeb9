// Compiled code takes more rows of a block together than WebAssembly does, and more blocks that walk down the columns of a
// matrix. The library gives what the interpreter gives, with vectors of every width, and names the same blocks of faults.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { compileWasm, moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { decodeModule } from '#warpstage/targets/wasm/encoder/decode.js';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeOfWidth, nativeTarget } from '../support/native.ts';
import { outcomeOfReading, outcome as outcomeOfTiles, randomTiles, reading } from '../wasm/random-tiles.ts';
import { inputs, outcome as outcomeOfWalk, randomWalk, width } from '../wasm/random-walks.ts';

const [without] = [nativeTarget('turns')].filter((each) => each !== null);
const targets = nativeOfWidth.map(([, target]) => target);

/** Whether vectors are held, and how many of them in code that does not go on by itself. */
function held(program: Program): number {
  const { functions } = decodeModule(moduleForProcessor(program, 4).bytes);
  const all = functions.flatMap(({ body }) => body);
  return all.filter((each) => each.kind === 'plain' && each.name === 'v128.held').length;
}

test.each(targets)(
  'random sums over tiles, by $name',
  (target) => {
    let [more, holding] = [0, 0];
    fc.assert(
      fc.property(tapes(60), fc.constantFrom(0, 0, 0, 3, 8), (tape, missing) => {
        const program = randomTiles(tape);
        const expected = outcomeOfTiles(interpreter('eager'), program, missing);
        expect(outcomeOfTiles(target, program, missing), printProgram(program)).toEqual(expected);
        if (program.block[1] * program.block[2] >= 4) more += 1;
        if (held(program) > 0) holding += 1;
      }),
      randomRuns(16),
    );
    expect(more).toBeGreaterThan(0);
    expect(holding).toBeGreaterThan(0);
  },
  randomLimit(16),
);

test.each(
  targets.flatMap((target) =>
    [4, 8, 12].flatMap((rows) => [0, 1].map((missing) => [rows, target.name, missing, target] as const)),
  ),
)(
  'each of %i rows does its own work, by %s, and says where it reads outside (%i)',
  (rows, _, missing, target) => {
    for (const width of [8, 16, 32]) {
      const program = reading(width, rows);
      const found = outcomeOfReading(target, program, missing);
      expect(found).toEqual(outcomeOfReading(interpreter('eager'), program, missing));
      expect(found.fault === null).toBe(missing === 0);
    }
  },
);

test.each(without === undefined ? targets : [...targets, without])(
  'random walks of blocks, by $name',
  (target) => {
    let [faults, more] = [0, 0];
    fc.assert(
      fc.property(
        tapes(70),
        fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3 })),
        fc.constantFrom(4, 5, 9),
        (tape, grid, rounds) => {
          const program = randomWalk(tape);
          const launch = { grid, n: grid[0] * width, rounds, input: inputs[0]! };
          const expected = outcomeOfWalk(interpreter('eager'), program, launch);
          expect(outcomeOfWalk(target, program, launch), printProgram(program)).toEqual(expected);
          if (expected.fault !== null) faults += 1;
          if (moduleForProcessor(program, 4).scratchBytes > compileWasm(program).scratchBytes) more += 1;
        },
      ),
      randomRuns(16),
    );
    expect(faults).toBeGreaterThan(0);
    expect(more).toBeGreaterThan(0);
  },
  randomLimit(16),
);
