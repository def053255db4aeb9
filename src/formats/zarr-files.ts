// The files of a Zarr store: parts of them by their paths below its folder, none from anywhere else.
//
// Paths are made of numbers, or found by listing folders; a link may lead to another file of the store, and nowhere else.
// Which files there are in a folder is asked once, since most of what an array could have may be missing.

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { problem, unreadable } from '../diagnostics/problem.ts';
import { checkPart, type FolderFile, type FolderFiles } from './folder-files.ts';

/** Names that are remembered of a folder: with more files than that, each is asked for. */
const mostNames = 2 ** 17;
/** Folders whose names are remembered. */
const mostFolders = 64;

export class StoreFiles implements FolderFiles {
  /** For messages. */
  readonly #name: string;
  readonly #folder: string;
  #root: Promise<string> | undefined;
  /** Names in folders of the store, by their paths; undefined where they are too many. */
  readonly #names = new Map<string, Promise<ReadonlySet<string> | undefined>>();

  constructor(name: string, folder: string) {
    this.#name = name;
    this.#folder = folder;
  }

  /** Names of the folders within a folder of the store. Links are left out: they may lead round. */
  async foldersIn(path: string): Promise<string[]> {
    const entries = await this.#asking(path, readdir(join(this.#folder, path), { withFileTypes: true }));
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** Whether there is something of a path's name. */
  async has(path: string): Promise<boolean> {
    const folder = dirname(path);
    let names = this.#names.get(folder);
    if (names === undefined) {
      if (this.#names.size >= mostFolders) this.#names.clear();
      names = this.#list(folder);
      this.#names.set(folder, names);
    }
    const known = await names;
    if (known !== undefined) return known.has(path.slice(path.lastIndexOf('/') + 1));
    return lstat(join(this.#folder, path)).then(
      () => true,
      () => false,
    );
  }

  /** Opens a file; undefined if there is none. Throws WS5003 for what is no file of the store. */
  async open(path: string): Promise<FolderFile | undefined> {
    if (!(await this.has(path))) return undefined;
    const full = join(this.#folder, path);
    const root = await this.#rootOf();
    const real = await this.#asking(path, realpath(full));
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
      throw this.#wrong(path, 'leads out of the store');
    // What is no file, but a pipe that has no writer, is not waited for.
    const file = await this.#asking(path, open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)));
    try {
      const about = await file.stat();
      if (!about.isFile()) throw this.#wrong(path, 'is no regular file');
      return {
        size: about.size,
        part: (begin, length) => this.#part(path, file, about.size, begin, length),
        close: () => file.close(),
      };
    } catch (error) {
      await file.close();
      throw unreadable(join(this.#name, path), error);
    }
  }

  async #part(
    path: string,
    file: FileHandle,
    size: number,
    begin: number,
    length: number,
  ): Promise<Uint8Array> {
    checkPart(begin, length, size);
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.#asking(path, file.read(bytes, done, length - done, begin + done));
      if (bytesRead === 0) throw this.#wrong(path, 'was shortened while it was read');
      done += bytesRead;
    }
    return bytes;
  }

  async #list(folder: string): Promise<ReadonlySet<string> | undefined> {
    try {
      const names = await readdir(join(this.#folder, folder));
      return names.length > mostNames ? undefined : new Set(names);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return new Set();
      throw unreadable(join(this.#name, folder), cause);
    }
  }

  #rootOf(): Promise<string> {
    this.#root ??= this.#asking('', realpath(this.#folder));
    return this.#root;
  }

  async #asking<T>(path: string, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (cause) {
      throw unreadable(join(this.#name, path), cause);
    }
  }

  #wrong(path: string, what: string): Error {
    return problem(
      'WS5003',
      `${join(this.#name, path)} ${what}`,
      'a chunk is a regular file of its store: copy the store with what its links lead to (cp -rL)',
    );
  }
}
