// Runs a kernel on every way of every target of the CPU, and asks for the same from all; and on a GPU, where
// there is one, what ends well: a fault there is what nobody can go on from.

import { expect } from 'vitest';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import type { Executable, Fault } from '#warpstage/targets/executable.js';
import { cudaTargets } from './cuda.ts';
import { deliveries, interpreter } from './interpreter.ts';
import { nativeInTurn } from './native.ts';
import { type KernelLaunch, runKernel } from './run-kernel.ts';
import type { Target } from './run-program.ts';
import { isFirst } from './thorough.ts';
import { wasm, wasmStates } from './wasm.ts';

/** The interpreter under each policy of delivery, and WebAssembly as chosen and as state machines; of a rest, one of each. */
const targets: readonly Target[] = isFirst
  ? [...deliveries.map((delivery) => interpreter(delivery)), wasm, wasmStates]
  : [interpreter('late'), wasm];

export interface Everywhere {
  readonly arguments: KernelLaunch['arguments'];
  readonly fault: Fault | null;
  /** How WebAssembly runs the kernel by choice. */
  readonly mode: Extract<Executable, { target: 'wasm' }>['mode'];
}

/**
 * What all targets do, at length also the CPU's own instructions, as chosen or as state machines in turn; the arrays of the launch
 * stay as they are. Where `native` is false these are left out: of random kernels few are given to the system's compiler.
 */
export function runEverywhere(kernel: Kernel, launch: KernelLaunch, { native = true } = {}): Everywhere {
  const run = (target: Target) => {
    const copies = Object.fromEntries(
      Object.entries(launch.arguments).map(([name, value]) => [
        name,
        ArrayBuffer.isView(value) ? (value as Int32Array).slice() : value,
      ]),
    );
    const { fault, executable } = runKernel(target, kernel, { ...launch, arguments: copies });
    return { target: target.name, arguments: copies, fault, executable };
  };
  const runs = [...targets, ...(native ? nativeInTurn(kernel, launch) : [])].map(run);
  const [first, ...others] = runs;
  if (first!.fault === null) others.push(...cudaTargets.map(run));
  for (const { target, fault, arguments: results, executable } of others) {
    // Under a seed another thread may be the first to go wrong.
    const isSeeded = executable.target === 'interpreter' && typeof executable.delivery === 'number';
    const reported = (one: Fault | null) => (isSeeded && one !== null ? { ...one, thread: null } : one);
    expect({ target, fault: reported(fault) }).toEqual({ target, fault: reported(first!.fault) });
    if (fault === null) expect({ target, results }).toEqual({ target, results: first!.arguments });
  }
  const chosen = runs.find(({ target }) => target === wasm.name)!.executable;
  if (chosen.target !== 'wasm') throw new Error('not an executable of WebAssembly');
  return { arguments: first!.arguments, fault: first!.fault, mode: chosen.mode };
}
