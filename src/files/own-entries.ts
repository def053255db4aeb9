// Files that only their user could have written: what is run later is read from no others.
//
// The folder is one of own-folder.ts. A file in it belongs to this user, or to root, and others may not write
// to it. It is looked at as it was opened, and a symbolic link is not followed, so that it cannot be
// exchanged in between.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ownMode } from './own-file.ts';
import { ownFolder } from './own-folder.ts';

/** For group and others: to write, and anything. */
const [writable, anything] = [0o022, 0o077];

function isOurs({ uid, mode }: Stats): boolean {
  const own = process.geteuid?.();
  return own === undefined || ((uid === own || uid === 0) && (mode & writable) === 0);
}

/** A folder to write to, its path without links; null where there can be none that is this user's alone. */
export function closedFolder(path: string): string | null {
  try {
    const about = lstatSync(path, { throwIfNoEntry: false });
    // Made with a looser umask: from now on it is closed, and what others have put there is not believed.
    if (about?.isDirectory() && about.uid === process.geteuid?.() && (about.mode & anything) !== 0)
      chmodSync(path, 0o700);
  } catch {
    return null;
  }
  return ownFolder(path);
}

/** What a file of a trusted folder says; null if it is not there, or others could have written it. */
export function readOwnFile(folder: string, name: string): Buffer | null {
  let file: number;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    file = openSync(join(folder, name), flags);
  } catch {
    return null;
  }
  try {
    const about = fstatSync(file);
    return about.isFile() && isOurs(about) ? readFileSync(file) : null;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Writes a file whole or not at all, for this user alone; whether it did. */
export function writeOwnFile(folder: string, name: string, bytes: Uint8Array | string): boolean {
  const unfinished = join(folder, `.${name}.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(unfinished, bytes, { flag: 'wx', mode: ownMode });
    renameSync(unfinished, join(folder, name));
    return true;
  } catch {
    removeIfThere(unfinished);
    return false;
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What could not be written is not there.
  }
}
