// traceStages(): what the stages of a block's pipelines do over time, as spans for the timeline.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel, Schema } from '../kernel/kernel.ts';
import { faultError } from '../runtime/faults.ts';
import { kernelInWords } from '../runtime/launch.ts';
import { StageTimes } from '../targets/checker/stage-times.ts';
import { combineObservers } from '../targets/interpreter/observers.ts';
import { createInterpreterRunner, interpreterExecutable } from '../targets/interpreter/runner.ts';
import type { Span } from '../timeline/span.ts';
import { bindLaunch, type CheckLaunch } from './launch.ts';
import { LaunchMemory } from './memory.ts';

export interface StageTraceOptions {
  /** Which block, in the order of the grid, x fastest. Default 0. */
  readonly block?: number;
  /** Steps from the issue of a copy to its first element. Default 32. */
  readonly copyLatency?: number;
  /** Elements of a thread's share of a copy that arrive in a step. Default 1. */
  readonly copyRate?: number;
}

/**
 * Runs a launch and tells, for each batch of each pipeline of one block, from when to when it was acquired,
 * copied, waited for, computed with and released. Times are logical steps: a step for each access to an
 * array. The engine of a span is what was done, its stream the stage.
 *
 * @example
 * const spans = traceStages(kernel, { grid: 1, block: 64, arguments: { out: { length: 512 }, in: { length: 512 } } });
 * await writeFile('stages.html', tracePage([{ title: 'stages of block 0', facts: {}, spans }]));
 *
 * @throws WarpstageError for a kernel that does not compile, arguments that do not fit it, and a fault of the run
 */
export function traceStages<const S extends Schema>(
  kernel: Kernel<S>,
  launch: CheckLaunch<S>,
  { block = 0, copyLatency = 32, copyRate = 1 }: StageTraceOptions = {},
): Span[] {
  const bound = bindLaunch(kernel as unknown as Kernel, launch as unknown as CheckLaunch<never>);
  const { program, grid, sources } = bound;
  const blocks = grid[0] * grid[1] * grid[2];
  const valid = [
    [Number.isInteger(block) && block >= 0 && block < blocks, `block must be a whole number below ${blocks}`],
    [copyLatency >= 0, 'copyLatency must be a number of steps, 0 or above'],
    [copyRate > 0, 'copyRate must be a number of elements, above 0'],
  ] as const;
  for (const [holds, message] of valid) {
    if (!holds) {
      throw new WarpstageError({
        code: 'WS4007',
        message: `trace of ${kernelInWords(program.name)}: ${message}`,
      });
    }
  }
  const times = new StageTimes(block, { latency: copyLatency, rate: copyRate });
  const memory = new LaunchMemory(bound);
  memory.reset();
  const runner = createInterpreterRunner(
    interpreterExecutable(program, 'eager'),
    { memory: memory.memory, print: () => {} },
    { observer: combineObservers([times]), exact: new Set() },
  );
  const fault = runner(memory.record, memory.arena, 0, blocks);
  if (fault !== null) throw faultError({ name: program.name, sources, grid }, [fault]);
  return times.spans();
}
