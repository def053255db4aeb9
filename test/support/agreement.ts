// Runs a program on the interpreter and on WebAssembly, and asks for the same.

import { expect } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import type { Executable, Fault } from '#warpstage/targets/executable.js';
import { interpreter } from './interpreter.ts';
import { type ProgramLaunch, type ProgramResult, runProgram } from './run-program.ts';
import { wasm, wasmStates } from './wasm.ts';

export interface Agreement {
  readonly fault: Fault | null;
  readonly printed: readonly string[];
  /** The arguments, with what the kernel left in the arrays. */
  readonly arguments: ProgramLaunch['arguments'];
  readonly executable: Extract<Executable, { target: 'wasm' }>;
}

const oracle = interpreter('eager');

/** What both targets do; arrays of the launch stay as they are. */
export function expectAgreement(program: Program, launch: ProgramLaunch, target = wasm): Agreement {
  const [expected, actual] = [oracle, target].map((each) => {
    const copies = Object.fromEntries(
      Object.entries(launch.arguments).map(([name, value]) => [
        name,
        typeof value === 'object' ? value.slice() : value,
      ]),
    );
    return { arguments: copies, ...runProgram(each, program, { ...launch, arguments: copies }) };
  });
  expect(actual!.fault).toEqual(expected!.fault);
  if (expected!.fault === null) expect(actual!.arguments).toEqual(expected!.arguments);
  const { executable } = actual!;
  if (executable.target !== 'wasm') throw new Error('not an executable of WebAssembly');
  // State machines run the threads in another order; each prints in its own.
  const lines = ({ printed }: ProgramResult) =>
    executable.mode === 'states' ? [...printed].sort() : printed;
  expect(lines(actual!)).toEqual(lines(expected!));
  return { ...actual!, executable };
}

/** The same for a program that runs as state machines: by default any one, else because it needs them. */
export function expectStates(program: Program, launch: ProgramLaunch, target = wasmStates): Agreement {
  const agreement = expectAgreement(program, launch, target);
  expect(agreement.executable.mode).toBe('states');
  return agreement;
}

/** Numbers that differ from element to element. */
export const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);
