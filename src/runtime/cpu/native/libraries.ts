// Compiled libraries on disk, so that a kernel is compiled once on a machine.
//
// A library is named by a hash of its text and of all that the compiler's answer depends on. Behind its last byte, where
// no loader looks, stand a mark and a hash of its name and its bytes: one that is cut off, changed or renamed is made
// anew. The folder is `native` in the cache, which only this user can write to, or one of this process alone
// where nothing is to be kept. Files appear whole, by renaming, so that processes need not know of each other.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../../files/cache-folders.ts';
import { folderOfProcess } from '../../../files/leftovers.ts';
import { readOwnFile, writeOwnFile } from '../../../files/own-entries.ts';

const mark = Buffer.from('warpstage library 1\n');
const digestBytes = 32;

function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  // With their lengths, so that no two lists of parts are one.
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}

/** The name of a library's file. */
export function libraryName(identity: string, text: string): string {
  return `${digest(identity, text).toString('hex').slice(0, 40)}.so`;
}

/** Whether the file is what was written under its name. */
export function isWhole(name: string, file: Uint8Array): boolean {
  const end = file.length - mark.length - digestBytes;
  if (end <= 0 || mark.compare(file, end, end + mark.length) !== 0) return false;
  return digest(name, file.subarray(0, end)).equals(file.subarray(end + mark.length));
}

let temporary: string | undefined;

/** A folder of this process alone, which goes with it. */
function temporaryFolder(): string {
  if (temporary === undefined) {
    const folder = folderOfProcess(realpathSync(tmpdir()), 'warpstage-native');
    temporary = folder;
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return temporary;
}

export class Libraries {
  readonly #folder: string;

  constructor(folder: string | null = cacheFolder('native')) {
    this.#folder = folder ?? temporaryFolder();
  }

  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Whether a library lies there that was written whole, by this user. */
  has(name: string): boolean {
    const file = readOwnFile(this.#folder, name);
    return file !== null && isWhole(name, file);
  }

  /** Takes what a compiler wrote. Throws where the disk does not. */
  keep(name: string, compiled: string): void {
    const bytes = readFileSync(compiled);
    const file = Buffer.concat([bytes, mark, digest(name, bytes)]);
    if (!writeOwnFile(this.#folder, name, file)) throw new Error(`${this.pathOf(name)} cannot be written`);
  }

  /** Keeps a text that was not compiled, for whoever looks for the reason: where. */
  keepText(name: string, text: string): string {
    const file = name.replace(/\.so$/, '.c');
    writeOwnFile(this.#folder, file, text);
    return this.pathOf(file);
  }
}

/** Lets a compiler write to a file that is gone afterwards. */
export async function withOutput<T>(use: (output: string) => T | Promise<T>): Promise<T> {
  const folder = outputFolder();
  try {
    return await use(join(folder, 'kernel.so'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same, while this thread waits. */
export function withOutputNow<T>(use: (output: string) => T): T {
  const folder = outputFolder();
  try {
    return use(join(folder, 'kernel.so'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputFolder(): string {
  return mkdtempSync(join(temporaryFolder(), 'compiling-'));
}
