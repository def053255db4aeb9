// The CPU's own instructions as a target of `runProgram`: everything is run by libraries, never by WebAssembly.
//
// Where there is no compiler there are none of these, save where CI expects one.

import type { Kernel } from '#warpstage/kernel/kernel.js';
import { findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries } from '#warpstage/runtime/cpu/native/libraries.js';
import { createNativeRunner } from '#warpstage/runtime/cpu/native/runner.js';
import { type NativeOptions, NativeTarget } from '#warpstage/runtime/cpu/native/target.js';
import { nativeStates } from '#warpstage/targets/executable.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import type { WasmExecutable } from '#warpstage/targets/wasm/compile.js';
import { addressing } from './addresses.ts';
import type { KernelLaunch } from './run-kernel.ts';
import type { Target } from './run-program.ts';
import { atLength, isFirst, isInTurn } from './thorough.ts';
import { hasTool } from './tools.ts';

export const hasCompiler = hasTool('cc');

/** Those that are here, and differ. */
export const compilers = (atLength ? ['cc', 'clang', 'clang-15'] : ['cc']).filter(hasTool);

/** Kernels are compiled into a folder that goes with this process, so that none is one of before. */
const compiler = hasCompiler ? await findCompiler() : null;
const libraries = new Libraries(null);

function target(name: string, options: NativeOptions, width = compiler!.width): Target {
  const made = new NativeTarget(
    { ...compiler!, width },
    { ...addressing, ...options, waits: true },
    libraries,
  );
  return {
    name,
    compile(program) {
      const executable = made.compile(program);
      made.check(executable);
      return executable;
    },
    createRunner(executable, context) {
      const runner = createNativeRunner(executable as WasmExecutable, context);
      runner.begins!();
      const { native } = executable as WasmExecutable;
      if (Atomics.load(new Int32Array(native!.state), 0) !== nativeStates.adopted)
        throw new Error('the library was not taken');
      return runner;
    },
  };
}

/** As a kernel is run by choice, and by state machines. */
export const nativeTargets: readonly Target[] =
  hasCompiler && atLength ? [target('native', {}), target('native, states', { mode: 'states' })] : [];

/** All these targets; of a rest, those that nothing ran on before. */
export function newAmong(targets: readonly Target[]): readonly Target[] {
  return isFirst || nativeTargets.length === 0 ? targets : nativeTargets;
}

/**
 * One of these for half of all that is run, so that of many kernels a quarter runs in each way: the system's compiler takes
 * longer for one than all other targets together.
 */
export function nativeInTurn({ body }: Kernel, { block, arguments: data }: KernelLaunch): readonly Target[] {
  const scalars = Object.entries(data).filter(([, value]) => !ArrayBuffer.isView(value));
  const text = `${body}${JSON.stringify([block, scalars], (_, value) => (typeof value === 'bigint' ? String(value) : value))}`;
  let sum = 0;
  for (let i = 0; i < text.length; ++i) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0;
  return nativeTargets.filter((_, way) => !isInTurn || way === ((sum >>> 8) & 3));
}

/** As a kernel is run by choice, with vectors of this processor's width; null where there is no compiler. `without`: leaves out a pass. */
export function nativeTarget(without?: OptionalCpuPass): Target | null {
  if (!hasCompiler) return null;
  return without === undefined
    ? target('native', {})
    : target(`native without ${without}`, { without: [without] });
}

/** Whether a random kernel is one of the eighth that the system's compiler gets: by its text, so that a run can be repeated. */
export function isForCompiler(text: string): boolean {
  return text.length % 8 === 0;
}

/** With vectors of one, two and four times 128 bits, whatever this processor has. */
export const nativeOfWidth: readonly (readonly [1 | 2 | 4, Target])[] = hasCompiler
  ? ([1, 2, 4] as const).map((width) => [width, target(`native of width ${width}`, {}, width)])
  : [];
