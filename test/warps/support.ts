// Runs a kernel on the interpreter and, as regions where that is possible and as state machines,
// on WebAssembly, and asks for the same results and the same fault; and on a GPU, where there is one,
// what ends well.

import { expect } from 'vitest';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import type { Fault } from '#warpstage/targets/executable.js';
import { cudaTargets } from '../support/cuda.ts';
import { deliveries, interpreter } from '../support/interpreter.ts';
import { nativeInTurn } from '../support/native.ts';
import { type KernelLaunch, runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

export interface Outcome {
  readonly fault: Fault | null;
  /** How WebAssembly ran it when it was free to choose. */
  readonly mode: 'regions' | 'states';
  readonly vectorised: boolean;
  readonly arguments: KernelLaunch['arguments'];
}

function run(target: Parameters<typeof runKernel>[0], kernel: Kernel, launch: KernelLaunch) {
  const copies = Object.fromEntries(
    Object.entries(launch.arguments).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? value.slice() : value,
    ]),
  );
  return { arguments: copies, ...runKernel(target, kernel, { ...launch, arguments: copies }) };
}

/** The one outcome of all targets and schedules, of the two of the CPU's own instructions one in turn; without the CPU's own instructions where `native` is false. */
export function outcomeOf(kernel: Kernel, launch: KernelLaunch, { native = true } = {}): Outcome {
  const chosen = run(wasm, kernel, launch);
  const { executable } = chosen;
  if (executable.target !== 'wasm') throw new Error('not an executable of WebAssembly');
  const gpu = chosen.fault === null ? cudaTargets : [];
  const compiled = native ? nativeInTurn(kernel, launch) : [];
  const others = [wasmStates, ...compiled, ...deliveries.map((each) => interpreter(each)), ...gpu];
  for (const target of others) {
    const other = run(target, kernel, launch);
    // Which thread of several at fault is found first depends on the schedule.
    if (chosen.fault === null) expect(other.fault).toEqual(null);
    else expect(other.fault).toMatchObject({ kind: chosen.fault.kind });
    if (chosen.fault === null) expect(other.arguments).toEqual(chosen.arguments);
  }
  const { mode, vectorised } = executable;
  return { fault: chosen.fault, mode, vectorised, arguments: chosen.arguments };
}

/** What a kernel leaves in an array, called `out` unless it is said. */
export function outputOf(
  kernel: Kernel,
  launch: KernelLaunch,
  mode: Outcome['mode'],
  name = 'out',
): (number | bigint)[] {
  const outcome = outcomeOf(kernel, launch);
  expect(outcome.fault).toBe(null);
  expect(outcome.mode).toBe(mode);
  return Array.from(outcome.arguments[name] as ArrayLike<number | bigint>);
}
