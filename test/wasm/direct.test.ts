// Indices that lie side by side in memory, of accesses that lanes make one by one: gathers, scatters and atomic operations.
// WebAssembly gives what the interpreter gives, with the pass that reads them where they are needed and without it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, atomic, convert, load, ProgramBuilder, store } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const views = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  i32: Int32Array,
  u32: Uint32Array,
} as const;

interface Case {
  readonly element: keyof typeof views;
  readonly deed: 'gather' | 'scatter' | 'atomic';
  readonly block: number;
  /** Of a thread's index from its rank. */
  readonly offset: number;
  readonly factor: number;
  /** The thread of the second block whose index is outside; null for none. */
  readonly wrong: number | null;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    element: fc.constantFrom(...(Object.keys(views) as (keyof typeof views)[])),
    deed: fc.constantFrom('gather', 'scatter', 'atomic'),
    block: fc.constantFrom(32, 20, 8, 48),
    offset: fc.nat(5),
    factor: fc.constantFrom(1, 3, 5, 7, 11),
    wrong: fc.option(fc.nat(47), { freq: 3 }),
  })
  .map((each) => ({ ...each, wrong: each.wrong === null ? null : each.wrong % each.block }));

function programOf({ element, deed, block, offset }: Case) {
  const p = new ProgramBuilder('direct', block);
  const places = p.array('places', element, 'readonly');
  const x = p.array('x', 'f32', 'readonly');
  const out = p.array('out', deed === 'atomic' ? 'i32' : 'f32');
  const own = p.gridRank();
  const index = convert(load(places, add(own, p.index(offset))), 'i32');
  if (deed === 'gather') return p.build([store(out, own, load(x, index))]);
  if (deed === 'scatter') return p.build([store(out, index, load(x, own))]);
  return p.build([atomic('add', [out, index], p.builtin('threadRank'))]);
}

function outcome(target: Target, given: Case) {
  const { element, deed, block, offset, factor, wrong } = given;
  const length = 2 * block;
  // No place twice, since each factor is prime to the length or what is done can be done in any order.
  const isPrime = length % factor !== 0 || factor === 1;
  const places = new views[element](length + offset);
  for (let i = 0; i < length; i++) places[offset + i] = (i * (isPrime ? factor : 1)) % length;
  if (wrong !== null) places[offset + block + wrong] = element.startsWith('i') ? -1 : 2 ** 7 + 1;
  const x = Float32Array.from({ length }, (_, i) => i / 8);
  const out = deed === 'atomic' ? new Int32Array(length) : new Float32Array(length);
  const { fault } = runProgram(target, programOf(given), { grid: 2, arguments: { places, x, out } });
  return {
    fault: fault && { kind: fault.kind, block: fault.block, thread: 'thread' in fault ? fault.thread : null },
    out: bitsOf(out),
  };
}

test.each<[string, OptionalCpuPass | null]>([
  ['all passes', null],
  ['no indices from memory', 'direct'],
])('random indices from memory, by %s', (_, without) => {
  const target = without === null ? wasm : wasmWithout(without);
  let faults = 0;
  fc.assert(
    fc.property(cases, (given) => {
      const expected = outcome(interpreter('eager'), given);
      const found = outcome(target, given);
      // Which elements are written before a thread fails depends on the order of threads.
      if (expected.fault !== null) expect(found.fault, JSON.stringify(given)).toEqual(expected.fault);
      else expect(found, printProgram(programOf(given))).toEqual(expected);
      if (expected.fault !== null) faults += 1;
    }),
    randomRuns(100),
  );
  expect(faults).toBeGreaterThan(10);
});

test('the pass changes the code', () => {
  for (const deed of ['gather', 'scatter', 'atomic'] as const) {
    const program = programOf({ element: 'u8', deed, block: 32, offset: 0, factor: 1, wrong: null });
    expect(wasmBytes(program)).not.toEqual(wasmBytes(program, { without: ['direct'] }));
  }
});
