// Files that would be lost if a command were carried out: what it writes over what it reads, or writes twice. A folder is all
// that is in it: what is written into one that is read, or that another output takes the place of, is found too.

import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileIdentity, keepsNothing, placeOf } from './place.ts';

/** Two of a command's files that are one, or of which one lies in the other. */
export interface Overwriting {
  /** What would be written, as it was given. */
  readonly path: string;
  /** What it would overwrite, as it was given. */
  readonly other: string;
  /** Whether that is read, or written as well. */
  readonly kind: 'read' | 'written';
  /** Whether the first lies in the other, or the other in the first. Default: they are one. */
  readonly lies?: 'within' | 'around';
}

/**
 * Finds the first file that a command would write and that it reads, or writes under another name as well. `-` is
 * standard input among what is read, and standard output among what is written.
 */
export async function findOverwriting(
  reads: Iterable<string>,
  writes: Iterable<string>,
): Promise<Overwriting | undefined> {
  const read = new Map<string, string>();
  for (const path of reads) read.set(await fileIdentity(path, 0), path);
  const written = new Map<string, string>();
  for (const path of writes) {
    if (path !== '-' && (await keepsNothing(path))) continue;
    const identity = await fileIdentity(path, 1);
    const input = read.get(identity);
    if (input !== undefined) return { path, other: input, kind: 'read' };
    const before = written.get(identity);
    if (before !== undefined) return { path, other: before, kind: 'written' };
    written.set(identity, path);
  }
  const folders = new Folders();
  for (const path of written.values()) {
    const input = await folders.among(path, read);
    if (input !== undefined) return { path, other: input, kind: 'read', lies: 'within' };
    const output = await folders.among(path, written);
    if (output !== undefined) return { path, other: output, kind: 'written', lies: 'within' };
  }
  const around = new Map<string, string>();
  for (const [identity, path] of written) if (await mayBeFolder(path)) around.set(identity, path);
  for (const other of around.size === 0 ? [] : read.values()) {
    const path = await folders.among(other, around);
    if (path !== undefined) return { path, other, kind: 'read', lies: 'around' };
  }
  return undefined;
}

/** Whether something may lie in what is written. */
async function mayBeFolder(path: string): Promise<boolean> {
  if (schemeOf(path) !== undefined) return true;
  const about = await stat(path).catch(() => undefined);
  return about?.isDirectory() ?? false;
}

/** The folders that paths lie in: each is looked at once. */
class Folders {
  readonly #identities = new Map<string, Promise<string>>();

  /** The first of some folders, by their identities, that a path lies in. */
  async among(path: string, folders: ReadonlyMap<string, string>): Promise<string | undefined> {
    for (const folder of await foldersOf(path)) {
      const identity = this.#identities.get(folder) ?? fileIdentity(folder, 0);
      this.#identities.set(folder, identity);
      const found = folders.get(await identity);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The folders that a path lies in, from the nearest on; those of a URL by its text. */
async function foldersOf(path: string): Promise<string[]> {
  if (path === '-') return [];
  const scheme = schemeOf(path);
  const place = scheme === undefined ? await placeOf(path).catch(() => undefined) : { path };
  const folders: string[] = [];
  for (let at = place?.path ?? ''; at !== ''; ) {
    const folder = dirname(at);
    if (folder === at || folder.length < (scheme?.length ?? 0)) break;
    folders.push(folder);
    at = folder;
  }
  return folders;
}

/** What a URL begins with: `s3://bucket/`. */
function schemeOf(path: string): string | undefined {
  return /^[a-z0-9]+:\/\/[^/]*\//i.exec(path)?.[0];
}
