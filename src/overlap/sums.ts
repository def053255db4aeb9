// The checksums of an output, in a file beside it: `y.npy.sums` for `y.npy`.
//
// They are taken of the bytes as they are written, so that what becomes of them on the disk can be found later. The
// file appears after its output, and the one of a former output goes before: so there may be none, but never one
// of another output. What is read here may be anything.

import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { problem, unreadable, unwritable } from '../diagnostics/problem.ts';
import { openToRead } from '../files/sum-of-file.ts';

/** What a run notes of an output. */
export interface Sums {
  /** Bytes of the whole, and of each part but the last. */
  readonly bytes: number;
  readonly partBytes: number;
  /** Of each part, in their order. */
  readonly sums: readonly string[];
  /** What it was computed by, and from. */
  readonly job: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly inputs: readonly { readonly path: string; readonly bytes: number; readonly sum: string }[];
}

/** Where the checksums of an output are. */
export function sumsPath(output: string): string {
  return `${output}.sums`;
}

/** How such a file begins. */
const head = '{"warpstage sums":1,';

/** No longer ones are read: they would be those of 100 TB. */
const longest = 2 ** 28;

/** The text of the file. */
export function sumsText(sums: Sums): string {
  const text = JSON.stringify({ 'warpstage sums': 1, ...sums });
  return `${text.slice(0, -1)},"check":"${checkOf(text)}"}\n`;
}

function checkOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Reads the checksums of an output. Throws WS5003 where there are none, or damaged ones. */
export async function readSums(output: string): Promise<Sums> {
  const path = sumsPath(output);
  let text: string;
  let file: FileHandle | undefined;
  try {
    file = await openToRead(path);
    const about = await file.stat();
    if (!about.isFile() || about.size > longest) throw damaged(path);
    text = await file.readFile('utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(path, cause);
    const hint = 'have them written with the output: warpstage run … --checksum';
    throw problem('WS5003', `there are no checksums of ${output}: ${path} does not exist`, hint, cause);
  } finally {
    await file?.close().catch(() => {});
  }
  const sums = parse(text);
  if (sums === undefined) throw damaged(path);
  return sums;
}

function damaged(path: string): Error {
  return problem(
    'WS5003',
    `${path} holds no checksums, or damaged ones`,
    'run the job again with --checksum',
  );
}

function parse(text: string): Sums | undefined {
  const [, body, check] = /^(.*),"check":"([0-9a-f]{16})"\}\n$/s.exec(text) ?? [];
  if (body === undefined || !body.startsWith(head) || check !== checkOf(`${body}}`)) return undefined;
  let value: Partial<Sums>;
  try {
    value = JSON.parse(`${body}}`) as Partial<Sums>;
  } catch {
    return undefined;
  }
  const { bytes, partBytes, sums, job, settings, inputs } = value;
  const isCount = (one: unknown): one is number => Number.isSafeInteger(one) && (one as number) >= 0;
  const isWhole =
    isCount(bytes) &&
    isCount(partBytes) &&
    Array.isArray(sums) &&
    sums.every((one) => typeof one === 'string') &&
    sums.length === Math.ceil(bytes / partBytes) &&
    typeof job === 'string' &&
    typeof settings === 'object' &&
    Array.isArray(inputs) &&
    inputs.every((one) => typeof one?.path === 'string' && isCount(one.bytes) && typeof one.sum === 'string');
  return isWhole ? (value as Sums) : undefined;
}

/** Removes the checksums of an output that is about to be another. What is no such file stays. Says whether it did. */
export function dropSums(output: string): boolean {
  const path = sumsPath(output);
  if (beginningOf(path) !== head) return false;
  try {
    rmSync(path, { force: true });
    return true;
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** What a file begins with; nothing where there is none that could be read. */
function beginningOf(path: string): string {
  const begin = Buffer.alloc(head.length);
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      readSync(file, begin, 0, begin.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
  return begin.toString('latin1');
}
