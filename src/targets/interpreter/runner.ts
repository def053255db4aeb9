// The interpreter behind the seam of executable.ts: slow, and right.

import type { Program } from '../../compiler/ir.ts';
import type { BlockRunner, Executable, Fault, RunnerContext } from '../executable.ts';
import { synchronisesGrid } from '../grid.ts';
import { withPolls } from '../legalise/polls.ts';
import { kernelRank } from '../legalise/thread-order.ts';
import { placeIn } from '../place-in.ts';
import { Block } from './block.ts';
import { compileCohorts } from './cohorts.ts';
import { KernelFault } from './fault.ts';
import { Grid } from './grid.ts';
import { readLaunch } from './launch.ts';
import type { ObservedProgram } from './observer.ts';
import { Random } from './random.ts';
import { stageObserver } from './stage-observer.ts';
import { compileStatements } from './statements.ts';

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

/** Who observes what a runner's threads do, and of which arithmetic. */
export type Observation = Pick<ObservedProgram, 'observer' | 'exact'>;

/** Compiles the program to closures; the runner runs one block after the other. */
export function createInterpreterRunner(
  executable: InterpreterExecutable,
  context: RunnerContext,
  observation: Observation = {},
): BlockRunner {
  const { delivery, steps } = executable;
  const stages = context.stages === undefined ? {} : { observer: stageObserver(context.stages) };
  const program: ObservedProgram = { ...withPolls(executable.program), ...stages, ...observation };
  const { cohorts } = program;
  const body =
    cohorts === undefined ? compileStatements(program, program.body) : compileCohorts(program, cohorts);
  return (record, arena, first, end) => {
    const launch = readLaunch(program, context, record, arena);
    const { observer } = launch;
    const fault = faultOf(program, () => {
      observer?.launchBegan(launch);
      const order = orderOfBlocks(first, end, observer === null ? 'eager' : delivery);
      if (body.kind !== 'plain' && synchronisesGrid(program)) {
        const grid = new Grid();
        grid.run(
          order.map((linear) => new Block(launch.ofBlock(linear), linear, { delivery, steps, grid })),
          body,
        );
        return;
      }
      for (const linear of order) new Block(launch, linear, { delivery, steps }).run(body);
    });
    observer?.launchEnded(launch, fault);
    return fault;
  };
}

function faultOf(program: Program, run: () => void): Fault | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof KernelFault) return asOfKernel(error.fault, program);
    throw error;
  }
}

/** A fault of the thread that the kernel's text knows, where another one of the hardware does its work. */
function asOfKernel(fault: Fault, { threadOrder, block }: Program): Fault {
  if (threadOrder === undefined || !('thread' in fault)) return fault;
  const [x, y, z] = fault.thread;
  const rank = kernelRank(threadOrder, (z * block[1] + y) * block[0] + x);
  return { ...fault, thread: placeIn(block, rank) };
}

/** Blocks in their order; under a seed in a random one, as blocks may not rely on any. */
function orderOfBlocks(first: number, end: number, delivery: Delivery): number[] {
  const blocks = Array.from({ length: end - first }, (_, i) => first + i);
  if (typeof delivery === 'number') new Random(delivery, -1).shuffle(blocks);
  return blocks;
}
