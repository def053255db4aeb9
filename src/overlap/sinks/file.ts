// Files as sinks. A regular file is written under a temporary name beside its own and renamed
// when it is complete, so that a reader sees the old file or the whole new one; what is no
// regular file (a device such as /dev/null, a named pipe) is written directly. A file that a later run may go
// on with has a temporary name that this run finds, and outlives the process.

import { closeSync, constants, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unwritable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { removeLeftovers, unfinishedName } from '../../files/leftovers.ts';
import { modeOfOutput, openOwn, ownMode } from '../../files/own-file.ts';
import { type PartSums, partBytes } from '../../files/part-sums.ts';
import { placeOf } from '../../files/place.ts';
import { readThrough } from '../../files/sum-of-file.ts';
import type { FilePlace } from '../../formats/bytes.ts';
import type { Encoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';
import type { PartialFile } from '../journal/journal.ts';
import { encoded, nothing, type Sink, type SinkMark } from './sink.ts';
import { StreamSink } from './stream.ts';
import { addUnfinished, dropUnfinished } from './unfinished.ts';

/** How a file is to be written. */
export interface FileSinkOptions {
  readonly encoding: Encoding;
  /** The shape, where it is known before the end; for its rank where not. */
  readonly shape: readonly number[];
  readonly shapeKnown: boolean;
  readonly fsync: boolean;
  /** Whether it takes the place of a file that is there. */
  readonly overwrite: boolean;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal: AbortSignal | undefined;
  /** Where a file is written that is kept when the run ends before it is complete. Default: a name of its own, not kept. */
  readonly partial?: PartialFile | undefined;
  /** Called where it must not take the place of a file that is there: returns if that one will do. Default: an error. */
  readonly isThere?: () => void;
  /** Takes the checksums of what is written to a regular file. Default: nobody wants them. */
  readonly parts?: PartSums | undefined;
}

/** Opens a path for writing. */
export async function openFileSink(path: string, options: FileSinkOptions): Promise<Sink> {
  try {
    const { path: final, about } = await placeOf(path);
    if (about?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (about !== undefined && !about.isFile()) return await openDirectly(path, about.isFIFO(), options);
    return await FileSink.open(final, path, about && Number(about.mode) & 0o777, options);
  } catch (cause) {
    throw unwritable(path, cause, 'check that its directory exists and may be written');
  }
}

class FileSink implements Sink {
  readonly name: string;
  readonly #final: string;
  readonly #temporary: string;
  readonly #file: FileHandle;
  readonly #modeBefore: number | undefined;
  readonly #options: FileSinkOptions;
  #position = 0;
  #closed = false;
  #published = false;

  private constructor(
    name: string,
    final: string,
    temporary: string,
    file: FileHandle,
    modeBefore: number | undefined,
    options: FileSinkOptions,
  ) {
    this.name = name;
    this.#final = final;
    this.#temporary = temporary;
    this.#file = file;
    this.#modeBefore = modeBefore;
    this.#options = options;
  }

  static async open(
    final: string,
    name: string,
    modeBefore: number | undefined,
    options: FileSinkOptions,
  ): Promise<FileSink> {
    // A file that must not be written is not replaced either, though its directory would allow it.
    if (modeBefore !== undefined) await (await open(final, constants.O_WRONLY)).close();
    const { partial } = options;
    const temporary = partial?.path ?? unfinishedName(final);
    await removeLeftovers(dirname(final));
    if (partial === undefined) addUnfinished(temporary);
    try {
      const begin = partial?.bytes ?? 0;
      if (partial !== undefined && begin === 0) await rm(temporary, { force: true });
      // What waits for another run is this user's alone until it is complete.
      const mode = partial === undefined ? (modeBefore ?? 0o666) : ownMode;
      const allowed = await modeOfOutput(final, 0o666);
      const file = begin === 0 ? await open(temporary, 'wx+', mode) : await openOwn(temporary, allowed);
      if (file === undefined) throw Object.assign(new Error(), { code: 'ENOENT' });
      const sink = new FileSink(name, final, temporary, file, modeBefore, options);
      try {
        sink.#position = begin;
        const { encoding, parts } = options;
        const head = encoding.begin?.(options.shape) ?? nothing;
        if (begin > 0) {
          await file.chmod(ownMode);
          await file.truncate(begin);
          await readThrough(file, 0, begin, (bytes) => parts?.update(bytes));
        } else await sink.#append(head);
        if (partial?.state !== undefined) await encoding.restore?.(partial.state);
      } catch (cause) {
        await sink.abandon();
        throw cause;
      }
      return sink;
    } catch (cause) {
      dropUnfinished(temporary);
      throw cause;
    }
  }

  async write(data: TypedArray): Promise<void> {
    const { encoding, shape } = this.#options;
    for await (const bytes of encoded(data, encoding, shape)) await this.#append(bytes);
  }

  place(): FilePlace | undefined {
    const { encoding, partial, parts } = this.#options;
    // Checksums are taken in the order of the bytes.
    const isPlain = encoding.encode === undefined && partial === undefined && parts === undefined;
    return isPlain ? { fd: this.#file.fd, position: this.#position } : undefined;
  }

  skip(bytes: number): void {
    this.#position += bytes;
  }

  async writeAt(bytes: Uint8Array, position: number): Promise<void> {
    try {
      await writeAll(this.#file, bytes, position);
    } catch (cause) {
      throw unwritable(this.name, cause);
    }
  }

  async readAt(into: Uint8Array, position: number): Promise<void> {
    let at = position;
    const take = (bytes: Uint8Array) => {
      into.set(bytes, at - position);
      at += bytes.length;
    };
    const read = await readThrough(this.#file, position, position + into.length, take).catch((cause) => {
      throw unwritable(this.name, cause);
    });
    if (read < into.length) throw this.#removed();
  }

  async finish(shape: readonly number[]): Promise<void> {
    try {
      const { encoding, shapeKnown, fsync, partial } = this.#options;
      if ((await this.#file.stat()).nlink === 0) throw this.#removed();
      await this.#append((await encoding.end?.(shape)) ?? nothing);
      if (encoding.needsShape && !shapeKnown) await this.#rewriteBeginning(encoding, shape);
      // With its name it is complete also after a loss of power: its journal goes.
      if (partial !== undefined) await this.#file.chmod(this.#modeBefore ?? 0o666 & ~process.umask());
      if (fsync || partial !== undefined) await this.#file.sync();
      await this.#close();
    } catch (cause) {
      throw cause instanceof WarpstageError ? cause : unwritable(this.name, cause);
    }
  }

  #removed(): Error {
    return problem(
      'WS5006',
      `${this.name} cannot be completed: ${this.#temporary}, where it was written, was removed meanwhile`,
      'run it again',
    );
  }

  publish(): void {
    try {
      if (this.#options.overwrite) renameSync(this.#temporary, this.#final);
      else nameAnew(this.#temporary, this.#final);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw unwritable(this.name, cause);
      if (this.#options.isThere === undefined) throw isPresent(this.name);
      this.#options.isThere();
      rmSync(this.#temporary, { force: true });
    }
    this.#published = true;
    dropUnfinished(this.#temporary);
    if (this.#options.fsync) this.syncName();
  }

  syncName(): void {
    flushNames(dirname(this.#final));
  }

  mark(): SinkMark {
    return { bytes: this.#position, state: this.#options.encoding.keep?.() ?? (() => nothing) };
  }

  async sync(): Promise<void> {
    try {
      await this.#file.datasync();
    } catch (cause) {
      throw unwritable(this.name, cause);
    }
  }

  async abandon(): Promise<void> {
    if (this.#published) return;
    await this.#close().catch(() => {});
    if (this.#options.partial !== undefined) return;
    await rm(this.#temporary, { force: true }).catch(() => {});
    dropUnfinished(this.#temporary);
  }

  async #rewriteBeginning(encoding: Encoding, shape: readonly number[]): Promise<void> {
    const begin = encoding.begin?.(shape) ?? nothing;
    const room = encoding.begin?.(this.#options.shape).length ?? 0;
    if (begin.length !== room) {
      throw new Error(`its beginning takes ${begin.length} bytes, and there is room for ${room}`);
    }
    await writeAll(this.#file, begin, 0);
    const first = new Checksum();
    await readThrough(this.#file, 0, Math.min(partBytes, this.#position), (bytes) => first.update(bytes));
    this.#options.parts?.replaceFirst(first);
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.writeAt(bytes, this.#position);
    this.#options.partial?.checksum.update(bytes);
    this.#options.parts?.update(bytes);
    this.#position += bytes.length;
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#file.close();
  }
}

/** Gives a file a name that no other has. Where there are no links, another may take it in between. */
function nameAnew(path: string, name: string): void {
  try {
    linkSync(path, name);
    rmSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '')) throw cause;
    if (existsSync(name)) throw Object.assign(new Error(), { code: 'EEXIST' });
    renameSync(path, name);
  }
}

/** Flushes the names in a folder. Windows has no such call. */
export function flushNames(path: string): void {
  if (process.platform === 'win32') return;
  try {
    const folder = openSync(path, constants.O_RDONLY);
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** The error of an output that is not to take the place of a file. */
export function isPresent(name: string): Error {
  return problem(
    'WS5006',
    `${name} is there already, and is not to be overwritten`,
    'give another name, or remove it',
  );
}

/** Writes all bytes, at a position or, with null, where the file stands. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number | null): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const at = position === null ? null : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    done += bytesWritten;
  }
}

async function openDirectly(path: string, isPipe: boolean, options: FileSinkOptions): Promise<Sink> {
  const { encoding, shape, shapeKnown, signal } = options;
  if (encoding.needsShape && !shapeKnown) throw needsShape(path);
  if (isPipe) {
    const pipe = new Socket({ fd: await openPipe(path, signal), readable: false });
    return StreamSink.open(path, pipe, encoding, shape, true);
  }
  const file = await open(path, 'w');
  const sink = new DeviceSink(path, file, encoding, shape);
  try {
    await sink.writeBytes(encoding.begin?.(shape) ?? nothing);
  } catch (cause) {
    await sink.abandon();
    throw cause;
  }
  return sink;
}

/** The error of an output that cannot be patched once the length is known. */
export function needsShape(name: string): Error {
  return problem(
    'WS5006',
    `${name} cannot be written in this format: its header comes first, and how many rows there are is known only at the end`,
    'write raw elements, or write to a file',
  );
}

/** A device, for example /dev/null. */
class DeviceSink implements Sink {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #encoding: Encoding;
  readonly #shape: readonly number[];
  #closed = false;

  constructor(name: string, file: FileHandle, encoding: Encoding, shape: readonly number[]) {
    this.name = name;
    this.#file = file;
    this.#encoding = encoding;
    this.#shape = shape;
  }

  async write(data: TypedArray): Promise<void> {
    for await (const bytes of encoded(data, this.#encoding, this.#shape)) await this.writeBytes(bytes);
  }

  async writeBytes(bytes: Uint8Array): Promise<void> {
    try {
      await writeAll(this.#file, bytes, null);
    } catch (cause) {
      throw unwritable(this.name, cause);
    }
  }

  async finish(shape: readonly number[]): Promise<void> {
    await this.writeBytes((await this.#encoding.end?.(shape)) ?? nothing);
    await this.abandon();
  }

  publish(): void {}

  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#file.close().catch(() => {});
  }
}

/**
 * Opens a named pipe once it has a reader. An ordinary open would wait for one in a thread of
 * the pool, where nothing, not even the end of the process, interrupts it.
 */
async function openPipe(path: string, signal: AbortSignal | undefined): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENXIO') throw cause;
    }
    await delay(20, undefined, signal === undefined ? {} : { signal });
  }
}
