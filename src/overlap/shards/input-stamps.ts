// Which files the pieces of an output were computed from, and whether these were the same.
//
// Facts of the work know an input by its type and length alone, as it may lie anywhere. So each piece notes besides what its
// run found: size and times of every input file. Pieces of different files make an output of old and new numbers.
//
// How far a note counts depends on where it was made. The time of writing goes along with a copy (`cp -p`, `rsync -t`); one
// that was made without it cannot be told from another file, and is refused. The time of the last change of any kind and the
// inode do not go along. Machines that share a file system see the same for both, whatever number its device has there. So
// the last change counts where inodes are equal: it tells of a file that was rewritten and got its old time back. It counts
// only where nothing but the content explains it, as in files/stamps.ts. Where inodes differ, there are copies.
//
// Inputs that are known by their content (`--checksum`) are not noted: the facts have their checksums. A URL has a version,
// which is the same from wherever it is read.

import { realpath } from 'node:fs/promises';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { type Stamp, stampOf, timeInWords } from '../../files/stamps.ts';
import { isUrl, shownUrl } from '../../formats/url.ts';
import type { BindRequest } from '../bind.ts';
import { filesOf } from '../input-data.ts';
import { nameOfFact } from '../journal/facts.ts';
import type { Facts } from '../journal/text.ts';
import { noVersion, versionInWords } from '../url-inputs.ts';

/** A file as a piece notes it, or a URL by its version; whole numbers as text. */
export type InputStamp = FileStamp | UrlStamp;

interface UrlStamp {
  /** As it is shown: without what may be a secret. */
  readonly path: string;
  readonly bytes: string;
  readonly version: string;
}

interface FileStamp {
  readonly path: string;
  readonly inode: string;
  readonly bytes: string;
  readonly written: string;
  readonly changed: string;
  readonly outside: string;
}

/** The files that a piece was computed from, by the names that facts have for them. */
export type InputStamps = Readonly<Record<string, InputStamp>>;

/** The files of inputs as they are now. */
export async function stampsOf(
  inputs: readonly { readonly name: string }[],
  { data, contents, versions }: Pick<BindRequest, 'data' | 'contents' | 'versions'>,
): Promise<InputStamps> {
  const stamps: Record<string, InputStamp> = {};
  for (const { name } of inputs) {
    const files = filesOf(data.get(name)!) ?? [];
    for (const [position, { file }] of files.entries()) {
      if (contents.has(file)) continue;
      const stamp = await stampOf(file);
      const version = versions.of(file);
      if (isUrl(file) && version === undefined) throw noVersion(shownUrl(file));
      const called = nameOfFact(name, position, files.length);
      if (stamp !== undefined) stamps[called] = { path: await resolved(file), ...noted(stamp) };
      else if (version !== undefined) {
        const words = versionInWords(file, version);
        stamps[called] = { path: shownUrl(file), bytes: String(version.bytes), version: words };
      }
    }
  }
  return stamps;
}

/** The stamps of URLs alone: what counts on any machine. */
export function urlStamps(stamps: InputStamps): InputStamps {
  return Object.fromEntries(Object.entries(stamps).filter(([, stamp]) => 'version' in stamp));
}

/** Which versions of URLs stamps are of, in words, by the names of facts. */
export function versionsOf(stamps: InputStamps): Facts {
  return Object.fromEntries(
    Object.entries(stamps).flatMap(([name, stamp]) =>
      'version' in stamp ? [[name, `${stamp.version}, ${stamp.bytes} bytes`]] : [],
    ),
  );
}

/** The first version that is another one, in words for both; undefined where they are the same. */
export function differingVersion(
  before: Facts,
  now: Facts,
): { name: string; was: string; is: string } | undefined {
  const name = Object.keys({ ...before, ...now }).find((one) => before[one] !== now[one]);
  return name === undefined ? undefined : { name, was: before[name] ?? 'a file', is: now[name] ?? 'a file' };
}

