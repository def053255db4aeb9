// The targets of the CPU device: how each compiles a program, and what runs it.
//
// A target is loaded when a device that uses it is opened.

import type { WasmExecutable, WasmOptions } from '../../targets/wasm/compile.ts';
import type { CpuTarget } from './device.ts';

/** Loads a target. `delivery` is the interpreter's; `memory64`: for a memory of more than 4 GiB (memory64.ts). */
export async function loadTarget(
  name: 'wasm' | 'interpreter',
  delivery: 'eager' | 'late' | number,
  memory64?: WasmOptions['memory64'],
): Promise<CpuTarget> {
  if (name === 'wasm') {
    const { compileWasm, compileWithStages } = await import('../../targets/wasm/compile.ts');
    return {
      compile: (program) => compileWasm(program, { memory64 }),
      withStages: (executable) => compileWithStages(executable as WasmExecutable, { memory64 }),
      runners: name,
      parallel: true,
    };
  }
  const { interpreterExecutable } = await import('../../targets/interpreter/runner.ts');
  return {
    compile: (program) => interpreterExecutable(program, delivery),
    withStages: (executable) => ({ ...executable }),
    runners: name,
    parallel: false,
  };
}
