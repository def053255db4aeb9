// A folder below a URL of http or https: each of its files is a URL of its own. Nobody lists them, so each is asked for, and
// an answer of 404 says that it is missing; any other refusal is an error, since what is missing is read as something.
//
// What another run is to know again has a version as a whole: that of all files which the format may ask for, each of which
// is asked for first.
//
// Files are opened again and again as parts of them are wanted. Each is of the version in which the run has met it first, or
// there is an error; so it is for one that was missing.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { byCount } from '../files/by-count.ts';
import type { FileWithin } from '../files/folder.ts';
import type { OpenBytes } from './bytes.ts';
import { checkPart, type FolderFile, type FolderFiles, isBelow } from './folder-files.ts';
import { findVersion, isAbsent, openUrl } from './http-bytes.ts';
import { queryOf, shownUrl } from './url.ts';
import type { UrlVersion, UrlVersions } from './url-versions.ts';
import { versionOfAll } from './version-of-all.ts';

/** Files of which parts are read that stay open. */
const mostOpen = 16;
/** Bytes that are taken at once of what comes without parts. */
const portion = 2 ** 20;
/** Files that are asked for to know which version a folder is of, and how many at a time. */
const mostAsked = 100_000;
const askedAtOnce = 16;
/** The version of a file that is not there. */
const nothing = { version: 'none', bytes: 0 };

type Closes = Pick<OpenBytes, 'close'>;

export class HttpFolder implements FolderFiles {
  readonly #url: string;
  readonly #versions: UrlVersions | undefined;
  readonly #opened = new Set<Closes>();
  /** Those of which parts are read, the last ones that were asked for at the end. */
  readonly #parts = new Map<string, Promise<OpenBytes | undefined>>();
  #isClosed = false;
  #all: readonly FileWithin[] | undefined;
  readonly learn?: (paths: Iterable<string>) => Promise<void>;

  constructor(url: string, versions: UrlVersions | undefined) {
    this.#url = url;
    this.#versions = versions?.below(url);
    if (versions?.isKept) this.learn = (paths) => this.#learn(paths, versions.needed);
  }

  get all(): readonly FileWithin[] | undefined {
    return this.#all;
  }

  async foldersIn(): Promise<undefined> {}

  async has(): Promise<boolean> {
    return true;
  }

  async open(path: string, most?: number): Promise<FolderFile | undefined> {
    return most === undefined ? this.#openParts(path) : this.#openWhole(path, most);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#opened].map((one) => one.close()));
  }

  async #learn(given: Iterable<string>, versions: UrlVersions): Promise<void> {
    const paths: string[] = [];
    for (const path of given) if (paths.push(path) > mostAsked) throw this.#tooMany();
    const found = new Map<string, UrlVersion>();
    let next = 0;
    const ask = async () => {
      while (next < paths.length) {
        const path = paths[next++]!;
        const version = await this.#versionOf(path, versions);
        if (version.version !== nothing.version) found.set(path, version);
      }
    };
    // All must have ended before an error leaves.
    for (const one of await Promise.allSettled(Array.from({ length: askedAtOnce }, ask))) {
      if (one.status === 'rejected') throw one.reason;
    }
    this.#all = [...found]
      .map(([path, { bytes }]) => ({ path, size: bytes }))
      .sort((a, b) => byCount(a.path, b.path));
    versions.found(this.#url, versionOfAll(this.#all, found));
  }

  async #versionOf(path: string, versions: UrlVersions): Promise<UrlVersion> {
    const url = urlBelow(this.#url, path);
    const known = versions.of(url);
    if (known !== undefined) return known;
    const held: Closes[] = [];
    try {
      await findVersion(url, this.#holding(held), versions);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      versions.found(url, nothing);
    } finally {
      await this.#letGo(held);
    }
    return versions.of(url)!;
  }

  #tooMany(): Error {
    return problem(
      'WS5005',
      `${shownUrl(this.#url)} may have more than ${count(mostAsked)} files, each of which would be asked for its version`,
      'name the folder of one array of it, or save it to a folder first',
    );
  }

  #holding(held: Closes[]): (one: Closes) => void {
    return (one) => {
      held.push(one);
      this.#opened.add(one);
      if (this.#isClosed) void one.close();
    };
  }

  async #openWhole(path: string, most: number): Promise<FolderFile | undefined> {
    const held: Closes[] = [];
    const close = async () => this.#letGo(held);
    try {
      const bytes = await this.#ask(path, held);
      if (bytes === undefined || bytes.readAt !== undefined) {
        if (bytes === undefined) await close();
        return bytes && fileOf(bytes, close);
      }
      const whole = await readWhole(bytes, most);
      await close();
      const part = async (begin: number, length: number) => {
        checkPart(begin, length, whole.length);
        return whole.subarray(begin, begin + length);
      };
      return { size: whole.length, part, async close() {} };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #openParts(path: string): Promise<FolderFile | undefined> {
    let asked = this.#parts.get(path);
    this.#parts.delete(path);
    asked ??= this.#askForParts(path);
    asked.catch(() => this.#parts.delete(path));
    this.#parts.set(path, asked);
    for (const first of this.#parts.keys()) if (this.#parts.size > mostOpen) this.#parts.delete(first);
    const bytes = await asked;
    return bytes && fileOf(bytes, async () => {});
  }

  async #askForParts(path: string): Promise<OpenBytes | undefined> {
    const held: Closes[] = [];
    try {
      const bytes = await this.#ask(path, held);
      if (bytes === undefined || bytes.readAt !== undefined) return bytes;
      throw problem(
        'WS5004',
        `${bytes.name} is to be read in parts, and its server has no ranges, or says no version (ETag, Last-Modified)`,
        'save the store to a folder first',
      );
    } catch (error) {
      await this.#letGo(held);
      throw error;
    }
  }

  async #ask(path: string, held: Closes[]): Promise<OpenBytes | undefined> {
    if (!isBelow(path)) throw problem('WS5003', `${shownUrl(this.#url)} has no file ${path}`);
    const url = urlBelow(this.#url, path);
    try {
      return await openUrl(url, this.#holding(held), this.#versions);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      this.#versions?.found(url, nothing);
      return undefined;
    }
  }

  async #letGo(held: readonly Closes[]): Promise<void> {
    for (const one of held) {
      this.#opened.delete(one);
      await one.close();
    }
  }
}

/** The URL of a file below another; what follows the path, as a signature, is of all. */
export function urlBelow(url: string, path: string): string {
  const query = queryOf(url);
  const folder = url.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const names = path.split('/').map(encodeURIComponent);
  return [[folder, ...names].join('/'), ...(query === '' ? [] : [query])].join('?');
}

function fileOf(bytes: OpenBytes, close: () => Promise<void>): FolderFile {
  const size = bytes.size!;
  return {
    size,
    async part(begin, length) {
      checkPart(begin, length, size);
      const into = new Uint8Array(length);
      await bytes.readAt!(into, begin);
      return into;
    },
    close,
  };
}

async function readWhole(bytes: OpenBytes, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let all = 0; ; ) {
    const part = new Uint8Array(portion);
    const read = await bytes.read(part);
    all += read;
    if (all > most) {
      const message = `${bytes.name} has more than ${most} bytes, as many as it may have`;
      throw problem('WS5003', message, 'does the server give something else in its place?');
    }
    parts.push(part.subarray(0, read));
    if (read < part.length) return Buffer.concat(parts);
  }
}