async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function noted({ inode, size, written, changed, outside }: Stamp): Omit<FileStamp, 'path'> {
  return {
    inode: inode.slice(inode.indexOf(':') + 1),
    bytes: String(size),
    written: String(written),
    changed: String(changed),
    outside,
  };
}

/** Whether a value is what a piece notes. Times are those that have words. */
export function isInputStamps(value: unknown): value is InputStamps {
  const isText = (one: unknown) => typeof one === 'string';
  const isWhole = (one: unknown) => typeof one === 'string' && /^-?\d{1,19}$/.test(one);
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value as Record<string, Partial<FileStamp & UrlStamp> | null>).every(
      (one) =>
        isText(one?.path) &&
        isWhole(one?.bytes) &&
        (isText(one?.version) ||
          (isText(one?.inode) && isText(one?.outside) && [one?.written, one?.changed].every(isWhole))),
    )
  );
}

interface Seen {
  readonly piece: string;
  readonly stamp: InputStamp;
}

/**
 * Refuses pieces that were computed from different files, and those whose files are others now. Files that are not to be
 * seen from here were the same at least for all pieces.
 *
 * @throws WarpstageError WS5015 for the first that differs
 */
export async function checkSameInputs(
  pieces: readonly { readonly path: string; readonly inputs: InputStamps }[],
): Promise<void> {
  const seen = new Map<string, Map<string, Seen>>();
  for (const { path: piece, inputs } of pieces) {
    for (const [name, stamp] of Object.entries(inputs)) {
      const former = seen.get(name) ?? new Map<string, Seen>();
      seen.set(name, former);
      const key = JSON.stringify(stamp);
      if (former.has(key)) continue;
      for (const before of former.values()) {
        const difference = differenceOf(before.stamp, stamp);
        if (difference === undefined) continue;
        const [was, is] = difference;
        const message = `${piece} was computed from another file than ${before.piece}: ${name}, ${stamp.path}, ${is}, and there ${was}`;
        throw problem('WS5015', message, mend(before.piece));
      }
      former.set(key, { piece, stamp });
    }
  }
  for (const [name, former] of seen) {
    for (const { piece, stamp } of former.values()) {
      // What a server has now is not asked.
      const now = 'version' in stamp ? undefined : await stampOf(stamp.path);
      const difference = now && differenceOf(stamp, noted(now));
      if (difference === undefined) continue;
      const [was, is] = difference;
      const message = `${stamp.path} is not the file any more that ${piece} was computed from: ${name} ${was}, and now it ${is}`;
      throw problem('WS5015', message, mend(piece));
    }
  }
}

function mend(piece: string): string {
  return `remove ${piece} and the others of that file, and run their shards again; if its numbers are the same: --ignore-inputs`;
}

type Noted = Omit<FileStamp, 'path'> | Omit<UrlStamp, 'path'>;

/** By what two notes are of different files, in words for each; undefined where they may be of one. */
function differenceOf(a: Noted, b: Noted): readonly [string, string] | undefined {
  if (a.bytes !== b.bytes) return [`had ${a.bytes} bytes`, `had ${b.bytes} bytes`];
  if ('version' in a || 'version' in b) {
    const words = (one: Noted) => ('version' in one ? `was ${one.version}` : 'was a file');
    return words(a) === words(b) ? undefined : [words(a), words(b)];
  }
  if (!isSameTime(BigInt(a.written), BigInt(b.written))) {
    return [`was written ${inWords(a.written)}`, `was written ${inWords(b.written)}`];
  }
  if (a.inode === b.inode && a.changed !== b.changed && a.outside === b.outside) {
    return [`was changed ${inWords(a.changed)}`, `was changed ${inWords(b.changed)}`];
  }
  return undefined;
}

/** Whether two times of writing are one. Some ways to copy keep whole seconds alone. */
function isSameTime(a: bigint, b: bigint): boolean {
  const second = 1_000_000_000n;
  const isRounded = a % second === 0n || b % second === 0n;
  return isRounded ? a / second === b / second : a === b;
}

function inWords(time: string): string {
  return timeInWords(BigInt(time));
}
