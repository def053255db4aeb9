// The passes of a run over a queue: what of each is dealt, and where its pieces lie. A job alone is the one pass of its run.
//
// What a pass of a sequence reduces to gives the settings of the next. So its pieces, like all of a reduction, are those of
// its accumulators; they lie beside the output, and stay until that is there: a command that is started again between two
// passes, or within one, finds them.

import { resolve } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
import { isObject, shownUrl } from '../formats/url.ts';
import { assignInputs, filesOf, inputNames } from '../overlap/input-data.ts';
import { hasColumns } from '../overlap/inputs.ts';
import type { Job } from '../overlap/job.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { ownSettings, type Settings } from '../overlap/settings.ts';
import { checkPasses } from '../overlap/shards/check-passes.ts';
import { placesOf } from '../overlap/shards/piece-files.ts';
import { accumulatorPath, isReduction } from '../overlap/shards/reductions.ts';
import type { DealtFile, DealtInput } from '../queue/deal.ts';
import { type NamedWork, rolesOfFiles } from './assign-files.ts';
import { usageError } from './failure.ts';

/** A pass, before anything is known of its data. */
export interface QueuePass {
  readonly job: Job;
  /** Counted from 1. */
  readonly number: number;
  readonly of: number;
  readonly input: DealtInput;
  /** What the pieces of a reduction are named after; undefined for a job that writes outputs. */
  readonly journal: string | undefined;
  /** Of a reduction, its accumulators. */
  readonly outputs: readonly DealtFile[];
  /** Beside what the pieces lie. */
  readonly places: readonly string[];
  readonly chunk: number | string | undefined;
  /** What the caller set, as far as this pass has it. */
  readonly given: Settings;
  /** Settings made of the value of the pass before. */
  readonly computed: (value: unknown) => Settings;
}

/** What the command line says of passes. */
interface PassOptions {
  readonly set?: Settings;
  readonly chunk?: number | string;
  readonly journal?: string;
}

/** The chunk of a reduction is the same on all machines, as what accumulators hold may depend on it. */
const usualChunk = '4MiB';

/**
 * The passes of a run. Paths are absolute.
 *
 * @throws WarpstageError WS5007 for a pass that cannot be dealt in pieces
 */
export function passesOf(
  named: NamedWork,
  input: DealtInput,
  destinations: readonly DealtFile[],
  { set = {}, chunk, journal }: PassOptions,
): readonly QueuePass[] {
  const { work } = named;
  const jobs = jobsOf(work);
  const of = jobs.length;
  const base = baseOf(named, destinations, journal);
  refuseObjects(destinations);
  if (of > 1) checkPasses(jobs, destinations);
  return jobs.map((job, position) => {
    const isReducing = isReduction(job.definition);
    const own = isReducing ? (of === 1 ? base : `${base}.pass-${position + 1}`) : undefined;
    const names = Object.keys(job.definition.accumulators ?? {});
    const outputs =
      own === undefined ? destinations : names.map((name) => ({ file: accumulatorPath(own, name) }));
    const roles = own === undefined ? rolesOfFiles(work).outputs : [];
    return {
      ...{ job, number: position + 1, of, outputs, journal: own },
      input: of === 1 ? input : inputOf(job, jobs, input),
      places: placesOf(
        roles,
        outputs.map(({ file }) => file),
      ),
      chunk: chunk ?? (isReducing ? usualChunk : undefined),
      given: ownSettings(job, set),
      computed: (value) =>
        (work.kind === 'sequence' ? work.following[position - 1]?.settings(value as never) : undefined) ?? {},
    };
  });
}

/** Which pass of a sequence, in words behind something else. */
export function inSequence({ job, number, of }: QueuePass): string {
  return of === 1 ? '' : ` of pass ${number}, '${job.name}',`;
}

/** What the pieces of accumulators are named after: the output, or what the caller says where there is none. */
function baseOf(
  { name, work }: NamedWork,
  [output]: readonly DealtFile[],
  journal: string | undefined,
): string {
  if (isReduction(jobsOf(work).at(-1)!.definition)) {
    if (journal !== undefined) return resolve(journal);
    throw usageError(
      `${name} has no output that its pieces could lie beside`,
      'say where they lie: --journal sums, for sums.….1-of-10',
    );
  }
  if (journal === undefined) return output!.file;
  throw usageError(`--journal is for reductions, and ${name} is none`, 'leave it out');
}

function refuseObjects(outputs: readonly DealtFile[]): void {
  const object = outputs.find(({ file }) => isObject(file))?.file;
  if (object === undefined) return;
  throw problem(
    'WS5006',
    `${shownUrl(object)} is an object, and workers of a queue write files alone`,
    'write to a file that all of them see, or compute each piece without a queue: --shard 1/10',
  );
}

/** What a pass reads of the input of all, by name. */
function inputOf(job: Job, jobs: readonly Job[], input: DealtInput): DealtInput {
  const data = assignInputs(jobs, input, hasColumns);
  const { inputs, operands } = inputNames([job]);
  return Object.fromEntries(
    [...inputs, ...operands].map((name) => [name, filesOf(data.get(name)!) as DealtFile[]]),
  );
}
