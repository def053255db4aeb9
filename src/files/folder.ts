// The files of a folder that are an input or an output together, in one order: by their paths, as people count.
//
// Links are not followed to folders: they may lead round. What is no file, as a pipe, is left out.

import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { byCount } from './by-count.ts';
import { readThrough } from './sum-of-file.ts';

/** A file in a folder. */
export interface FileWithin {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly size: number;
}

/** What there is in a folder. */
export interface Within {
  readonly files: readonly FileWithin[];
  /** Of all files. */
  readonly size: number;
  /** The latest times of files, and of folders, which get and lose names. */
  readonly written: bigint;
  readonly changed: bigint;
}

/** Looks at all files of a folder, and of those in it. */
export async function lookInto(folder: string): Promise<Within> {
  const files: FileWithin[] = [];
  const folders = [''];
  let [size, written, changed] = [0, 0n, 0n];
  const seen = (about: BigIntStats) => {
    if (about.mtimeNs > written) written = about.mtimeNs;
    if (about.ctimeNs > changed) changed = about.ctimeNs;
  };
  for (const within of folders) {
    seen(await lstat(join(folder, within), { bigint: true }));
    for (const entry of await readdir(join(folder, within), { withFileTypes: true })) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else {
        const about = await stat(join(folder, path), { bigint: true }).catch(() => undefined);
        if (!about?.isFile()) continue;
        seen(about);
        size += Number(about.size);
        files.push({ path, size: Number(about.size) });
      }
    }
  }
  return { files: files.sort((a, b) => byCount(a.path, b.path)), size, written, changed };
}

/** Has bytes of a folder's files taken, as if they were one: from a place on to before another. */
export async function readThroughAll(
  folder: string,
  files: readonly FileWithin[],
  begin: number,
  end: number,
  take: (bytes: Uint8Array) => void,
): Promise<number> {
  let first = 0;
  let read = 0;
  for (const { path, size } of files) {
    const [from, to] = [Math.max(begin, first), Math.min(end, first + size)];
    if (from < to) {
      const file = await open(join(folder, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      try {
        read += await readThrough(file, from - first, to - first, take);
      } finally {
        await file.close();
      }
    }
    first += size;
  }
  return read;
}
