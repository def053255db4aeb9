// Files that a command writes beside its output: whole or not at all.
//
// They are written under another name, which they lose when they are whole. What is no regular file
// (a device such as /dev/null, a pipe) is written directly: renaming would put a file in its place.

import { access, constants, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unwritable } from '../diagnostics/problem.ts';
import { removeLeftovers, unfinishedName } from '../files/leftovers.ts';
import { findOverwriting } from '../files/overwriting.ts';
import { type Place, placeOf } from '../files/place.ts';
import { addUnfinished, dropUnfinished } from '../overlap/sinks/unfinished.ts';
import { usageError } from './failure.ts';

const hint = 'check that its directory exists and may be written';

/** Writes a file, in pieces where it has many. Throws WS5006 where that fails, and leaves nothing. */
export async function writeWhole(
  path: string,
  content: string | Uint8Array | Iterable<string>,
): Promise<void> {
  const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
  try {
    const { path: place, about } = await writableAt(path);
    if (isDirect(about)) return await writePieces(await open(place, 'w'), pieces);
    await removeLeftovers(dirname(place));
    const partial = unfinishedName(place);
    addUnfinished(partial);
    try {
      const file = await open(partial, 'wx', about === undefined ? 0o666 : Number(about.mode) & 0o777);
      await writePieces(file, pieces);
      await rename(partial, place);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    } finally {
      dropUnfinished(partial);
    }
  } catch (error) {
    throw unwritable(path, error, hint);
  }
}

/** What else a command reads and writes. */
export interface OtherFiles {
  readonly reads: Iterable<string>;
  readonly writes?: Iterable<string>;
}

/**
 * Fails early where a file cannot be written, or would take the place of another of the command's: before the work
 * that it is to tell of, not after it.
 *
 * @param option under which the file was given
 * @throws WarpstageError WS6001 where it would overwrite another, WS5006 where it cannot be written
 */
export async function checkWritable(path: string, option: string, others: OtherFiles): Promise<void> {
  await refuseOverwriting(path, option, others);
  try {
    const { path: place, about } = await writableAt(path);
    await access(isDirect(about) ? place : dirname(place), constants.W_OK);
  } catch (error) {
    throw unwritable(path, error, hint);
  }
}

/**
 * Refuses a file that takes the place of another of the command's, by whatever name, or lies in a folder of these.
 *
 * @throws WarpstageError WS6001
 */
export async function refuseOverwriting(
  path: string,
  option: string,
  { reads, writes = [] }: OtherFiles,
): Promise<void> {
  let found = await findOverwriting(reads, [path]);
  for (const other of writes) found ??= await findOverwriting([], [other, path]);
  if (found?.path !== path || found.lies === 'around') return;
  const lies = found.lies === undefined ? 'is' : 'lies in';
  const file =
    found.lies === undefined && found.other === path
      ? 'a file'
      : `the ${found.lies ? 'folder' : 'file'} ${found.other}`;
  const use = found.kind === 'read' ? 'reads' : 'writes';
  throw usageError(
    `${option} ${path} ${lies} ${file} that the command ${use} as well`,
    'give it a name of its own',
  );
}

async function writableAt(path: string): Promise<Place> {
  const place = await placeOf(path);
  if (place.about?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  return place;
}

/** Whether something is there that is no regular file. */
function isDirect(about: Place['about']): boolean {
  return about !== undefined && !about.isFile();
}

async function writePieces(file: FileHandle, pieces: Iterable<string | Uint8Array>): Promise<void> {
  try {
    for (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}
