// Runs a program on the interpreter and on WebAssembly, and asks for the same.

import { expect } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import type { Executable, Fault } from '#warpstage/targets/executable.js';
import { interpreter } from './interpreter.ts';
import { type ProgramLaunch, runProgram } from './run-program.ts';
import { wasm } from './wasm.ts';

export interface Agreement {
  readonly fault: Fault | null;
  readonly printed: readonly string[];
  /** The arguments, with what the kernel left in the arrays. */
  readonly arguments: ProgramLaunch['arguments'];
  readonly executable: Extract<Executable, { target: 'wasm' }>;
}

const oracle = interpreter('eager');

/** What both targets do; arrays of the launch stay as they are. */
export function expectAgreement(program: Program, launch: ProgramLaunch): Agreement {
  const [expected, actual] = [oracle, wasm].map((target) => {
    const copies = Object.fromEntries(
      Object.entries(launch.arguments).map(([name, value]) => [
        name,
        typeof value === 'object' ? value.slice() : value,
      ]),
    );
    return { arguments: copies, ...runProgram(target, program, { ...launch, arguments: copies }) };
  });
  expect(actual!.fault).toEqual(expected!.fault);
  expect(actual!.printed).toEqual(expected!.printed);
  if (expected!.fault === null) expect(actual!.arguments).toEqual(expected!.arguments);
  const { executable } = actual!;
  if (executable.target !== 'wasm') throw new Error('not an executable of WebAssembly');
  return { ...actual!, executable };
}
