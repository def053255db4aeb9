// WebAssembly as a target of `runProgram`, and a look into the modules that it makes.

import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { compileWasm, compileWithStages, type WasmExecutable } from '#warpstage/targets/wasm/compile.js';
import { createWasmRunner } from '#warpstage/targets/wasm/runner.js';
import { addressing } from './addresses.ts';
import type { Target } from './run-program.ts';

export const wasm: Target = {
  name: 'wasm',
  compile: (program) => compileWasm(program, addressing),
  createRunner(executable, context) {
    return createWasmRunner(executable as WasmExecutable, context);
  },
};

/** Without a pass for the CPU. */
export function wasmWithout(pass: OptionalCpuPass): Target {
  return {
    ...wasm,
    name: `wasm without ${pass}`,
    compile: (program) => compileWasm(program, { ...addressing, without: [pass] }),
  };
}

/** Every program by resumable state machines, also those that could do without. */
export const wasmStates: Target = {
  ...wasm,
  name: 'wasm, states',
  compile: (program) => compileWasm(program, { ...addressing, mode: 'states' }),
};

/** Every program in the form that tells of the stages of its pipelines, which nobody listens to here. */
export const wasmWithStages: Target = {
  ...wasm,
  name: 'wasm, with stages',
  compile: (program) => compileWithStages(compileWasm(program, addressing), addressing),
};

export const wasmStatesWithStages: Target = {
  ...wasm,
  name: 'wasm, states, with stages',
  compile: (program) =>
    compileWithStages(compileWasm(program, { ...addressing, mode: 'states' }), addressing),
};
