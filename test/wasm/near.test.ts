// Branches that are never taken, between the loads of straight code: random sums of shifted elements. WebAssembly gives what
// the interpreter gives, with them and without; and each of them keeps an engine from what it is there to keep it from.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { explainWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { disassemble } from '../support/disassemble.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, binary, load, multiply, ProgramBuilder, store, sync } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';

const threads = 32;

/** Sums of neighbours in a tile, and of what lies beside it in memory, for so many threads in one row or two. */
function sums(
  shape: readonly [number, number, number],
  terms: readonly (readonly [number, number])[],
): Program {
  const p = new ProgramBuilder('sums', [...shape]);
  const out = p.array('out', 'i32');
  const wides = p.array('wides', 'f64');
  const x = p.array('x', 'i32', 'readonly');
  const f = p.array('f', 'f64', 'readonly');
  const tile = p.shared('tile', 'i32', threads + 16);
  const rank = p.builtin('threadRank');
  const [sum, product, wide] = [
    p.variable('sum', 'i32'),
    p.variable('product', 'i32'),
    p.variable('wide', 'f64'),
  ];
  const term = ([kind, shift]: readonly [number, number]): Statement => {
    if (kind === 0) return sum.set(add(sum.value, load(tile, add(rank, p.index(shift)))));
    if (kind === 1)
      return product.set(multiply(add(product.value, load(x, add(p.gridRank(), p.index(shift)))), sum.value));
    if (kind === 2) return wide.set(add(wide.value, load(f, add(p.gridRank(), p.index(shift)))));
    return store(out, p.gridRank(), add(sum.value, p.index(shift)));
  };
  return p.build([
    store(tile, rank, load(x, p.gridRank())),
    store(tile, add(rank, p.index(16)), load(x, add(p.gridRank(), p.index(3)))),
    sync(),
    ...terms.map(term),
    store(wides, p.gridRank(), wide.value),
    store(out, p.gridRank(), binary('xor', sum.value, product.value)),
  ]);
}

function outcome(target: Target, program: Program, missing: number) {
  const out = new Int32Array(2 * threads);
  const wides = new Float64Array(2 * threads);
  const x = Int32Array.from(
    { length: 2 * threads + 16 - missing },
    (_, i) => (i * 2_654_435_761) >> (i % 32),
  );
  const f = Float64Array.from({ length: 2 * threads + 16 }, (_, i) => i / 3);
  const { fault } = runProgram(target, program, { grid: 2, arguments: { out, wides, x, f } });
  const place = fault && { kind: fault.kind, block: fault.block };
  return { place, results: place === null ? [bitsOf(out), bitsOf(wides)] : null };
}

const randomTerms = (tape: Tape) =>
  Array.from(
    { length: 2 + tape.below(14) },
    () => [tape.pick([0, 0, 0, 1, 1, 2, 3]), tape.below(16)] as const,
  );

test.each([wasm, wasmStates, wasmWithout('near')])('random sums of neighbours, by $name', (target) => {
  let [runs, changed, faults] = [0, 0, 0];
  fc.assert(
    fc.property(tapes(50), fc.constantFrom(0, 0, 0, 9), fc.boolean(), (tape, missing, rows) => {
      const program = sums(rows ? [threads / 2, 2, 1] : [threads, 1, 1], randomTerms(tape));
      const expected = outcome(interpreter('eager'), program, missing);
      expect(outcome(target, program, missing), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.place !== null) faults += 1;
      if (!Buffer.from(wasmBytes(program)).equals(wasmBytes(program, { without: ['near'] }))) changed += 1;
    }),
    randomRuns(60),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  expect(changed).toBeGreaterThan(runs / 4);
});

test('each branch asks for another rank, which no thread has, and reads what was computed in front of it', () => {
  const program = sums(
    [threads, 1, 1],
    Array.from({ length: 9 }, (_, shift) => [0, shift] as const),
  );
  const text = disassemble(wasmBytes(program)).replaceAll(/;; .*/g, '').replaceAll(/\s+/g, ' ');
  const cuts = [
    ...text.matchAll(
      /\(if \(i32\.eq \(local\.get \S+\) \(i32\.const (\d+)\)\) \(then \(v128\.store (.*?)\) \(unreachable\)/g,
    ),
  ];
  const ranks = cuts.map(([, rank]) => Number(rank));
  expect(new Set(ranks).size).toBe(9);
  expect(ranks).toHaveLength(9);
  for (const rank of ranks) expect(rank).toBeGreaterThan(threads - 1);
  // Each reads all vectors of the sum.
  for (const [, , read] of cuts) {
    const vectors = new Set([...read!.matchAll(/\$sum\.(\d)/g)].map(([, vector]) => vector));
    expect([...vectors].sort()).toEqual(['0', '1', '2', '3']);
  }
  expect(explainWasm(program).done).toContain('near: branches that are never taken, between loads');
});

test('a few loads are left as they are', () => {
  const program = sums(
    [threads, 1, 1],
    Array.from({ length: 4 }, (_, shift) => [0, shift] as const),
  );
  expect(wasmBytes(program)).toEqual(wasmBytes(program, { without: ['near'] }));
});
