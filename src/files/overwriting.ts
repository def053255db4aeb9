// Files that would be lost if a command were carried out: what it writes over what it reads, or writes twice.

import { fileIdentity, keepsNothing } from './place.ts';

/** Two of a command's files that are one. */
export interface Overwriting {
  /** What would be written, as it was given. */
  readonly path: string;
  /** What it would overwrite, as it was given. */
  readonly other: string;
  /** Whether that is read, or written as well. */
  readonly kind: 'read' | 'written';
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
  return undefined;
}
