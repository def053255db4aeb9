// Where a path leads: through links, also to what is not there yet. And which paths are one file.
//
// A file is identified by its device and inode, whatever it is called: by another spelling, through links, or below
// /dev/fd. One that is to be made is identified by its folder, likewise, and its name in it.

import { type BigIntStats, fstatSync } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/** Where a path leads. */
export interface Place {
  /** Without links where it is a regular file, or nothing yet; else as it was given. */
  readonly path: string;
  /** What is there; undefined for nothing. */
  readonly about: BigIntStats | undefined;
}

/** As many links as Linux follows. */
const mostLinks = 40;

/**
 * Follows a path. A link that leads to nothing leads to the file that is to be made there.
 *
 * @throws the system's error; ENOENT where there is no folder to make it in
 */
export async function placeOf(path: string): Promise<Place> {
  const about = await stat(path, { bigint: true }).catch(nothing);
  if (about !== undefined) return { path: about.isFile() ? await realpath(path) : path, about };
  // Not made shorter: `..` behind a link leads to where the link's folder is.
  let next = isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`;
  for (let links = 0; links <= mostLinks; links++) {
    const folder = await realpath(dirname(next));
    const here = join(folder, basename(next));
    const target = await readlink(here).catch(() => undefined);
    if (target === undefined) return { path: here, about: undefined };
    next = isAbsolute(target) ? target : `${folder}${sep}${target}`;
  }
  throw Object.assign(new Error(), { code: 'ELOOP' });
}

/** What two paths of one file have in common, and no two files; `-` is a standard stream. */
export async function fileIdentity(path: string, standardStream: 0 | 1): Promise<string> {
  try {
    if (path === '-') return streamIdentity(standardStream);
    const place = await placeOf(path);
    return place.about === undefined ? await nameIdentity(place.path) : identityOf(place.about, place.path);
  } catch {
    return path;
  }
}

/** What two spellings of one name have in common: the same name in the same folder, which must be there. */
export async function nameIdentity(path: string): Promise<string> {
  const folder = dirname(path);
  const name = basename(path);
  // These systems' usual disks keep capitals, and find a file by small letters as well.
  const folds = process.platform === 'darwin' || process.platform === 'win32';
  const known = folds ? name.normalize('NFC').toLowerCase() : name;
  return `${identityOf(await stat(folder, { bigint: true }), folder)}/${known}`;
}

/** Whether writing to a file changes nothing that could be read there: a terminal, /dev/null. */
export async function keepsNothing(path: string): Promise<boolean> {
  const about = await stat(path).catch(() => undefined);
  return about?.isCharacterDevice() ?? false;
}

/** A terminal or a socket is both streams without harm. */
function streamIdentity(stream: 0 | 1): string {
  const about = fstatSync(stream, { bigint: true });
  const name = `stream ${stream}`;
  return about.isFile() || about.isFIFO() ? identityOf(about, name) : name;
}

function identityOf(about: BigIntStats, path: string): string {
  if (about.isBlockDevice()) return `device ${about.rdev}`;
  return about.ino === 0n ? path : `${about.dev}:${about.ino}`;
}

function nothing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
