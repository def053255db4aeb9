// Checks of indices that facts leave out: random programs with them and without them end alike, at the same place and
// thread, as the interpreter says.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { type WasmExecutable, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  load,
  ProgramBuilder,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

/** A program that counts in shared memory and in arrays of its threads, at places near the ends of these arrays. */
function countingProgram(tape: Tape): Program {
  const threads = tape.pick([40, 32, 7]);
  const p = new ProgramBuilder('near', [threads, 1, 1]);
  const input = p.array('input', 'u8', 'readonly');
  const output = p.array('output', 'i32');
  const bins = tape.pick([40, 64, 100, 256]);
  const counts = p.shared('counts', 'i32', bins);
  const elements = tape.pick([8, 40, 256]);
  const own = p.local('own', 'i32', elements);
  const [u, v, w] = (['u', 'v', 'w'] as const).map((name) => p.variable(name, 'i32'));
  const kept = [u!, v!];
  const rank = p.builtin('threadRank');
  const small = () => constant('i32', tape.below(48));
  const value = (depth: number): Expression => {
    const leaf = tape.pick([rank, u!.value, v!.value, w!.value, load(input, rank), small()]);
    if (depth === 0 || tape.chance(1, 3)) return leaf;
    const operator = tape.pick([
      'add',
      'and',
      'min',
      'subtract',
      'max',
      'multiply',
      'remainder',
      'shiftRight',
    ] as const);
    if (operator === 'remainder')
      return binary(operator, value(depth - 1), constant('i32', 1 + tape.below(60)));
    return binary(operator, value(depth - 1), tape.chance(1, 3) ? value(depth - 1) : small());
  };
  const list = (depth: number): Statement[] => {
    const made: Statement[] = [];
    for (let i = 0; i < 1 + tape.below(3); ++i) {
      const what = tape.pick(['count', 'keep', 'own', 'branch', 'loop'] as const);
      if (what === 'keep') made.push(tape.pick(kept).set(value(2)));
      else if (what === 'own') {
        made.push(store(own, value(2), value(1)), tape.pick(kept).set(load(own, value(2))));
      } else if (what === 'branch' && depth > 0) {
        const test = compare(tape.pick(['less', 'greaterEqual', 'equal']), value(1), small());
        made.push(when(test, list(depth - 1)));
      } else if (what === 'loop' && depth > 0) {
        const limit = compare('less', w!.value, constant('i32', tape.below(6)));
        made.push(...p.countUp(w!, constant('i32', tape.below(3)), limit, list(0)));
      } else made.push(atomic('add', [counts, value(3)], constant('i32', 1)));
    }
    return made;
  };
  const parts = Array.from({ length: 1 + tape.below(4) }, () => [...list(2), sync()]);
  const result = store(output, rank, add(u!.value, v!.value));
  const inside = compare('less', rank, constant('i32', 7));
  const sums = when(inside, [atomic('add', [output, rank], load(counts, rank))]);
  const isFirst = compare('equal', rank, constant('i32', 0));
  const zeros = (array: typeof counts, length: number) => {
    const isThere = compare('less', w!.value, constant('i32', length));
    return p.countUp(w!, constant('i32', 0), isThere, [store(array, w!.value, constant('i32', 0))]);
  };
  const begin = [when(isFirst, zeros(counts, bins)), ...zeros(own, elements), sync()];
  return p.build([...begin, ...parts.flat(), result, sync(), sums]);
}

function outcome(target: Target, program: Program) {
  const output = new Int32Array(40);
  const input = Uint8Array.from({ length: 40 }, (_, i) => i * i);
  const { fault, executable } = runProgram(target, program, { grid: 1, arguments: { input, output } });
  return { fault, output: fault === null ? [...output] : null, executable: executable as WasmExecutable };
}

test('random programs end alike with checks that facts leave out and without them', () => {
  const seen = { left: 0, faults: 0, ended: 0 };
  const all = wasmWithout('bounds');
  fc.assert(
    fc.property(tapes(120), (tape) => {
      const program = countingProgram(tape);
      const text = printProgram(program);
      const expected = outcome(all, program);
      const actual = outcome(wasm, program);
      expect(actual.fault, text).toEqual(expected.fault);
      expect(actual.output, text).toEqual(expected.output);
      const oracle = outcome(interpreter('eager'), program);
      expect(actual.fault?.kind, text).toBe(oracle.fault?.kind);
      if (oracle.fault === null) expect(actual.output, text).toEqual(oracle.output);
      if (actual.executable.sites.length < expected.executable.sites.length) seen.left += 1;
      seen[oracle.fault === null ? 'ended' : 'faults'] += 1;
    }),
    randomRuns(150),
  );
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(8);
});

/** Each thread stores to its own element of a shared array, or only those do for which it has one. */
function storing(count: number, guarded = false) {
  const p = new ProgramBuilder('storing', [64, 1, 1]);
  const [out, own] = [p.array('out', 'i32'), p.shared('own', 'i32', count)];
  const rank = p.builtin('threadRank');
  const stores = [store(own, rank, add(rank, p.index(1))), store(out, rank, load(own, rank))];
  const few = compare('less', binary('and', rank, p.index(63)), p.index(count));
  return p.build(guarded ? [store(out, rank, rank), when(few, stores)] : stores);
}

test.each([
  [64, false],
  [63, false],
  [40, false],
  [40, true],
])('vectors of %i shared elements, guarded: %s', (count, guarded) => {
  const program = storing(count, guarded);
  const [found, expected] = [wasm, interpreter('eager')].map((target) => {
    const out = new Int32Array(64);
    const { fault } = runProgram(target, program, { grid: 1, arguments: { out } });
    return { fault, out: fault === null ? [...out] : null };
  });
  expect(found).toEqual(expected);
  expect(found!.fault === null).toBe(guarded || count === 64);
});

test('vectors test nothing of an array that has an element for each thread', () => {
  const lengths = [64, 63].map((count) => {
    const program = storing(count);
    const without = wasmBytes(program, { without: ['bounds'] });
    return without.length - wasmBytes(program).length;
  });
  expect(lengths[0]).toBeGreaterThan(lengths[1]!);
});
