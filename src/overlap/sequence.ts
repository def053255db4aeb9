// Several jobs one after the other over the same input, where one pass's value sets the next.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { inWords } from '../runtime/arguments.ts';
import type { Job, OutputArrays, SettingValue } from './job.ts';

/** A pass whose settings come from the value of the pass before it. */
export interface FollowingPass<V = never, W = unknown, O extends OutputArrays = OutputArrays> {
  readonly job: Job<W, O>;
  /** Settings made of the value of the pass before; they go over defaults and over `--set`. */
  readonly settings: (value: V) => Readonly<Record<string, SettingValue>>;
}

/** Jobs that run one after the other over the same input. Made by `sequence()`, run by `run()`. */
export interface Sequence<V = unknown, O extends OutputArrays = OutputArrays> {
  readonly kind: 'sequence';
  readonly name: string;
  readonly first: Job;
  readonly following: readonly FollowingPass[];
  /** Types only: what a run gives. */
  readonly gives?: { readonly value: V; readonly outputs: O };
}

/**
 * Runs jobs one after the other over the same input. Each pass but the last reduces; the value
 * of the last, and its outputs, are those of the whole.
 *
 * @example
 * export const zscore = sequence([
 *   moments,
 *   { job: standardise, settings: ({ mean, deviation }) => ({ mean, deviation }) },
 * ]);
 *
 * @throws WarpstageError WS5007 where a pass before the last has outputs
 */
export function sequence<V, W, O extends OutputArrays>(
  passes: readonly [Job<V>, FollowingPass<V, W, O>],
): Sequence<W, O>;
export function sequence<V, W, X, O extends OutputArrays>(
  passes: readonly [Job<V>, FollowingPass<V, W>, FollowingPass<W, X, O>],
): Sequence<X, O>;
export function sequence(passes: readonly [Job, ...FollowingPass[]]): Sequence {
  const issue = listIssue(passes) ?? passes.map(passIssue).find(Boolean);
  if (issue) throw new WarpstageError(issue, { caller: sequence });
  const [first, ...following] = passes;
  const jobs = [first, ...following.map((pass) => pass.job)];
  const output = jobs.slice(0, -1).map(hasOutputs).find(Boolean);
  if (output) throw new WarpstageError(output, { caller: sequence });
  return Object.freeze({ kind: 'sequence', name: jobs.at(-1)!.name, first, following });
}

/** A caller without types may give something else. */
function listIssue(passes: unknown): Issue | undefined {
  if (Array.isArray(passes) && passes.length > 0) return undefined;
  const message = `sequence takes a list of passes, and was given ${Array.isArray(passes) ? 'an empty one' : inWords(passes)}`;
  return { code: 'WS5007', message, hint: `write sequence([job, ${laterPass}])` };
}

const laterPass = '{ job, settings: (value) => ({ … }) }';

function passIssue(pass: unknown, position: number): Issue | undefined {
  const isJob = (one: unknown) => (one as Job | null | undefined)?.kind === 'job';
  const { job, settings } = (pass ?? {}) as Partial<FollowingPass>;
  if (position === 0 ? isJob(pass) : isJob(job) && typeof settings === 'function') return undefined;
  const wrong = (what: string, hint: string): Issue => ({
    code: 'WS5007',
    message: `pass ${position + 1} of the sequence ${what}`,
    hint,
  });
  if (position === 0) return wrong('is no job', 'make it with job({ … })');
  if (isJob(job) || isJob(pass)) {
    return wrong('does not say its settings by the value of the pass before', `write ${laterPass}`);
  }
  return wrong('is no job', `make it with job({ … }), and write ${laterPass}`);
}

function hasOutputs({ name, definition }: Job, position: number): Issue | undefined {
  if (Object.keys(definition.outputs ?? {}).length === 0) return undefined;
  const message = `pass ${position + 1} of the sequence, '${name}', has outputs; only the last pass may`;
  const hint = 'let it reduce into accumulators, or run it as a job of its own into a file';
  return { code: 'WS5007', message, hint };
}

/** The jobs of a job or sequence, in their order. */
export function jobsOf(work: Job | Sequence): readonly Job[] {
  return work.kind === 'job' ? [work] : [work.first, ...work.following.map((pass) => pass.job)];
}
