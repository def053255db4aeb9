// Findings as issues: with places in the user's files, and the particulars in words.

import type { Issue, Location } from '../diagnostics/error.ts';
import { type KernelSource, locationOf } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import { kernelInWords } from '../runtime/launch.ts';
import type {
  ArrayPart,
  FindingPlace,
  FindingStage,
  OrderToWrite,
  Severity,
} from '../targets/checker/finding.ts';
import { threadsInWords } from '../targets/rank-words.ts';
import type { CollectedFinding } from './collected.ts';

/** A place in the user's file, and who was there. */
export interface CheckedPlace {
  readonly label: string;
  readonly location: Location;
  /** Ranks in the block. */
  readonly threads: readonly number[];
  readonly block: Extent3 | null;
}

/** What a check found, once for each place. */
export interface CheckFinding extends Issue {
  readonly severity: Severity;
  readonly hint: string;
  readonly location: Location;
  readonly related: readonly CheckedPlace[];
  /** Ranks of the threads in the block; empty where no thread in particular is meant. */
  readonly threads: readonly number[];
  readonly stage?: FindingStage;
  /** The elements and bytes that it was seen on. */
  readonly part?: ArrayPart;
  /** The schedules that found it. */
  readonly schedules: readonly string[];
}

/** What was checked. */
export interface CheckedKernel {
  readonly name: string;
  readonly sources: readonly KernelSource[];
  /** Other names of an array's memory, by the array's name. */
  readonly otherNames: ReadonlyMap<string, readonly string[]>;
}

/** A finding with its places. `runs` is how many schedules ran. */
export function checkFindingOf(
  { finding, schedules }: CollectedFinding,
  kernel: CheckedKernel,
  runs: number,
): CheckFinding {
  const { code, severity, message, place, related, stage, part, mend, ordersToWrite = [] } = finding;
  return {
    code,
    severity,
    message: `${kernelInWords(kernel.name)}: ${message}`,
    hint: uncapitalised(mendOf(mend, ordersToWrite, kernel.sources)),
    location: locationOf(kernel.sources, place.range),
    related: related.map(({ label, range, threads, block }) => ({
      label,
      location: locationOf(kernel.sources, range),
      threads,
      block,
    })),
    threads: place.threads,
    ...(place.block === null ? {} : { block: place.block }),
    ...(stage === undefined ? {} : { stage }),
    ...(part === undefined ? {} : { part }),
    schedules,
    details: [
      ...whoInWords(place),
      ...(stage === undefined ? [] : [stageInWords(stage)]),
      ...(part === undefined ? [] : [partInWords(part), ...otherNamesInWords(part, kernel)]),
      ...(runs === 1 ? [] : [`found in ${schedules.length} of ${runs} schedules (${listed(schedules)})`]),
    ],
  };
}

/** With the operations of locks and flags as they are to be written: where there are such, they come first. */
function mendOf(mend: string, operations: readonly OrderToWrite[], sources: readonly KernelSource[]): string {
  const written = operations.flatMap(({ range, order }) => {
    const text = sources[range.source]?.text.slice(range.start, range.end) ?? '';
    if (!/\batomic\w+\(.*\)$/s.test(text)) return [];
    const relaxed = /(['"])relaxed\1/;
    if (relaxed.test(text)) return [`\`${text.replace(relaxed, `'${order}'`)}\``];
    return [`\`${text.replace(/,?\s*\)$/, `, '${order}')`)}\``];
  });
  if (written.length === 0) return mend;
  return `If a lock or a flag guards it, its operations need orders: write ${written.join(' and ')}. Else: ${uncapitalised(mend)}`;
}

function whoInWords({ threads, block }: FindingPlace): string[] {
  if (block === null) return [];
  const who = threads.length === 0 ? '' : `${threadsInWords(threads)} of `;
  return [`${who}block (${block.join(', ')})`];
}

function stageInWords({ pipeline, stage, batch }: FindingStage): string {
  const where = stage === undefined ? `batch ${batch}` : `stage ${stage}, batch ${batch}`;
  return `${where} of \`${pipeline}\``;
}

/** That what a finding is about has several names: an access by one is an access by the others. */
function otherNamesInWords({ array, space }: ArrayPart, { otherNames }: CheckedKernel): string[] {
  const others = space === 'global' ? (otherNames.get(array) ?? []) : [];
  if (others.length === 0) return [];
  const names = [array, ...others].map((name) => `\`${name}\``);
  return [`the launch passes the same memory as ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`];
}

function partInWords({ array, space, first, count, bytes: [begin, end] }: ArrayPart): string {
  const elements = count === 1 ? `element ${first}` : `elements ${first} to ${first + count - 1}`;
  return `${elements} of ${space} \`${array}\` (bytes ${begin} to ${end - 1})`;
}

function listed(names: readonly string[]): string {
  return names.length <= 4 ? names.join(', ') : `${names.slice(0, 4).join(', ')} and others`;
}

/** Hints begin in lower case, unless they begin with a name. */
function uncapitalised(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}
