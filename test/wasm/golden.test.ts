// The code of two of the guide's kernels and of a small one, as a whole. Run vitest with -u to
// write it anew, and read the difference.

import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { compileWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { disassemble } from '../support/disassemble.ts';
import { scale, stagingThreadScope, stagingUnified } from '../support/programs.ts';

test.each<[name: string, program: Program, vectorised: boolean]>([
  ['scale', scale({ block: 64 }), true],
  ['staging-unified', stagingUnified({ block: 256, stages: 4 }), true],
  ['staging-scope-thread', stagingThreadScope({ block: 64 }), true],
])('%s', async (name, program, vectorised) => {
  expect(compileWasm(program)).toMatchObject({ target: 'wasm', mode: 'regions', vectorised });
  await expect(disassemble(wasmBytes(program))).toMatchFileSnapshot(`golden/${name}.wat`);
});
