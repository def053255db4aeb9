// Folders that only this user can change: where code may be kept that is run later.
//
// Another local user must not be able to put something there, nor to lead the path elsewhere. So a path is
// followed from the root on, as the system follows it. Each folder and each link on the way belongs to this user
// or to root; others may write to none of the folders, save to those that are sticky (such as /tmp), where what
// belongs to this user or to root stays as it is. What is handed out is the path without its links, since that is
// what was looked at. Windows keeps profiles apart by itself, and has no owners to compare.

import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** As many links as Linux follows. */
const mostLinks = 40;

const sticky = 0o1000;
const writableByOthers = 0o022;

/**
 * A folder that belongs to this user, and that only this user and root can write to. It is made, readable by
 * this user alone, where it is not there.
 *
 * @returns its path without links; null where there can be no such folder: it is another user's, or on the way
 * to it somebody else could replace it, or the disk does not take it
 */
export function ownFolder(path: string): string | null {
  try {
    const found = follow(resolve(path));
    if (found === null) return null;
    let made = found.folder;
    for (const name of found.missing) {
      made = join(made, name);
      makeFolder(made);
    }
    // From the root again: another process may have been faster to make a part of it.
    const folder = trustedFolder(path);
    return folder !== null && belongsTo(lstatSync(folder), []) ? folder : null;
  } catch {
    return null;
  }
}

/**
 * A folder that is there, and that only this user and root can write to, whoever of the two it belongs to.
 *
 * @returns its path without links, or null
 */
export function trustedFolder(path: string): string | null {
  try {
    const found = follow(resolve(path));
    if (found === null || found.missing.length > 0) return null;
    return isClosed(lstatSync(found.folder)) ? found.folder : null;
  } catch {
    return null;
  }
}

/** One at a time: Node's own way to make several never ends where the system denies that there is a parent, as in /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** How far a path exists, without its links, and the names that are missing; null where others could lead it elsewhere. */
function follow(path: string): { readonly folder: string; readonly missing: readonly string[] } | null {
  let { root: folder } = parse(path);
  let rest = namesOf(path);
  let links = 0;
  if (!leadsOn(lstatSync(folder))) return null;
  for (let [name] = rest; name !== undefined; [name] = rest) {
    const next = join(folder, name);
    const about = name === '..' ? undefined : lstatSync(next, { throwIfNoEntry: false });
    if (name === '..') {
      folder = dirname(folder);
      rest = rest.slice(1);
    } else if (about === undefined) {
      return rest.includes('..') ? null : { folder, missing: rest };
    } else if (about.isSymbolicLink()) {
      if (!belongsTo(about, [0]) || ++links > mostLinks) return null;
      const target = readlinkSync(next);
      if (isAbsolute(target)) folder = parse(target).root;
      rest = [...namesOf(target), ...rest.slice(1)];
    } else if (about.isDirectory() && leadsOn(about)) {
      folder = next;
      rest = rest.slice(1);
    } else {
      return null;
    }
  }
  return { folder, missing: [] };
}

function namesOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== '' && name !== '.');
}

/** Whether others cannot replace what this user or root has in a folder. */
function leadsOn(about: Stats): boolean {
  return isClosed(about) || (belongsTo(about, [0]) && (about.mode & sticky) !== 0);
}

/** Whether others cannot write to a folder at all. */
function isClosed(about: Stats): boolean {
  if (process.geteuid === undefined) return true;
  return belongsTo(about, [0]) && (about.mode & writableByOthers) === 0;
}

/** Whether something belongs to this user, or to one of the others. */
function belongsTo({ uid }: Stats, others: readonly number[]): boolean {
  const own = process.geteuid?.();
  return own === undefined || uid === own || others.includes(uid);
}
