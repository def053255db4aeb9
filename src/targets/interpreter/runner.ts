// The interpreter behind the seam of executable.ts: slow, and right.

import type { Program } from '../../compiler/ir.ts';
import type { BlockRunner, Executable, RunnerContext } from '../executable.ts';
import { Block } from './block.ts';
import { KernelFault } from './fault.ts';
import { readLaunch } from './launch.ts';
import { compileProgram } from './statements.ts';

export type InterpreterExecutable = Extract<Executable, { target: 'interpreter' }>;

/** When asynchronous copies arrive; with a seed, also in which order threads run. */
export type Delivery = InterpreterExecutable['delivery'];

/** How many times a block's threads may go round in loops before that is called endless. */
export const defaultSteps = 2 ** 28;

/** A program as the interpreter runs it. */
export function interpreterExecutable(
  program: Program,
  delivery: Delivery,
  { steps = defaultSteps }: { readonly steps?: number } = {},
): InterpreterExecutable {
  return { target: 'interpreter', program, scratchBytes: 0, delivery, steps };
}

/** Compiles the program to closures; the runner runs one block after the other. */
export function createInterpreterRunner(
  executable: InterpreterExecutable,
  context: RunnerContext,
): BlockRunner {
  const { program, delivery, steps } = executable;
  const body = compileProgram(program);
  return (record, arena, first, end) => {
    const launch = readLaunch(program, context, record, arena);
    try {
      for (let linear = first; linear < end; linear += 1) {
        new Block(launch, linear, { delivery, steps }).run(body);
      }
      return null;
    } catch (error) {
      if (error instanceof KernelFault) return error.fault;
      throw error;
    }
  };
}
