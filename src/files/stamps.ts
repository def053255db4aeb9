// Whether files stayed as they were: by their inode, size and times. A folder is all its files together: their sizes added
// up, and the latest of their times.
//
// What changes while it is read gives a mixture of what it was and what it is. The time of writing can be set back
// (as by `cp -p`, or `touch -r`); the time of change of any kind cannot. But that one also moves when a file is linked
// or gets other rights, and its content does not: so it counts where nothing else explains it.

import { stat } from 'node:fs/promises';
import { problem } from '../diagnostics/problem.ts';
import { lookInto } from './folder.ts';

/** A regular file as it was at one moment. */
export interface Stamp {
  /** Of its device and inode. */
  readonly inode: string;
  readonly size: bigint;
  readonly written: bigint;
  readonly changed: bigint;
  /** What moves the time of change, and not the content: names, rights, owner. */
  readonly outside: string;
}

/** Regular files as they were at one moment. */
export class FileStamps {
  readonly #stamps: ReadonlyMap<string, Stamp>;

  private constructor(stamps: ReadonlyMap<string, Stamp>) {
    this.#stamps = stamps;
  }

  /** Takes those of regular files; what else there is among the paths does not count. */
  static async of(paths: Iterable<string>): Promise<FileStamps> {
    const stamps = new Map<string, Stamp>();
    for (const path of paths) {
      const stamp = path === '-' ? undefined : await stampOf(path);
      if (stamp !== undefined) stamps.set(path, stamp);
    }
    return new FileStamps(stamps);
  }

  /**
   * Looks at the files again. One that was removed was read to its end nevertheless.
   *
   * @throws WarpstageError WS5003 for the first that is another one
   */
  async check(): Promise<void> {
    for (const [path, before] of this.#stamps) {
      const now = await stampOf(path);
      const change = now && changeOf(before, now);
      if (change === undefined) continue;
      throw problem(
        'WS5003',
        `${path} changed while it was read: ${change}`,
        'run it again when nothing writes to it, or on a copy of it',
      );
    }
  }
}

/** The stamp of a regular file or a folder; undefined for what is neither, or is not there. */
export async function stampOf(path: string): Promise<Stamp | undefined> {
  const about = await stat(path, { bigint: true }).catch(() => undefined);
  const within = about?.isDirectory() ? await lookInto(path).catch(() => undefined) : undefined;
  if (about === undefined || !(about.isFile() || within !== undefined)) return undefined;
  return {
    inode: `${about.dev}:${about.ino}`,
    size: within === undefined ? about.size : BigInt(within.size),
    written: within?.written ?? about.mtimeNs,
    changed: within?.changed ?? about.ctimeNs,
    outside: [about.nlink, about.mode, about.uid, about.gid].join(' '),
  };
}

function changeOf(before: Stamp, now: Stamp): string | undefined {
  if (now.inode !== before.inode) return 'there is another file of its name now';
  if (now.size !== before.size) return `it had ${before.size} bytes, and has ${now.size}`;
  if (now.written !== before.written) return `it was written to at ${timeInWords(now.written)}`;
  if (now.changed !== before.changed && now.outside === before.outside) {
    return `it changed at ${timeInWords(now.changed)}, though its time of writing is what it was`;
  }
  return undefined;
}

/** A time with its nanoseconds: `2026-05-04T03:02:01.000000001Z`. */
export function timeInWords(nanoseconds: bigint): string {
  const seconds = new Date(Number(nanoseconds / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(nanoseconds % 1_000_000_000n).padStart(9, '0')}Z`;
}
