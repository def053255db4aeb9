// run() in a browser, as users call it, and job() and its like, whose streams are run here. What it needs is loaded at the first call.

import { type DeclareJob, job as declareJob, type Job, type OutputArrays } from './job.ts';
import { type DeclareMap, map as declareMap } from './map.ts';
import type { JobResult, RunOptions } from './options.ts';
import { reduce as declareReduce } from './reduce.ts';
import type { Sequence } from './sequence.ts';
import { startedBy } from './started-by.ts';

/**
 * Streams data through a job's kernel, in a browser: from arrays and streams to arrays and streams. Memory stays bounded
 * whatever the size. Of the options those are not there that are about files and processes: `resume`, `shard`,
 * `checksum`, `fsync`, `overwrite` and `maxMemory`.
 *
 * @example
 * const { outputs } = await run(affineJob, { input: new Float32Array([1, 2, 3]), settings: { a: 2 } });
 * outputs.y; // a Float32Array
 *
 * @example
 * const { body } = await fetch('x.bin');
 * await run(affineJob, { input: body, output: await handle.createWritable() });
 *
 * @throws WarpstageError with a code of the 5000s for a job or data at fault, WS5009 when stopped, WS4007 for an option that there is not
 */
export async function run<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
): Promise<JobResult<V, O>> {
  const [{ runWhole }, { inBrowser }] = await Promise.all([
    import('./whole-run.ts'),
    import('./in-browser.ts'),
  ]);
  return await runWhole(inBrowser, work, options);
}

// Their streams are run by the `run` above; their docstrings are with their types.
export const job = /* @__PURE__ */ startedBy(run, declareJob as DeclareJob);
export const map = /* @__PURE__ */ startedBy(run, declareMap as DeclareMap);
export const reduce = /* @__PURE__ */ startedBy(run, declareReduce);
