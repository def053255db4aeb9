// What killed processes left: unfinished files, and folders for what goes with a process, under names of their own, with
// which no other process goes on.
//
// Such a name says which process wrote it, and where that lived, since numbers of processes are given again: on
// another machine, and in a container, the same number is another process. So only those are removed whose process
// is known to be gone: of this machine and namespace, of this user, regular files or folders.

import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A name beside an output for what is written of it, which no other process has. */
export function unfinishedName(final: string): string {
  const unique = randomBytes(4).toString('hex');
  return join(dirname(final), `.${basename(final)}.${place}-${process.pid}-${unique}.partial`);
}

/** A name likewise for a folder whose place another is about to take. */
export function replacedName(final: string): string {
  return unfinishedName(final).replace(/partial$/, 'replaced');
}

/** Removes what killed runs of this user left in a folder, of any output. What cannot be removed stays: never throws. */
export async function removeLeftovers(folder: string): Promise<void> {
  const { names, left } = await leftIn(folder);
  for (const { path, of, kind } of left) {
    // What was to be replaced is all that there is, where its process ended before anything took its place.
    if (kind === 'replaced' && !names.includes(of)) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Gives a folder its name back, where there is nothing of that name because a run of this user was killed when it was about to
 * replace it. Never throws.
 */
export async function restoreReplaced(final: string): Promise<void> {
  const { names, left } = await leftIn(dirname(final));
  const name = basename(final);
  const replaced = left.find(({ of, kind }) => of === name && kind === 'replaced');
  if (replaced !== undefined && !names.includes(name)) await rename(replaced.path, final).catch(() => {});
}

/** What a killed run of this user left. */
interface Left {
  readonly path: string;
  /** The name of its output. */
  readonly of: string;
  readonly kind: 'partial' | 'replaced';
}

async function leftIn(
  folder: string,
): Promise<{ readonly names: readonly string[]; readonly left: readonly Left[] }> {
  const names: string[] = await readdir(folder).catch(() => []);
  const left: Left[] = [];
  for (const name of names) {
    const [, of, where, pid, kind] =
      /^\.(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.(partial|replaced)$/.exec(name) ?? [];
    if (where !== place || isAlive(Number(pid))) continue;
    const path = join(folder, name);
    const about = await lstat(path).catch(() => undefined);
    const isOurs = about?.isFile() || about?.isDirectory();
    if (isOurs && about!.uid === (process.geteuid?.() ?? about!.uid))
      left.push({ path, of: of!, kind: kind as Left['kind'] });
  }
  return { names, left };
}

/**
 * Makes a folder of this process alone within another, and removes those of its kind that killed processes of this user
 * left there. What cannot be removed stays.
 *
 * @throws the system's error, where it cannot be made
 */
export function folderOfProcess(within: string, kind: string): string {
  const folder = mkdtempSync(join(within, `${kind}-${place}-${process.pid}-`));
  for (const name of namesIn(within)) {
    const [, where, pid] = /-([0-9a-f]{8})-(\d+)-[0-9A-Za-z]{6}$/.exec(name) ?? [];
    if (where !== place || !name.startsWith(`${kind}-${where}-${pid}-`) || isAlive(Number(pid))) continue;
    try {
      const path = join(within, name);
      const about = lstatSync(path);
      const isOwn = about.uid === (process.geteuid?.() ?? about.uid);
      if (about.isDirectory() && isOwn) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process was faster, or may not remove it either.
    }
  }
  return folder;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Where numbers of processes mean the same. */
const place = createHash('sha256')
  .update([hostname(), namespaceOfProcesses()].join(' '))
  .digest('hex')
  .slice(0, 8);

function namespaceOfProcesses(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // No Linux: there is one.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of another user's may not be signalled, and is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
