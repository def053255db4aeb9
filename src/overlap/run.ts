// run() in Node: over files, as well as over arrays and streams.

import { inNode } from './in-node.ts';
import type { Job, OutputArrays } from './job.ts';
import type { JobResult, RunOptions } from './options.ts';
import type { Sequence } from './sequence.ts';
import { runWhole } from './whole-run.ts';

/**
 * What `run` of start.ts loads.
 *
 * @param asSample whether the first rows stand for all: cut as these would be, and as many as outputs take in
 */
export function run<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
  asSample = false,
): Promise<JobResult<V, O>> {
  return runWhole(inNode, work, options, asSample);
}
