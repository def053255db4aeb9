// Accesses in branches that all threads take or none does: where none does, nothing is asked of what would be accessed there, so that
// a launch may give an array of one element for one that is not used. Where they do, a fault is that of the interpreter.

import { describe, expect, test } from 'vitest';
import { kernel as newKernel } from 'warpstage';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { interpreter } from '../support/interpreter.ts';
import { nativeTarget } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';

const threads = 256;
const schema = {
  out: 'i32[]',
  x: 'readonly i32[]',
  bias: 'readonly i32[]',
  kept: 'i32[]',
  flag: 'i32',
  n: 'i32',
} as const;
/** What a thread does with its index `i`, its sum `s` and its rank `t`. */
const bodies = {
  'a branch': 'if (flag > 0) s += bias[i];',
  'the other branch': 'if (flag < 1) s += 1; else s += bias[i];',
  'branches in branches': 'if (flag > 0) { if (n > 3) s += bias[i + 1]; else s -= bias[i]; }',
  'a store': 'if (flag > 0) kept[i] = s + t;',
  'an access beside the same one': 's += bias[0]; if (flag > 0) s += bias[i]; s += x[i];',
  'a branch in a loop': 'for (let k = 0; k < 4; k++) { if (flag > 0) s += bias[i]; s += x[i]; }',
  'a loop over the grid':
    'for (let j = i; j < x.length; j += cuda.thisGrid().size()) { if (flag > 0) s += bias[j]; s += x[j]; }',
  'a loop over the grid in slices':
    'for (let j = i; j < x.length; j += cuda.thisGrid().size()) { if (flag > 0) s = s * 3 + bias[j]; }',
  'a branch by a counter': 'for (let k = 0; k < 4; k++) { if (k === flag) s += bias[i + k]; s += x[i]; }',
  'a test that a loop changes':
    'let on = 0; for (let k = 0; k < 3; k++) { if (on > 0) s += bias[i]; on = flag; }',
  'a test that is changed before': 'let on = 0; if (n > 2) on = flag; if (on > 0) s += bias[i]; on = 1;',
  'a test that has a name':
    'const on = flag > 0 && n > 2; for (let k = 0; k < 3; k++) { const more = on; if (more) s += bias[i]; }',
  'a branch of one row':
    'if (cuda.threadIdx.y === flag) s += bias[i]; for (let k = 0; k < n; k++) s += x[k * 256 + t];',
  'a test that memory decides': 'if (x[flag] !== 7) s += bias[i];',
  'a loop that one test is around': 'if (flag > 0) for (let k = 0; k < n; k++) s += bias[i + k];',
  'some threads of all': 'if (flag > 0) { if (t % 3 === 0) s += bias[i]; }',
  'what is chosen': 's += flag > 0 ? bias[i] : x[i];',
};

function kernelOf(body: string): Kernel {
  const text = `({ out, x, bias, kept, flag, n }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    const i = cuda.thisGrid().threadRank();
    let s = i;
    ${body}
    out[i] = s;
  }`;
  return newKernel(schema, new Function(`return ${text}`)()) as Kernel;
}

const launches = [
  { grid: 3, block: threads },
  { grid: 2, block: [32, 8] as [number, number] },
  { grid: 2, block: 40 },
];

function outcome(
  target: Target,
  kernel: Kernel,
  launch: (typeof launches)[number],
  flag: number,
  length: number,
) {
  const all = threads * 3;
  const data = {
    out: new Int32Array(all),
    x: Int32Array.from({ length: all * 4 }, (_, i) => (i === 0 ? 7 : i * 5)),
    bias: Int32Array.from({ length }, (_, i) => i * 11),
    kept: new Int32Array(length),
  };
  const { fault } = runKernel(target, kernel, { ...launch, arguments: { ...data, flag, n: 4 } });
  if (fault !== null) return { kind: fault.kind, block: fault.block };
  return [data.out.join(), data.kept.join()];
}

const native = nativeTarget();
const targets = [
  ...[wasm, wasmStates, wasmWithout('blocks'), wasmWithout('slices'), wasmWithout('turns')],
  ...(native === null ? [] : [native]),
];

describe.each(Object.entries(bodies))('%s', (_, body) => {
  const kernel = kernelOf(body);
  test.each(targets)('by $name', (target) => {
    let [faults, runs] = [0, 0];
    for (const launch of launches)
      for (const flag of [0, 1, 3])
        for (const length of [1, 100, threads * 3, threads * 12 + 4]) {
          const expected = outcome(interpreter('eager'), kernel, launch, flag, length);
          expect(outcome(target, kernel, launch, flag, length), `${flag} ${length}`).toEqual(expected);
          runs += 1;
          if (!Array.isArray(expected)) faults += 1;
        }
    expect(faults).toBeGreaterThan(0);
    expect(faults).toBeLessThan(runs);
  });
});
