// What a former run left of its outputs, and how much of that can be gone on from: as far as every output, and the state of
// accumulators, has the checksums that its journal says. What lies behind is computed again.

import type { FileHandle } from 'node:fs/promises';
import { count } from '../../diagnostics/count.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { isOwnFolder, modeOfOutput, openOwn } from '../../files/own-file.ts';
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
  /** Which of several outputs in that file it is: these wait in files of their own. */
  readonly part?: string | undefined;
  /** How many bytes its file has when so much is through; undefined where only what was written tells. */
  readonly bytesOf: ((mark: Mark) => number) | undefined;
  /** Whether a store has what a state says of it, for an output that is no file: nothing lies here but the state. */
  readonly hasParts?: ((state: Uint8Array) => Promise<boolean>) | undefined;
  /** Has a store forget what a state says of it, if it still has that. Never throws. */
  readonly forget?: ((state: Uint8Array) => Promise<void>) | undefined;
  /** For an output that waits in a folder: the checksum of what is in it, where that is what a state says of it. */
  readonly folderSum?: ((folder: string, state: Uint8Array) => Promise<Checksum | undefined>) | undefined;
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

/** Has stores forget what states say of a run that nobody goes on with. */
export async function forgetOthers(targets: readonly Target[], states: StateFiles): Promise<void> {
  if (targets.every(({ forget }) => forget === undefined)) return;
  for (const state of await states.all()) {
    let ofOutputs: readonly Uint8Array[];
    try {
      [, ...ofOutputs] = unpack(state);
    } catch {
      // It was not written to its end.
      continue;
    }
    for (const [i, { forget }] of targets.entries()) {
      const own = ofOutputs[i];
      if (own !== undefined) await forget?.(own);
    }
  }
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
    sizes.push(await sizeOf(partial, targets[i]!));
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

/** Bytes that wait; undefined for nothing at all, and as many as one likes of what is no file. */
async function sizeOf(partial: string, { path, hasParts, folderSum }: Target): Promise<number | undefined> {
  if (hasParts !== undefined) return Infinity;
  const allowed = await modeOfOutput(path, folderSum === undefined ? 0o666 : 0o777);
  if (folderSum === undefined)
    return await readOwn(partial, async (file) => (await file.stat()).size, allowed);
  try {
    return (await isOwnFolder(partial, allowed)) ? Infinity : undefined;
  } catch (cause) {
    throw unreadable(partial, cause);
  }
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
    if (!isFile(target)) {
      found.push(lines.map(() => new Checksum()));
      continue;
    }
    const sums = lines.slice(0, intact).map(({ noted }) => ({
      bytes: bytesAt(target, noted, i),
      sum: noted.rows === 0 ? new Checksum().value : noted.sums[i],
    }));
    const allowed = await modeOfOutput(target.path, 0o666);
    const checksums = await readOwn(partials[i]!, (file) => intactSums(file, sums), allowed);
    intact = checksums?.length ?? 1;
    found.push(checksums ?? [new Checksum()]);
  }
  let state: Uint8Array | undefined;
  let ofFolders: readonly (Checksum | undefined)[] = [];
  while (intact > 1) {
    const sum = lines[intact - 1]!.noted.sums[targets.length];
    // A line may have no state behind it.
    if (sum === undefined && targets.every(isFile)) break;
    state = sum === undefined ? undefined : await states.read(intact - 1, sum);
    const there = state && (await sumsOfOthers(targets, partials, state));
    if (there !== undefined) {
      ofFolders = there;
      break;
    }
    state = undefined;
    intact--;
  }
  const { noted, end } = lines[intact - 1]!;
  const checksums = found.map((sums, i) => ofFolders[i] ?? sums[intact - 1]!);
  return { mark: noted, length: end, lines: intact, checksums, state };
}

function isFile({ hasParts, folderSum }: Target): boolean {
  return hasParts === undefined && folderSum === undefined;
}

/** The checksums of folders, where these and the stores of objects have what a state says. */
async function sumsOfOthers(
  targets: readonly Target[],
  partials: readonly string[],
  state: Uint8Array,
): Promise<readonly (Checksum | undefined)[] | undefined> {
  const [, ...ofOutputs] = unpack(state);
  const sums: (Checksum | undefined)[] = [];
  for (const [i, { path, hasParts, folderSum }] of targets.entries()) {
    try {
      sums.push(await folderSum?.(partials[i]!, ofOutputs[i]!));
    } catch (cause) {
      throw unreadable(partials[i]!, cause);
    }
    if (folderSum !== undefined && sums[i] === undefined) return undefined;
    if (hasParts === undefined || (await hasParts(ofOutputs[i]!))) continue;
    process.emitWarning(
      `the upload of ${path} that the journal knows is not there any more, and is begun anew`,
      {
        type: 'WarpstageWarning',
        code: 'WS5013',
      },
    );
    return undefined;
  }
  return sums;
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
async function readOwn<T>(
  path: string,
  look: (file: FileHandle) => Promise<T>,
  allowed?: number,
): Promise<T | undefined> {
  try {
    const file = await openOwn(path, allowed);
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
