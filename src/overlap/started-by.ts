// Who runs the stream of a job: the `run` of the entry that declares jobs, which is Node's or a browser's.
//
// Jobs are declared by the same code everywhere, which must not name either. So an entry gives `job` and its like away
// with its `run`. That is an expression without another effect: a bundle that declares no job has none of it.

import type { Job, OutputArrays } from './job.ts';
import type { JobResult, RunOptions } from './options.ts';

/** What runs a job: `run` of start.ts or of start-in-browser.ts. */
export type Run = <V, O extends OutputArrays>(
  work: Job<V, O>,
  options: RunOptions,
) => Promise<JobResult<V, O>>;

let chosen: Run | undefined;

/** `declare` as it is; the streams of its jobs are run by `run`. */
export function startedBy<F>(run: Run, declare: F): F {
  chosen ??= run;
  return declare;
}

/** The `run` of the entry. */
export function chosenRun(): Run {
  // No entry gives a job away without it.
  return chosen!;
}
