// The options of run(), plan() and job.stream(), as JavaScript gives them: an object, of names that are known. A misspelt
// `output` would else be a result that goes nowhere.

import { nearestName } from '../compiler/nearest.ts';
import { problem } from '../diagnostics/problem.ts';
import { conversions } from '../formats/dtype.ts';
import { inWords } from '../runtime/arguments.ts';
import type { RunOptions } from './options.ts';
import type { PlanOptions } from './plan-job.ts';
import type { JobStreamOptions } from './stream.ts';

const runNames = {
  input: true,
  output: true,
  convert: true,
  settings: true,
  device: true,
  rows: true,
  chunk: true,
  depth: true,
  resume: true,
  signal: true,
  onProgress: true,
  onChunk: true,
  trace: true,
  fsync: true,
  overwrite: true,
  checksum: true,
  maxMemory: true,
  shard: true,
} as const satisfies Record<keyof RunOptions, true>;

const planNames = {
  input: true,
  output: true,
  convert: true,
  settings: true,
  device: true,
  signal: true,
} as const satisfies Record<keyof PlanOptions, true>;

const streamNames = {
  convert: true,
  settings: true,
  device: true,
  rows: true,
  chunk: true,
  depth: true,
  signal: true,
  onProgress: true,
  onChunk: true,
  trace: true,
  maxMemory: true,
} as const satisfies Record<keyof JobStreamOptions, true>;

const namesOf = { run: runNames, plan: planNames, stream: streamNames };

/** Throws WS4007 for what is no object, and for a name that is no option. */
export function checkOptions(called: keyof typeof namesOf, options: unknown): void {
  const isData = Array.isArray(options) || ArrayBuffer.isView(options);
  if (typeof options !== 'object' || options === null || isData) {
    throw problem(
      'WS4007',
      called === 'stream'
        ? `stream takes a source and an object of options, and was given ${inWords(options)}`
        : `${called} takes a job and an object of options, and was given ${inWords(options)}`,
      called === 'stream'
        ? "options have names: job.stream(source, { chunk: '64KiB' })"
        : `say at least what to read: ${called}(job, { input: 'x.npy' })`,
    );
  }
  const names = Object.keys(namesOf[called]);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, names);
    const guess = nearest === null ? '' : `did you mean '${nearest}'? `;
    throw problem(
      'WS4007',
      `${called} has no option '${unknown}'`,
      `${guess}its options are ${names.join(', ')}`,
    );
  }
  const { convert } = options as { readonly convert?: unknown };
  if (convert === undefined || (conversions as readonly unknown[]).includes(convert)) return;
  throw problem(
    'WS4007',
    `convert is ${JSON.stringify(convert)}`,
    `it can be '${conversions.join("' or '")}'`,
  );
}
