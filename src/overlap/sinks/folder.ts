// Folders as sinks: an output in files of equally many elements, and one that says what they are, which is written last.
//
// All is written to a folder of a temporary name beside its own, which is renamed when it is complete: nobody sees a part of
// it. What it takes the place of is renamed first and removed then; for that moment there is none of the name. Several
// files are encoded and written at once, as far as that takes little memory.

import { accessSync, constants, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, open, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unwritable } from '../../diagnostics/problem.ts';
import { removeLeftovers, replacedName, unfinishedName } from '../../files/leftovers.ts';
import { placeOf } from '../../files/place.ts';
import type { FolderEncoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';
import { type FileSinkOptions, flushNames, isPresent } from './file.ts';
import { bytesOf, type Sink } from './sink.ts';
import { addUnfinished, dropUnfinished } from './unfinished.ts';

/** How a folder is to be written. */
export type FolderSinkOptions = Pick<FileSinkOptions, 'shape' | 'fsync' | 'overwrite' | 'parts'>;

/** Files that are encoded and written at once, and bytes of them. */
const mostAtOnce = 4;
const mostBytes = 2 ** 25;

/** Opens a folder for writing. */
export async function openFolderSink(
  path: string,
  encoding: FolderEncoding,
  options: FolderSinkOptions,
): Promise<Sink> {
  try {
    const { path: given, about } = await placeOf(path);
    if (about !== undefined && !about.isDirectory()) throw noFolder(path);
    const final = about === undefined ? given : await realpath(given);
    if (about !== undefined) {
      // What must not be written is not replaced either.
      accessSync(final, constants.W_OK);
      if (options.overwrite) checkReplaced(path, final, encoding);
    }
    await removeLeftovers(dirname(final));
    const temporary = unfinishedName(final);
    addUnfinished(temporary);
    try {
      await mkdir(temporary, about === undefined ? {} : { mode: Number(about.mode) & 0o777 });
    } catch (cause) {
      dropUnfinished(temporary);
      throw cause;
    }
    return new FolderSink(path, final, temporary, encoding, options);
  } catch (cause) {
    throw unwritable(path, cause, 'check that its directory exists and may be written');
  }
}

/** A file that is being encoded and written. */
interface Written {
  readonly bytes: number;
  readonly done: Promise<Uint8Array>;
}

class FolderSink implements Sink {
  readonly name: string;
  readonly #final: string;
  readonly #temporary: string;
  readonly #encoding: FolderEncoding;
  readonly #options: FolderSinkOptions;
  readonly #unitBytes: number;
  /** Elements of the file that is begun. */
  #unit: Uint8Array | undefined;
  #filled = 0;
  /** Files that were begun. */
  #units = 0;
  /** In the order of the files. */
  #writing: Written[] = [];
  #abandoned = false;
  #published = false;

  constructor(
    name: string,
    final: string,
    temporary: string,
    encoding: FolderEncoding,
    options: FolderSinkOptions,
  ) {
    this.name = name;
    this.#final = final;
    this.#temporary = temporary;
    this.#encoding = encoding;
    this.#options = options;
    this.#unitBytes = encoding.unitBytes(options.shape);
  }

  async write(data: TypedArray): Promise<void> {
    const bytes = bytesOf(data);
    for (let at = 0; at < bytes.length; ) {
      this.#unit ??= new Uint8Array(this.#unitBytes);
      const part = bytes.subarray(at, at + this.#unitBytes - this.#filled);
      this.#unit.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#unitBytes) await this.#begin(this.#unit);
    }
  }

  /** Begins to write a file, once there is room for it among those that are being written. */
  async #begin(unit: Uint8Array): Promise<void> {
    this.#unit = undefined;
    this.#filled = 0;
    const held = () => this.#writing.reduce((sum, { bytes }) => sum + bytes, unit.length);
    while (this.#writing.length >= mostAtOnce || (this.#writing.length > 0 && held() > mostBytes)) {
      await this.#first();
    }
    if (this.#abandoned) throw this.#removed();
    const name = this.#encoding.nameOf(this.#units++, this.#options.shape);
    const done = this.#encode(name, unit);
    // Its error is found when its turn comes.
    done.catch(() => {});
    this.#writing.push({ bytes: unit.length, done });
  }

  async #encode(name: string, unit: Uint8Array): Promise<Uint8Array> {
    const bytes = (await this.#encoding.encode?.(unit)) ?? unit;
    await this.#write(name, bytes);
    return bytes;
  }

  /** Waits for the first of those that are being written. Checksums are taken in their order. */
  async #first(): Promise<void> {
    const [first, ...others] = this.#writing;
    const bytes = await first!.done;
    this.#options.parts?.update(bytes);
    this.#writing = others;
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      const file = await open(join(this.#temporary, name), 'wx');
      try {
        await file.writeFile(bytes);
        if (this.#options.fsync) await file.sync();
      } finally {
        await file.close();
      }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw this.#removed();
      throw unwritable(this.name, cause);
    }
  }

  async finish(shape: readonly number[]): Promise<void> {
    try {
      const rest = this.#unit;
      // What fits into one file takes no more than it has.
      const unitBytes = this.#units === 0 ? this.#filled : this.#unitBytes;
      if (rest !== undefined) await this.#begin(rest.subarray(0, unitBytes));
      while (this.#writing.length > 0) await this.#first();
      const [name, bytes] = this.#encoding.end(shape, unitBytes);
      await this.#write(name, bytes);
      this.#options.parts?.update(bytes);
      if (this.#options.fsync) flushNames(this.#temporary);
    } catch (cause) {
      throw cause instanceof WarpstageError ? cause : unwritable(this.name, cause);
    }
  }

  publish(): void {
    try {
      this.#rename();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') throw isPresent(this.name);
      throw unwritable(this.name, cause);
    }
    this.#published = true;
    dropUnfinished(this.#temporary);
    if (this.#options.fsync) this.syncName();
  }

  #rename(): void {
    if (!existsSync(this.#final)) {
      renameSync(this.#temporary, this.#final);
      return;
    }
    if (!this.#options.overwrite) throw isPresent(this.name);
    // It may be another than when this run began.
    checkReplaced(this.name, this.#final, this.#encoding);
    const replaced = replacedName(this.#final);
    renameSync(this.#final, replaced);
    try {
      renameSync(this.#temporary, this.#final);
    } catch (cause) {
      renameSync(replaced, this.#final);
      throw cause;
    }
    try {
      rmSync(replaced, { recursive: true, force: true });
    } catch {
      // It has another name, and a later run removes it.
    }
  }

  syncName(): void {
    flushNames(dirname(this.#final));
  }

  async abandon(): Promise<void> {
    if (this.#published) return;
    this.#abandoned = true;
    await Promise.allSettled(this.#writing.map(({ done }) => done));
    await rm(this.#temporary, { recursive: true, force: true }).catch(() => {});
    dropUnfinished(this.#temporary);
  }

  #removed(): Error {
    return problem(
      'WS5006',
      `${this.name} cannot be completed: ${this.#temporary}, where it was written, was removed meanwhile`,
      'run it again',
    );
  }
}

/** Refuses to replace a folder that is more than such an output. */
function checkReplaced(name: string, final: string, { keeps }: FolderEncoding): void {
  const why = keeps(final, readdirSync(final));
  if (why === undefined) return;
  throw problem(
    'WS5006',
    `${name} is there already, and is not overwritten: ${why}`,
    'give another name, or remove it',
  );
}

function noFolder(name: string): Error {
  return problem(
    'WS5006',
    `${name} is there already, and is no folder, as which it is to be written`,
    'give another name, or remove it',
  );
}
