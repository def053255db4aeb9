// A histogram in shared memory: lanes count one after the other.

import { expect, test } from 'vitest';
import { interpreter } from '../support/interpreter.ts';
import { atomic, constant, load, ProgramBuilder, store, sync } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

/** `bins` of them, of 64 threads' bytes. */
function histogram(bins: number) {
  const p = new ProgramBuilder('histogram', [64, 1, 1]);
  const input = p.array('input', 'u8', 'readonly');
  const output = p.array('output', 'i32');
  const counts = p.shared('counts', 'i32', bins);
  const rank = p.builtin('threadRank');
  const bin = load(input, p.gridRank());
  return p.build([
    store(counts, rank, constant('i32', 0)),
    sync(),
    atomic('add', [counts, bin], constant('i32', 1)),
    sync(),
    atomic('add', [output, rank], load(counts, rank)),
  ]);
}

function outcome(target: Target, bins: number) {
  const output = new Int32Array(64);
  const input = Uint8Array.from({ length: 192 }, (_, i) => (i * i) % 64);
  const { fault } = runProgram(target, histogram(bins), { grid: 3, arguments: { input, output } });
  return { fault: fault?.kind ?? null, counts: bitsOf(output) };
}

test.each([wasm, wasmWithout('atomics')])('$name counts like the interpreter', (target) => {
  for (const bins of [256, 64]) expect(outcome(target, bins)).toEqual(outcome(interpreter('eager'), bins));
  expect(outcome(target, 64).fault).toBeNull();
});

test('a byte beyond the last bin is a fault', () => {
  const { fault } = runProgram(wasm, histogram(64), {
    grid: 1,
    arguments: { input: Uint8Array.from({ length: 64 }, (_, i) => i + 1), output: new Int32Array(64) },
  });
  expect(fault).toMatchObject({ kind: 'out-of-range', block: [0, 0, 0] });
});
