// The state of accumulators that a line of a journal counts: two files in turn beside it, so that while one is written
// the other is whole, and what the line before says is still there.
//
// Before the first line there is one of line 0, if it is to be known at once where outputs go: uploads that a store keeps until
// somebody ends them. Nothing is gone on with from there.
//
// A state counts if it has the checksum that its line says. They are this user's alone, as the journal is.

import { type FileHandle, open, rm } from 'node:fs/promises';
import { unreadable, unwritable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { openOwn, ownMode } from '../../files/own-file.ts';

export class StateFiles {
  readonly #paths: readonly string[];

  constructor(paths: readonly [string, string]) {
    this.#paths = paths;
  }

  /** Writes the state of the n-th line, onto the disk. That of the line before stays. */
  async write(line: number, state: Uint8Array): Promise<void> {
    const path = this.#at(line);
    try {
      const file = (await openOwn(path)) ?? (await open(path, 'wx', ownMode));
      try {
        await file.truncate(0);
        await writeAll(file, state);
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /** The state of the n-th line; undefined where it is not there, or another or damaged. */
  async read(line: number, sum: string | undefined): Promise<Uint8Array | undefined> {
    const path = this.#at(line);
    try {
      const file = await openOwn(path);
      if (file === undefined) return undefined;
      try {
        const state = await file.readFile();
        return sumOf(state) === sum ? state : undefined;
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw unreadable(path, cause);
    }
  }

  /** Whatever is there, of whichever line, whole or not. */
  async all(): Promise<Uint8Array[]> {
    const found: Uint8Array[] = [];
    for (const path of this.#paths) {
      try {
        const file = await openOwn(path);
        if (file !== undefined) found.push(await file.readFile().finally(() => file.close()));
      } catch (cause) {
        throw unreadable(path, cause);
      }
    }
    return found;
  }

  /** Never throws. */
  async remove(): Promise<void> {
    await Promise.allSettled(this.#paths.map((path) => rm(path, { force: true })));
  }

  #at(line: number): string {
    return this.#paths[line % 2]!;
  }
}

/** The checksum of a state. */
export function sumOf(state: Uint8Array): string {
  const checksum = new Checksum();
  checksum.update(state);
  return checksum.value;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
  }
}
