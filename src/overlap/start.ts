// run() and plan() as users call them, and job() and its like, whose streams are run here.
//
// What they need, two thirds of this package, is loaded at the first call: a process that
// launches kernels by itself starts without it.

import { startEarly } from '../runtime/cpu/early-thread.ts';
import { type DeclareJob, job as declareJob, type Job, type OutputArrays } from './job.ts';
import { type DeclareMap, map as declareMap } from './map.ts';
import type { JobResult, RunOptions } from './options.ts';
import type { JobPlan, PlanOptions } from './plan-job.ts';
import { reduce as declareReduce } from './reduce.ts';
import type { Sequence } from './sequence.ts';
import { startedBy } from './started-by.ts';

/**
 * Streams data through a job's kernel: reading, copies, kernels and writing overlap, and memory
 * stays bounded whatever the size.
 *
 * @example
 * const { report } = await run(affineJob, { input: 'x.npy', output: 'y.npy', settings: { a: 2 }, device });
 *
 * @example
 * const { outputs } = await run(affineJob, { input: new Float32Array([1, 2, 3]), device });
 * outputs.y; // a Float32Array
 *
 * @throws WarpstageError with a code of the 5000s for a job or data at fault, WS5009 when stopped, WS4007 for an option that there is not
 */
export async function run<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
): Promise<JobResult<V, O>> {
  // Memory that is limited is counted thread by thread.
  await using _ = options?.maxMemory === undefined ? startEarly(options?.device, options?.input) : null;
  return await runLoaded(work, options);
}

// Apart, as the compiler does not rewrite the name of a module where something is disposed of.
async function runLoaded<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
): Promise<JobResult<V, O>> {
  const { run } = await import('./run.ts');
  return await run(work, options);
}

/**
 * Predicts a run.
 *
 * @example
 * const { wall, bound, best } = await plan(affine, { input: 'x.npy', output: 'y.npy', device: 'model:h200' });
 *
 * @throws WarpstageError as `run` does
 */
export async function plan<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: PlanOptions,
): Promise<JobPlan> {
  const { plan } = await import('./plan-job.ts');
  return await plan(work, options);
}

// Their streams are run by the `run` above; their docstrings are with their types.
export const job = /* @__PURE__ */ startedBy(run, declareJob as DeclareJob);
export const map = /* @__PURE__ */ startedBy(run, declareMap as DeclareMap);
export const reduce = /* @__PURE__ */ startedBy(run, declareReduce);
