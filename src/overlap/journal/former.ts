// What a former run left of its outputs, and how much of that can be gone on from: as far as every output, and the state of
// accumulators, has the checksums that its journal says. What lies behind is computed again.

import type { FileHandle } from 'node:fs/promises';
import { count } from '../../diagnostics/count.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { openOwn } from '../../files/own-file.ts';
import { readThrough } from '../../files/sum-of-file.ts';
import { differencesOf } from './facts.ts';
import { unpack } from './packed.ts';
import type { StateFiles } from './state-files.ts';
import {
  type Facts,
  headLine,
  type JournalText,
  type Mark,
  type Noted,
  nothingWritten,
  readJournal,
} from './text.ts';

/** An output of the run. */
export interface Target {
  /** Where it is to appear, as it was given. */
  readonly path: string;
  /** How many bytes its file has when so much is through; undefined where only what was written tells. */
  readonly bytesOf: ((mark: Mark) => number) | undefined;
  /** Whether a store has what a state says of it, for an output that is no file: nothing lies here but the state. */
  readonly hasParts?: ((state: Uint8Array) => Promise<boolean>) | undefined;
}

/** What a former run left. */
export interface Former {
  readonly mark: Noted;
  /** Bytes of the journal that count. */
  readonly length: number;
  /** Lines that count; the first is the one that says which run it is. */
  readonly lines: number;
  /** Of what is there of each output. */
  readonly checksums: readonly Checksum[];
  /** Packed: see packed.ts. */
  readonly state: Uint8Array | undefined;
}

/** What a run begins with that goes on behind none. */
export function beginning(facts: Facts, targets: readonly Target[]): Former {
  const length = Buffer.byteLength(headLine(facts));
  const checksums = targets.map(() => new Checksum());
  return { mark: { ...nothingWritten, sums: [] }, length, lines: 1, checksums, state: undefined };
}

/** What a former run left, if there is something to go on from. */
export async function formerRun(
  path: string,
  partials: readonly string[],
  facts: Facts,
  targets: readonly Target[],
  states: StateFiles,
): Promise<Former | undefined> {
  const bytes = await readOwn(path, (file) => file.readFile());
  const sizes: (number | undefined)[] = [];
  for (const [i, partial] of partials.entries()) {
    const isElsewhere = targets[i]!.hasParts !== undefined;
    sizes.push(isElsewhere ? Infinity : await readOwn(partial, async (file) => (await file.stat()).size));
  }
  const text = bytes === undefined ? null : readJournal(bytes);
  // Without all of them there is nothing to go on from: the outputs were completed, or somebody removed one.
  if (text === null || sizes.includes(undefined)) return undefined;
  const own = partials.filter((_, i) => targets[i]!.hasParts === undefined);
  const mend = `run it as it was, run it without resume, or delete ${[path, ...own].join(' and ')} to begin anew`;
  const differences = differencesOf(text.facts, facts, mend);
  if (differences.length > 0) throw new WarpstageError(differences);
  for (const [i, target] of targets.entries()) {
    const expected = bytesAt(target, text.lines.at(-1)!.noted, i);
    if (sizes[i]! >= expected) continue;
    throw problem(
      'WS5013',
      `${partials[i]} has ${count(sizes[i]!)} bytes, and its journal says that ${count(expected)} were written`,
      mend,
    );
  }
  return await intactPart(text, partials, targets, states);
}

/** Bytes of the file of an output, the i-th, when so much is through. */
export function bytesAt({ bytesOf }: Target, noted: Noted, i: number): number {
  if (noted.rows === 0) return 0;
  return bytesOf === undefined ? noted.sizes![i]! : bytesOf(noted);
}

/** As far as every output, and the state, has the checksums that it was written with: what is damaged is computed again. */
async function intactPart(
  { lines }: JournalText,
  partials: readonly string[],
  targets: readonly Target[],
  states: StateFiles,
): Promise<Former> {
  let intact = lines.length;
  const found: (readonly Checksum[])[] = [];
  for (const [i, target] of targets.entries()) {
    if (target.hasParts !== undefined) {
      found.push(lines.map(() => new Checksum()));
      continue;
    }
    const sums = lines.slice(0, intact).map(({ noted }) => ({
      bytes: bytesAt(target, noted, i),
      sum: noted.rows === 0 ? new Checksum().value : noted.sums[i],
    }));
    const checksums = await readOwn(partials[i]!, (file) => intactSums(file, sums));
    intact = checksums?.length ?? 1;
    found.push(checksums ?? [new Checksum()]);
  }
  let state: Uint8Array | undefined;
  while (intact > 1) {
    const sum = lines[intact - 1]!.noted.sums[targets.length];
    // A line may have no state behind it.
    if (sum === undefined) break;
    state = await states.read(intact - 1, sum);
    if (state !== undefined && (await isElsewhereToo(targets, state))) break;
    state = undefined;
    intact--;
  }
  const { noted, end } = lines[intact - 1]!;
  const checksums = found.map((sums) => sums[intact - 1]!);
  return { mark: noted, length: end, lines: intact, checksums, state };
}

/** Whether the stores of all objects have what a state says. */
async function isElsewhereToo(targets: readonly Target[], state: Uint8Array): Promise<boolean> {
  const [, ...ofOutputs] = unpack(state);
  for (const [i, { path, hasParts }] of targets.entries()) {
    if (hasParts === undefined || (await hasParts(ofOutputs[i]!))) continue;
    process.emitWarning(
      `the upload of ${path} that the journal knows is not there any more, and is begun anew`,
      {
        type: 'WarpstageWarning',
        code: 'WS5013',
      },
    );
    return false;
  }
  return true;
}

/** The checksums of a file up to each place, as far as they are those that were noted. */
async function intactSums(
  file: FileHandle,
  noted: readonly { readonly bytes: number; readonly sum: string | undefined }[],
): Promise<Checksum[]> {
  const intact: Checksum[] = [];
  const checksum = new Checksum();
  let at = 0;
  for (const { bytes, sum } of noted) {
    at += await readThrough(file, at, bytes, (part) => checksum.update(part));
    if (at < bytes) return intact;
    if (checksum.value !== sum) break;
    intact.push(checksum.copy());
  }
  return intact;
}

/** Looks into a file that a former run of this user left; undefined if there is none. */
async function readOwn<T>(path: string, look: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  try {
    const file = await openOwn(path);
    if (file === undefined) return undefined;
    try {
      return await look(file);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
