// Compiled code on disk, so that a kernel is compiled once on a machine.
//
// An entry is named by a hash of the text and the options, the architecture among them, and says
// which NVRTC made it and what its name and its own bytes hash to: one that is cut off, changed or
// renamed is taken for none, and so is one that another user could have written (own-entries.ts).
// Entries appear whole, by renaming. The folder is WARPSTAGE_CACHE, else `warpstage` in
// the user's cache folder; of several folders, listed as in PATH, the first is written and the
// others are only read, so that a cache can be shipped. Whatever goes wrong with the disk,
// kernels are compiled anew.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { cacheFolders } from '../../files/cache-folders.ts';
import { closedFolder, readOwnFile, writeOwnFile } from '../../files/own-entries.ts';
import { trustedFolder } from '../../files/own-folder.ts';

const magic = 'warpstage code 2\n';
const digestBytes = 32;

/** What is known of code before it is compiled. */
export interface CodeKey {
  readonly text: string;
  /** Options of the compiler, that of the architecture left out. */
  readonly options: readonly string[];
}

function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  // With their lengths, so that no two lists of parts are one.
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}

function nameOf({ text, options }: CodeKey, kind: string): string {
  return `${digest(text, ...options)
    .toString('hex')
    .slice(0, 40)}.${kind}`;
}

/** An entry's bytes: what it is, its hash, who made it, the code. */
function encode(name: string, version: string, code: Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(`${version}\n`), code]);
  return Buffer.concat([Buffer.from(magic), digest(name, rest), rest]);
}

function decode(name: string, entry: Buffer): { readonly version: string; readonly code: Uint8Array } | null {
  const begin = magic.length + digestBytes;
  if (entry.length < begin || entry.toString('latin1', 0, magic.length) !== magic) return null;
  const rest = entry.subarray(begin);
  if (!digest(name, rest).equals(entry.subarray(magic.length, begin))) return null;
  const end = rest.indexOf('\n');
  return { version: rest.toString('utf8', 0, end), code: new Uint8Array(rest.subarray(end + 1)) };
}

export class CodeCache {
  readonly #folders: readonly string[];
  /** Those that are believed, without the links on the way, by their paths. */
  readonly #trusted = new Map<string, string>();

  constructor(folders: readonly string[] = cacheFolders()) {
    this.#folders = folders;
  }

  /** A folder that others cannot change, which is looked at until it is one; null as long as it is none. */
  #trust(path: string, look: (path: string) => string | null = trustedFolder): string | null {
    const folder = this.#trusted.get(path) ?? look(path);
    if (folder !== null) this.#trusted.set(path, folder);
    return folder;
  }

  #entry(path: string, name: string): ReturnType<typeof decode> {
    const entry = this.#read(path, name);
    return entry === null ? null : decode(name, entry);
  }

  #read(path: string, name: string): Buffer | null {
    const folder = this.#trust(path);
    return folder === null ? null : readOwnFile(folder, name);
  }

  /** Code that this version of NVRTC made; of any version, where none is given. */
  find(key: CodeKey, kind: string, version: string | null): Uint8Array | null {
    const name = nameOf(key, kind);
    for (const folder of this.#folders) {
      const found = this.#entry(folder, name);
      if (found !== null && (version === null || found.version === version)) return found.code;
    }
    return null;
  }

  /** PTX of this text for any architecture that the given one runs. */
  findPortable(key: CodeKey, architecture: number): Uint8Array | null {
    const [stem] = nameOf(key, '').split('.');
    for (const folder of this.#folders) {
      const trusted = this.#trust(folder);
      const targets = (trusted === null ? [] : listIfThere(trusted)).flatMap((file) => {
        const [name, target, extension] = file.split('.');
        const number = Number.parseInt(target ?? '', 10);
        const special = target?.endsWith('a') ?? false;
        const runs = special ? number === architecture : number <= architecture;
        return name === stem && extension === 'ptx' && runs ? [{ number, file }] : [];
      });
      for (const { file } of targets.sort((a, b) => b.number - a.number)) {
        const found = this.#entry(folder, file);
        if (found !== null) return found.code;
      }
    }
    return null;
  }

  /** Keeps code; nothing is said if the disk does not take it. */
  keep(key: CodeKey, kind: string, version: string, code: Uint8Array): void {
    const name = nameOf(key, kind);
    this.write(name, encode(name, version, code));
  }

  /** Writes a file of the cache's own, whole or not at all. */
  write(name: string, bytes: Uint8Array | string): void {
    const [first] = this.#folders;
    const folder = first === undefined ? null : this.#trust(first, closedFolder);
    if (folder !== null) writeOwnFile(folder, name, bytes);
  }

  /** A file of the cache's own. */
  read(name: string): Buffer | null {
    const [folder] = this.#folders;
    return folder === undefined ? null : this.#read(folder, name);
  }
}

function listIfThere(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
