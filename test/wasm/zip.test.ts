// Producers and consumers with roles whose loops become one: WebAssembly gives what the interpreter gives, with this pass and without it,
// and names the threads of faults. Where something else makes threads meet, or their loops count otherwise, none is made.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';
import { mostBatches, outcome, programOf, roles } from './random-roles.ts';

test.each([wasm, wasmWithout('zip'), wasmWithout('turns'), wasmStates])(
  'random roles, by $name',
  (target) => {
    let [runs, faults, regions] = [0, 0, 0];
    const done: string[] = [];
    fc.assert(
      fc.property(tapes(24), fc.nat(mostBatches), fc.nat(5), (tape, batches, kind) => {
        const random = roles(tape);
        // One role at most does what is outside of an array.
        const less = kind === 1 ? 'x' : kind === 2 ? 'seen' : null;
        const expected = outcome(interpreter('eager'), random, batches, less);
        const { mode, ...actual } = outcome(target, random, batches, less);
        expect({ ...actual, mode: null }, random.text).toEqual(expected);
        runs += 1;
        if (actual.fault !== null) faults += 1;
        if (mode === 'regions') regions += 1;
        if (target === wasm) done.push(...explainWasm(programOf(random.text).program).done);
      }),
      randomRuns(30),
    );
    expect(faults).toBeGreaterThan(0);
    expect(faults).toBeLessThan(runs / 2);
    if (target === wasm) {
      const told = (what: string) => done.filter((each) => each.endsWith(what)).length;
      expect(told('blocks go through a loop abreast')).toBeGreaterThan(0);
      expect(told('abreast in one arena')).toBeGreaterThan(0);
    }
    expect(regions).toBe(target === wasmStates || target.name === 'wasm without zip' ? 0 : runs);
  },
);

const others = ['twice', 'print', 'leaves', 'limit', 'begin', 'meets', 'many'];

test.each(others)('no loop for both: %s', (unlike) => {
  fc.assert(
    fc.property(tapes(24), (tape) => {
      const { text, program } = programOf(roles(tape, unlike).text);
      expect(explainWasm(program), text).toMatchObject({ mode: 'states' });
    }),
    randomRuns(4),
  );
});
