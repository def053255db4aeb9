// A folder below a URL of http or https: each of its files is a URL of its own. Nobody lists them, so each is asked for, and
// an answer of 404 says that it is missing; any other refusal is an error, since what is missing is read as something.
//
// Files are opened again and again as parts of them are wanted. Each is of the version in which the run has met it first, or
// there is an error; so it is for one that was missing.

import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import { checkPart, type FolderFile, type FolderFiles, isBelow } from './folder-files.ts';
import { isAbsent, openUrl } from './http-bytes.ts';
import { queryOf, shownUrl } from './url.ts';
import type { UrlVersions } from './url-versions.ts';

/** Files of which parts are read that stay open. */
const mostOpen = 16;
/** Bytes that are taken at once of what comes without parts. */
const portion = 2 ** 20;
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

  constructor(url: string, versions: UrlVersions | undefined) {
    this.#url = url;
    this.#versions = versions?.below(url);
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
    const hold = (one: Closes) => {
      held.push(one);
      this.#opened.add(one);
      if (this.#isClosed) void one.close();
    };
    try {
      return await openUrl(url, hold, this.#versions);
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
