// Files that a command writes beside its output: whole or not at all.
//
// They are written under another name, which they lose when they are whole. What is no regular file
// (a device such as /dev/null, a pipe) is written directly: renaming would put a file in its place.

import { access, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unwritable } from '../diagnostics/problem.ts';

const hint = 'check that its directory exists and may be written';

/** Writes a file, in pieces where it has many. Throws WS5006 where that fails, and leaves nothing. */
export async function writeWhole(
  path: string,
  content: string | Uint8Array | Iterable<string>,
): Promise<void> {
  const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
  try {
    const { place, isDirect } = await placeOf(path);
    if (isDirect) return await writePieces(await open(place, 'w'), pieces);
    const partial = `${place}.${process.pid}.partial`;
    try {
      await writePieces(await open(partial, 'wx'), pieces);
      await rename(partial, place);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  } catch (error) {
    throw unwritable(path, error, hint);
  }
}

/** Fails early where a file cannot be written: before the work that it is to tell of, not after it. */
export async function checkWritable(path: string): Promise<void> {
  try {
    const { place, isDirect } = await placeOf(path);
    await access(isDirect ? place : dirname(place), constants.W_OK);
  } catch (error) {
    throw unwritable(path, error, hint);
  }
}

/** Where a path leads, and whether that is no regular file. */
async function placeOf(path: string): Promise<{ readonly place: string; readonly isDirect: boolean }> {
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (about === undefined) return { place: path, isDirect: false };
  if (about.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  return about.isFile() ? { place: await realpath(path), isDirect: false } : { place: path, isDirect: true };
}

async function writePieces(file: FileHandle, pieces: Iterable<string | Uint8Array>): Promise<void> {
  try {
    for (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}
