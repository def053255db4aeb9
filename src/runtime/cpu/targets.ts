// The targets of the CPU device: how each compiles a program, and what runs it.
//
// A target is loaded when a device that uses it is opened.

import type { WasmExecutable, WasmOptions } from '../../targets/wasm/compile.ts';
import type { CpuTarget } from './device.ts';

/** Loads a target. `delivery` is the interpreter's; `widen`: for a memory of more than 4 GiB (widened.ts). */
export async function loadTarget(
  name: 'wasm' | 'interpreter',
  delivery: 'eager' | 'late' | number,
  widen?: WasmOptions['widen'],
): Promise<CpuTarget> {
  if (name === 'wasm') {
    const { compileWasm, compileWithStages } = await import('../../targets/wasm/compile.ts');
    return {
      compile: (program) => compileWasm(program, { widen }),
      withStages: (executable) => compileWithStages(executable as WasmExecutable, { widen }),
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
