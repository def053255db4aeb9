// Bytes in their order, from a file, or a stream that has a path: what raw and .npy sources are made of.

import { constants, fstatSync, openSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { unreadable } from '../diagnostics/problem.ts';
import { type FolderFiles, heldByRanges } from './folder-files.ts';
import { PipePieces } from './pipe-pieces.ts';
import { StreamBytes } from './stream-bytes.ts';
import { isObject, isUrl, shownUrl } from './url.ts';
import type { UrlVersions } from './url-versions.ts';

/** A place in an open file: its descriptor, and bytes from its beginning. */
export interface FilePlace {
  readonly fd: number;
  readonly position: number;
}

/** Bytes in their order. */
export interface ByteReader {
  /** For messages. */
  readonly name: string;
  /** All bytes; undefined if only the end tells. */
  readonly size: number | undefined;
  /**
   * Fills `into` with the next bytes and resolves with how many they were: fewer than asked for
   * only at the end. One call at a time.
   */
  read(into: Uint8Array): Promise<number>;
  /** Leaves out the next bytes, which are there. Absent where they would have to be read. */
  skip?(bytes: number): void;
  /** Where the next bytes are in an open file. Absent where they are in none. */
  place?(): FilePlace;
  /** All that was wanted was read: reads what is left, where only the end tells that all was right. Default: nothing does. */
  finish?(): Promise<void>;
  close(): Promise<void>;
}

/** The bytes of something that was opened by its path. */
export interface OpenBytes extends ByteReader {
  /** The path of a folder, which has no bytes of its own. Absent where it is none. */
  readonly folder?: string;
  /** The files of a folder that is elsewhere: below a URL, or in a store of objects. Likewise. */
  readonly files?: FolderFiles;
  /** Bytes that reading holds, beside what it reads into. Default: hardly any. */
  readonly heldBytes?: number;
  /** The next bytes, which stay to be read: fewer than asked for only at the end. */
  peek(length: number): Promise<Uint8Array>;
  /** Fills `into` with the bytes from a position on, as far as there are any. Absent where they come in their order only. */
  readAt?(into: Uint8Array, position: number): Promise<number>;
  /** A reader of the bytes from `begin` to before `end`. It ends with the file that it is of. Absent likewise. */
  slice?(begin: number, end: number): ByteReader;
}

/** Standard input, without memory for each piece where it is a pipe. */
function standardInput(): AsyncIterable<Uint8Array> {
  const about = fstatSync(0);
  return about.isFIFO() || about.isSocket() ? new PipePieces(0) : process.stdin;
}

/**
 * Opens a file, a URL, or a device or pipe that has a path. `'-'` is standard input. `opened` receives what ends the wait
 * for a server; `versions` are those that URLs must be of.
 */
export async function openBytes(
  path: string,
  opened: (one: { close(): Promise<void> }) => void = () => {},
  versions?: UrlVersions,
): Promise<OpenBytes> {
  if (isObject(path)) return (await import('./s3-bytes.ts')).openObject(path, opened, versions);
  if (isUrl(path)) return (await import('./http-bytes.ts')).openUrl(path, opened, versions);
  if (path === '-') return new StreamBytes('standard input', standardInput()).begin();
  try {
    const about = await stat(path);
    if (about.isDirectory()) return new FolderBytes(path, { folder: path });
    if (about.isFIFO()) return new StreamBytes(path, openPipe(path)).begin();
    const file = await open(path);
    if (about.isFile()) return new FileBytes(path, file, about.size);
    return new StreamBytes(path, file.createReadStream({ highWaterMark: 1 << 20 })).begin();
  } catch (cause) {
    throw unreadable(path, cause, 'check the path; it is taken from the current directory');
  }
}

/** Opens a folder at a URL, for formats of several files. */
export async function openFolderOfUrls(
  url: string,
  opened: (one: { close(): Promise<void> }) => void,
  versions: UrlVersions | undefined,
): Promise<OpenBytes> {
  const name = shownUrl(url);
  if (isObject(url)) {
    const stop = new AbortController();
    opened({ close: async () => stop.abort() });
    const { ObjectFolder } = await import('./s3-folder.ts');
    return new FolderBytes(name, { files: await ObjectFolder.listed(url, stop, versions) });
  }
  const { HttpFolder } = await import('./http-folder.ts');
  const files = new HttpFolder(url, versions);
  opened(files);
  return new FolderBytes(name, { files });
}

/**
 * A named pipe as a stream. It is not read by file operations: those would wait for the other
 * side in a thread of the pool, where nothing, not even the end of the process, interrupts them.
 */
function openPipe(path: string): PipePieces {
  return new PipePieces(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
}

/** A folder, for formats of several files. */
class FolderBytes implements OpenBytes {
  readonly name: string;
  readonly size = undefined;
  readonly folder?: string;
  readonly files?: FolderFiles;
  readonly heldBytes?: number;

  constructor(name: string, { folder, files }: Pick<OpenBytes, 'folder' | 'files'>) {
    this.name = name;
    if (folder !== undefined) this.folder = folder;
    if (files === undefined) return;
    this.files = files;
    this.heldBytes = heldByRanges;
  }

  async read(): Promise<number> {
    return 0;
  }

  async peek(): Promise<Uint8Array> {
    return new Uint8Array();
  }

  async close(): Promise<void> {}
}

/** Below this size a second request costs more than it brings. */
const leastPart = 1 << 20;

/** The bytes of a regular file, or a part of them, read at positions, so that two halves of a request go side by side. */
export class FileBytes implements OpenBytes {
  readonly name: string;
  readonly size: number;
  readonly #file: FileHandle;
  readonly #begin: number;
  #position = 0;

  constructor(name: string, file: FileHandle, size: number, begin = 0) {
    this.name = name;
    this.#file = file;
    this.size = size;
    this.#begin = begin;
  }

  async read(into: Uint8Array): Promise<number> {
    const position = this.#position;
    const half = into.length >= 2 * leastPart ? into.length / 2 - ((into.length / 2) % 4096) : into.length;
    const parts = [this.readAt(into.subarray(0, half), position)];
    if (half < into.length) parts.push(this.readAt(into.subarray(half), position + half));
    // Both must have ended before either's error leaves: the memory may be freed then.
    const ended = await Promise.allSettled(parts);
    let bytes = 0;
    for (const part of ended) {
      if (part.status === 'rejected') throw part.reason;
      bytes += part.value;
    }
    this.#position += bytes;
    return bytes;
  }

  async peek(length: number): Promise<Uint8Array> {
    const head = new Uint8Array(length);
    return head.subarray(0, await this.readAt(head, this.#position));
  }

  skip(bytes: number): void {
    this.#position += bytes;
  }

  place(): FilePlace {
    return { fd: this.#file.fd, position: this.#begin + this.#position };
  }

  slice(begin: number, end: number): ByteReader {
    return new FileBytes(this.name, this.#file, end - begin, this.#begin + begin);
  }

  async readAt(into: Uint8Array, position: number): Promise<number> {
    const wanted = Math.min(into.length, Math.max(0, this.size - position));
    let done = 0;
    try {
      while (done < wanted) {
        const at = this.#begin + position + done;
        const { bytesRead } = await this.#file.read(into, done, wanted - done, at);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
    } catch (cause) {
      throw unreadable(this.name, cause);
    }
    return done;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
