// verify: whether an output is still what a run wrote, by the checksums beside it.

import { type FileHandle, stat } from 'node:fs/promises';
import { problem, unreadable } from '../diagnostics/problem.ts';
import { Checksum } from '../files/checksum.ts';
import { type Content, contentOf } from '../files/content.ts';
import { lookInto, readThroughAll } from '../files/folder.ts';
import { openToRead, readThrough } from '../files/sum-of-file.ts';
import { isUrl } from '../formats/url.ts';
import { UrlVersions } from '../formats/url-versions.ts';
import { readSums, type Sums } from './sums.ts';
import { contentOfUrl } from './url-inputs.ts';

/** Every n-th part of t, counted from 1: t runs with another n each look at all. */
export type Subset = readonly [n: number, t: number];

export interface VerifyOptions {
  readonly subset?: Subset | undefined;
  /** Whether to read the inputs as well, and see whether they are what the output was computed from. */
  readonly inputs?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What was found of an output. */
export interface Verified {
  readonly output: string;
  /** Parts of it, and how many of them were read. */
  readonly parts: number;
  readonly read: number;
  readonly bytesRead: number;
  /** What is not as it was written, in words; nothing where all is well. */
  readonly differences: readonly Difference[];
}

/** Bytes of a file that are others now, or missing, or too many. */
export interface Difference {
  readonly path: string;
  readonly begin: number;
  readonly end: number;
  readonly kind: 'changed' | 'missing' | 'added';
}

/**
 * Reads an output, and compares it with its checksums.
 *
 * @throws WarpstageError WS5003 where there are no checksums, or the output cannot be read
 */
export async function verify(output: string, options: VerifyOptions): Promise<Verified> {
  const sums = await readSums(output);
  const [n, t] = options.subset ?? [1, 1];
  const chosen = sums.sums.flatMap((_, part) => (part % t === n - 1 ? [part] : []));
  const differences: Difference[] = [];
  let bytesRead = 0;
  let file: WrittenFile | undefined;
  try {
    file = await openWritten(output);
    const { size } = file;
    if (size < sums.bytes) {
      differences.push({ path: output, begin: size, end: sums.bytes, kind: 'missing' });
    }
    if (size > sums.bytes) differences.push({ path: output, begin: sums.bytes, end: size, kind: 'added' });
    for (const part of chosen) {
      options.signal.throwIfAborted();
      const begin = part * sums.partBytes;
      const end = Math.min(begin + sums.partBytes, sums.bytes);
      if (end > size) continue;
      const checksum = new Checksum();
      bytesRead += await file.read(begin, end, (bytes) => checksum.update(bytes));
      if (checksum.value !== sums.sums[part]) differences.push({ path: output, begin, end, kind: 'changed' });
    }
  } catch (cause) {
    options.signal.throwIfAborted();
    throw unreadable(output, cause);
  } finally {
    await file?.close().catch(() => {});
  }
  if (options.inputs) differences.push(...(await changedInputs(sums, options.signal)));
  return { output, parts: sums.sums.length, read: chosen.length, bytesRead, differences };
}

/** An output as its checksums are of it: a file, or the files of a folder one behind the other. */
interface WrittenFile {
  readonly size: number;
  read(begin: number, end: number, take: (bytes: Uint8Array) => void): Promise<number>;
  close(): Promise<void>;
}

async function openWritten(output: string): Promise<WrittenFile> {
  const about = await stat(output);
  if (about.isDirectory()) {
    const { files, size } = await lookInto(output);
    return {
      size,
      read: (begin, end, take) => readThroughAll(output, files, begin, end, take),
      async close() {},
    };
  }
  const file = await openToRead(output);
  const size = await sizeOf(file);
  return {
    size,
    read: (begin, end, take) => readThrough(file, begin, end, take),
    close: () => file.close(),
  };
}

async function sizeOf(file: FileHandle): Promise<number> {
  try {
    return (await file.stat()).size;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function changedInputs({ inputs }: Sums, signal: AbortSignal): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const { path, bytes, sum } of inputs) {
    const content = await (isUrl(path) ? contentOfWrittenUrl(path, signal) : contentOf(path, signal));
    if (content?.sum !== sum) found.push({ path, begin: 0, end: bytes, kind: 'changed' });
  }
  return found;
}

/** What a URL holds now that a run has noted. What may be a secret was left out. */
function contentOfWrittenUrl(url: string, signal: AbortSignal): Promise<Content> {
  if (!url.endsWith('?…')) return contentOfUrl(url, new UrlVersions(undefined, true), signal);
  throw problem(
    'WS5003',
    `${url} cannot be read again: what follows its path may be a secret, and is not written down`,
    'verify the output alone, without --inputs',
  );
}
