// A histogram in shared memory: lanes count one after the other, and the bin of a byte needs no check.

import { expect, test } from 'vitest';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { compileWasm, type WasmExecutable } from '#warpstage/targets/wasm/compile.js';
import { interpreter } from '../support/interpreter.ts';
import { add, atomic, constant, load, ProgramBuilder, store, sync } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

/** `bins` of them, of 64 threads' bytes and a number that is added to each. */
function histogram(bins: number, byte: 'u8' | 'i8' = 'u8', added = 0) {
  const p = new ProgramBuilder('histogram', [64, 1, 1]);
  const input = p.array('input', byte, 'readonly');
  const output = p.array('output', 'i32');
  const counts = p.shared('counts', 'i32', bins);
  const rank = p.builtin('threadRank');
  const bin = load(input, p.gridRank());
  return p.build([
    store(counts, rank, constant('i32', 0)),
    sync(),
    atomic('add', [counts, added === 0 ? bin : add(bin, constant('i32', added))], constant('i32', 1)),
    sync(),
    atomic('add', [output, rank], load(counts, rank)),
  ]);
}

/** The places where an index of a bin is checked. */
function checksOf({ sites }: WasmExecutable) {
  return sites.filter(({ array, access }) => array === 'counts' && access === 'write');
}

function outcome(target: Target, bins: number) {
  const output = new Int32Array(64);
  const input = Uint8Array.from({ length: 192 }, (_, i) => (i * i) % 64);
  const { fault } = runProgram(target, histogram(bins), { grid: 3, arguments: { input, output } });
  return { fault: fault?.kind ?? null, counts: bitsOf(output) };
}

test.each([wasm, wasmWithout('atomics'), wasmWithout('bounds')])(
  '$name counts like the interpreter',
  (target) => {
    for (const bins of [256, 64]) expect(outcome(target, bins)).toEqual(outcome(interpreter('eager'), bins));
    expect(outcome(target, 64).fault).toBeNull();
  },
);

test('a byte beyond the last bin is a fault', () => {
  const { fault } = runProgram(wasm, histogram(64), {
    grid: 1,
    arguments: { input: Uint8Array.from({ length: 64 }, (_, i) => i + 1), output: new Int32Array(64) },
  });
  expect(fault).toMatchObject({ kind: 'out-of-range', block: [0, 0, 0] });
});

test('what is added to a byte counts', () => {
  expect(checksOf(compileWasm(histogram(257, 'u8', 1)))).toHaveLength(0);
  expect(checksOf(compileWasm(histogram(256, 'u8', 1)))).toHaveLength(1);
});

test.each([
  { bins: 256, byte: 'u8', without: [], checks: 0 },
  { bins: 255, byte: 'u8', without: [], checks: 1 },
  { bins: 256, byte: 'i8', without: [], checks: 1 },
  // The zeros, where threads store them one by one, and the counts.
  { bins: 256, byte: 'u8', without: ['bounds'], checks: 2 },
] as const)('$bins bins of $byte, without $without: $checks checks', ({ bins, byte, without, checks }) => {
  const executable = compileWasm(histogram(bins, byte), { without: [...without] as OptionalCpuPass[] });
  expect(executable).toMatchObject({ mode: 'regions', vectorised: true });
  expect(checksOf(executable)).toHaveLength(checks);
});
