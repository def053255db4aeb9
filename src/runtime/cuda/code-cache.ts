// Compiled code on disk, so that a kernel is compiled once on a machine.
//
// An entry is named by a hash of the text and the options, the architecture among them, and says
// which NVRTC made it and what its own bytes hash to: one that is cut off or changed is taken for
// none. Entries appear whole, by renaming. The folder is WARPSTAGE_CACHE, else `warpstage` in
// the user's cache folder; of several folders, listed as in PATH, the first is written and the
// others are only read, so that a cache can be shipped. Whatever goes wrong with the disk,
// kernels are compiled anew.

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolders } from '../../files/cache-folders.ts';

const magic = 'warpstage code 1\n';
const digestBytes = 32;

/** What is known of code before it is compiled. */
export interface CodeKey {
  readonly text: string;
  /** Options of the compiler, that of the architecture left out. */
  readonly options: readonly string[];
}

function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest();
}

function nameOf({ text, options }: CodeKey, kind: string): string {
  return `${digest(text, ...options)
    .toString('hex')
    .slice(0, 40)}.${kind}`;
}

/** An entry's bytes: what it is, its hash, who made it, the code. */
function encode(version: string, code: Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(`${version}\n`), code]);
  return Buffer.concat([Buffer.from(magic), digest(rest), rest]);
}

function decode(entry: Buffer): { readonly version: string; readonly code: Uint8Array } | null {
  const begin = magic.length + digestBytes;
  if (entry.length < begin || entry.toString('latin1', 0, magic.length) !== magic) return null;
  const rest = entry.subarray(begin);
  if (!digest(rest).equals(entry.subarray(magic.length, begin))) return null;
  const end = rest.indexOf('\n');
  return { version: rest.toString('utf8', 0, end), code: new Uint8Array(rest.subarray(end + 1)) };
}

export class CodeCache {
  readonly #folders: readonly string[];

  constructor(folders: readonly string[] = cacheFolders()) {
    this.#folders = folders;
  }

  /** Code that this version of NVRTC made; of any version, where none is given. */
  find(key: CodeKey, kind: string, version: string | null): Uint8Array | null {
    for (const folder of this.#folders) {
      const entry = readIfThere(join(folder, nameOf(key, kind)));
      const found = entry === null ? null : decode(entry);
      if (found !== null && (version === null || found.version === version)) return found.code;
    }
    return null;
  }

  /** PTX of this text for any architecture that the given one runs. */
  findPortable(key: CodeKey, architecture: number): Uint8Array | null {
    const [stem] = nameOf(key, '').split('.');
    for (const folder of this.#folders) {
      const targets = listIfThere(folder).flatMap((file) => {
        const [name, target, extension] = file.split('.');
        const number = Number.parseInt(target ?? '', 10);
        const special = target?.endsWith('a') ?? false;
        const runs = special ? number === architecture : number <= architecture;
        return name === stem && extension === 'ptx' && runs ? [{ number, file }] : [];
      });
      for (const { file } of targets.sort((a, b) => b.number - a.number)) {
        const entry = readIfThere(join(folder, file));
        const found = entry === null ? null : decode(entry);
        if (found !== null) return found.code;
      }
    }
    return null;
  }

  /** Keeps code; nothing is said if the disk does not take it. */
  keep(key: CodeKey, kind: string, version: string, code: Uint8Array): void {
    this.write(nameOf(key, kind), encode(version, code));
  }

  /** Writes a file of the cache's own, whole or not at all. */
  write(name: string, bytes: Uint8Array | string): void {
    const [folder] = this.#folders;
    if (folder === undefined) return;
    const unfinished = join(folder, `.${name}.${randomBytes(6).toString('hex')}`);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(unfinished, bytes);
      renameSync(unfinished, join(folder, name));
    } catch {
      removeIfThere(unfinished);
    }
  }

  /** A file of the cache's own. */
  read(name: string): Buffer | null {
    const [folder] = this.#folders;
    return folder === undefined ? null : readIfThere(join(folder, name));
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What could not be written is not there.
  }
}

function listIfThere(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
