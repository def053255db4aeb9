// run() in Node: over files, as well as over arrays and streams.

import { inNode } from './in-node.ts';
import type { Job, OutputArrays } from './job.ts';
import type { JobResult, RunOptions } from './options.ts';
import type { Sequence } from './sequence.ts';
import { type RunWays, runWhole } from './whole-run.ts';

/** What `run` of start.ts loads. `ways`: for other parts of this package. */
export function run<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
  ways: RunWays = {},
): Promise<JobResult<V, O>> {
  return runWhole(inNode, work, options, ways);
}
