// How the rows of a job are cut into pieces, whatever runs them: which rows are the n-th piece's, and which jobs can be cut.

import { count } from '../../diagnostics/count.ts';
import { problem } from '../../diagnostics/problem.ts';
import type { AnyDefinition } from '../job.ts';
import type { OutputData } from '../options.ts';
import type { Shard } from './piece-files.ts';

/** As many pieces as their names have digits for. */
const most = 999_999;

/** Throws WS5008 for what is no shard. */
export function checkShard(shard: unknown): void {
  if (shard === undefined) return;
  const [n, of] = Array.isArray(shard) && shard.length === 2 ? (shard as unknown[]) : [];
  const isShard = Number.isInteger(n) && Number.isInteger(of) && (n as number) >= 1 && (of as number) <= most;
  if (isShard && (n as number) <= (of as number)) return;
  throw problem(
    'WS5008',
    `a shard is the n-th of so many, and is ${JSON.stringify(shard)}`,
    `write for example --shard 3/10 (shard: [3, 10] in a program), with at most ${count(most)}`,
  );
}

/** The rows of a piece, or all: cut where outputs' ratios have no rest. Undefined if the rows are known at the end only. */
export function partOf(
  rows: number | undefined,
  granularity: number,
  shard: Shard | undefined,
): { readonly begin: number; readonly end: number } | undefined {
  if (shard === undefined) return rows === undefined ? undefined : { begin: 0, end: rows };
  if (rows === undefined) {
    throw problem(
      'WS5005',
      'the work cannot be cut: how long the input is shows only at its end',
      'save it to a file first',
    );
  }
  const [n, of] = shard;
  const units = Math.ceil(rows / granularity);
  const cut = (k: number) => Math.min(rows, Math.floor((units * k) / of) * granularity);
  return { begin: cut(n - 1), end: n === of ? rows : cut(n) };
}

/** Refuses work that has more than its outputs, or no files for them. Throws WS5007, WS5006. */
export function checkSharded(definition: AnyDefinition, outputs: readonly (OutputData | undefined)[]): void {
  const accumulators = Object.keys(definition.accumulators ?? {});
  if (accumulators.length > 0 || outputs.length === 0) {
    const why = accumulators.length > 0 ? `accumulators (${accumulators.join(', ')})` : 'a value';
    throw problem('WS5007', `the work cannot be cut: it gives ${why}, and not outputs alone`, 'run it whole');
  }
  if (definition.keep !== undefined) {
    const message = 'the work cannot be cut: how many rows a piece keeps is known when it has run';
    throw problem(
      'WS5007',
      message,
      'run it whole, or have it write which rows it keeps, and keep them in a second job',
    );
  }
  for (const data of outputs) {
    const path = typeof data === 'string' ? data : data !== undefined && 'file' in data ? data.file : '-';
    if (path !== '-') continue;
    throw problem('WS5006', 'a piece of an output is a file, and no file is named for it', 'name a file');
  }
}
