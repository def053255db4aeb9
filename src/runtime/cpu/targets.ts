// The targets of the CPU device: how each compiles a program, and where its runners are.
//
// A target is loaded when a device that uses it is opened.

import type { CpuTarget } from './device.ts';

/** Loads a target. `delivery` is the interpreter's. */
export async function loadTarget(
  _name: 'wasm' | 'interpreter',
  delivery: 'eager' | 'late' | number,
): Promise<CpuTarget> {
  const { interpreterExecutable } = await import('../../targets/interpreter/runner.ts');
  return {
    compile: (program) => interpreterExecutable(program, delivery),
    runners: {
      url: new URL('../../targets/interpreter/runner.js', import.meta.url).href,
      name: 'createInterpreterRunner',
    },
    parallel: false,
  };
}
