// WebAssembly as a target of `runProgram`, and a look into the modules that it makes.

import { compileWasm, type WasmExecutable } from '#warpstage/targets/wasm/compile.js';
import { createWasmRunner } from '#warpstage/targets/wasm/runner.js';
import type { Target } from './run-program.ts';

export const wasm: Target = {
  name: 'wasm',
  compile: compileWasm,
  createRunner(executable, context) {
    return createWasmRunner(executable as WasmExecutable, context);
  },
};
