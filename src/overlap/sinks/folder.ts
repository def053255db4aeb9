// Folders as sinks: an output in files of equally many elements, and one that says what they are, which is written last.
//
// All is written to a folder of a temporary name beside its own, which is renamed when it is complete: nobody sees a part of
// it. Several files are encoded and written at once, as far as that takes little memory.
//
// A run that may be resumed writes to a folder that the next one finds, and is its user's alone. Its state is how many files
// are whole, the checksum of their bytes one behind the other, and the elements that no file has yet.

import { accessSync, constants, existsSync, readdirSync, renameSync } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unwritable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { removeLeftovers, restoreReplaced, unfinishedName } from '../../files/leftovers.ts';
import { closeFolder, ownFolderMode } from '../../files/own-file.ts';
import { placeOf } from '../../files/place.ts';
import { readThrough } from '../../files/sum-of-file.ts';
import type { FolderEncoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';
import type { PartialFile } from '../journal/journal.ts';
import { pack, unpack } from '../journal/packed.ts';
import { type FileSinkOptions, flushNames, isPresent } from './file.ts';
import { replaceFolder } from './replace-folder.ts';
import { bytesOf, nothing, type Sink, type SinkMark } from './sink.ts';
import { addUnfinished, dropUnfinished } from './unfinished.ts';

/** How a folder is to be written. */
export type FolderSinkOptions = Pick<
  FileSinkOptions,
  'shape' | 'fsync' | 'overwrite' | 'parts' | 'partial'
> & {
  /** Whether memory is scarce. Default: false. */
  readonly isLimited?: boolean;
};

/** Files that are encoded and written at once, and bytes of them. */
const mostAtOnce = 4;
const mostBytes = 2 ** 25;

/**
 * Bytes that an output to a folder holds where memory is scarce: the file that is filled, the one that is written, and what
 * encoding it takes; what is kept for another run cannot be used again until it is noted.
 */
export function heldByFolder(
  { unitBytes, encode }: FolderEncoding,
  shape: readonly number[],
  isKept: boolean,
): number {
  const unit = unitBytes(shape);
  return (
    unit * (2 + (encode === undefined ? 0 : 2)) + (encode === undefined && !isKept ? 0 : garbage + 2 * unit)
  );
}

/** Memory that is not used again is given back when there is so much of it. */
const garbage = 2 ** 25;

/** Opens a folder for writing. */
export async function openFolderSink(
  path: string,
  encoding: FolderEncoding,
  options: FolderSinkOptions,
): Promise<Sink> {
  try {
    await restoreReplaced((await placeOf(path)).path);
    const { path: given, about } = await placeOf(path);
    if (about !== undefined && !about.isDirectory()) throw noFolder(path);
    if (about !== undefined && !options.overwrite) throw isPresent(path);
    const final = about === undefined ? given : await realpath(given);
    if (about !== undefined) {
      // What must not be written is not replaced either.
      accessSync(final, constants.W_OK);
      checkReplaced(path, final, encoding);
    }
    await removeLeftovers(dirname(final));
    const mode = about === undefined ? undefined : Number(about.mode) & 0o777;
    const { partial } = options;
    if (partial !== undefined) return await goOn(path, final, partial, encoding, { ...options, mode });
    const temporary = unfinishedName(final);
    addUnfinished(temporary);
    try {
      await mkdir(temporary, mode === undefined ? {} : { mode });
    } catch (cause) {
      dropUnfinished(temporary);
      throw cause;
    }
    return new FolderSink(path, final, temporary, encoding, { ...options, mode });
  } catch (cause) {
    throw unwritable(path, cause, 'check that its directory exists and may be written');
  }
}

/** Opens the folder that the next run finds, behind what a former one has left in it. */
async function goOn(
  path: string,
  final: string,
  { path: temporary, state: packed }: PartialFile,
  encoding: FolderEncoding,
  options: Options,
): Promise<Sink> {
  const state = packed === undefined ? undefined : unpackState(packed);
  await closeFolder(temporary);
  if (state === undefined) {
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: ownFolderMode });
  } else {
    const whole = new Set(namesOf(encoding, options.shape, state.units));
    for (const name of await readdir(temporary)) {
      if (!whole.has(name)) await rm(join(temporary, name), { recursive: true, force: true });
    }
    const { parts } = options;
    if (parts !== undefined) await readFiles(temporary, whole, (bytes) => parts.update(bytes));
  }
  return new FolderSink(path, final, temporary, encoding, options, state);
}

/** The names of the first files. */
function namesOf(
  { nameOf }: Pick<FolderEncoding, 'nameOf'>,
  shape: readonly number[],
  units: number,
): string[] {
  return Array.from({ length: units }, (_, unit) => nameOf(unit, shape));
}

/** The checksum of the files that a state says, if they have that which it says. */
export async function checksumOf(
  folder: string,
  encoding: FolderEncoding,
  shape: readonly number[],
  packed: Uint8Array,
): Promise<Checksum | undefined> {
  const { units, sum } = unpackState(packed);
  const checksum = new Checksum();
  const names = namesOf(encoding, shape, units);
  const areThere = await readFiles(folder, names, (bytes) => checksum.update(bytes));
  return areThere && checksum.value === sum ? checksum : undefined;
}

/** Has the bytes of files taken, one behind the other. Says whether all are there. */
async function readFiles(
  folder: string,
  names: Iterable<string>,
  take: (bytes: Uint8Array) => void,
): Promise<boolean> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  for (const name of names) {
    let file: FileHandle;
    try {
      file = await open(join(folder, name), flags);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ELOOP') return false;
      throw cause;
    }
    try {
      const about = await file.stat();
      if (!about.isFile()) return false;
      await readThrough(file, 0, about.size, take);
    } finally {
      await file.close();
    }
  }
  return true;
}

/** What the next files depend on. */
interface State {
  /** Files that are whole, and the checksum of their bytes. */
  readonly units: number;
  readonly sum: string;
  /** Elements that are in none yet. */
  readonly tail: Uint8Array;
}

function packState({ units, sum, tail }: State): Uint8Array {
  return pack([Buffer.from(JSON.stringify({ units, sum })), tail]);
}

function unpackState(packed: Uint8Array): State {
  const [about, tail] = unpack(packed) as [Uint8Array, Uint8Array];
  return { ...(JSON.parse(Buffer.from(about).toString()) as Omit<State, 'tail'>), tail };
}

/** With the mode of the folder that is to be replaced. */
type Options = FolderSinkOptions & { readonly mode: number | undefined };

/** A file that is being encoded and written. */
interface Written {
  readonly bytes: number;
  readonly done: Promise<Uint8Array>;
  /** It and all before it were written, and their checksums taken, in the order of the files. */
  readonly taken: Promise<void>;
}

/** What was written up to a file, once it was: the checksum where that is kept. */
interface Taken {
  readonly taken: Promise<void>;
  sum: string;
}

class FolderSink implements Sink {
  readonly name: string;
  readonly #final: string;
  readonly #temporary: string;
  readonly #encoding: FolderEncoding;
  readonly #options: Options;
  readonly #unitBytes: number;
  /** Elements of the file that is begun. */
  #unit: Uint8Array | undefined;
  #filled = 0;
  /** Memory of files that were written. */
  readonly #free: Uint8Array[] = [];
  /** Files that were begun, in this run or before. */
  #units = 0;
  /** In the order of the files. */
  readonly #writing: Written[] = [];
  /** Up to the last that was begun. */
  #last: Taken;
  #abandoned = false;
  #published = false;

  constructor(
    name: string,
    final: string,
    temporary: string,
    encoding: FolderEncoding,
    options: Options,
    state?: State,
  ) {
    this.name = name;
    this.#final = final;
    this.#temporary = temporary;
    this.#encoding = encoding;
    this.#options = options;
    this.#unitBytes = encoding.unitBytes(options.shape);
    this.#last = { taken: Promise.resolve(), sum: state?.sum ?? new Checksum().value };
    if (state === undefined) return;
    this.#units = state.units;
    if (state.tail.length === 0) return;
    this.#unit = new Uint8Array(this.#unitBytes);
    this.#unit.set(state.tail);
    this.#filled = state.tail.length;
  }

  async write(data: TypedArray): Promise<void> {
    const bytes = bytesOf(data);
    for (let at = 0; at < bytes.length; ) {
      this.#unit ??= this.#free.pop() ?? new Uint8Array(this.#unitBytes);
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
    const most = this.#options.isLimited ? 1 : mostAtOnce;
    while (this.#writing.length >= most || (this.#writing.length > 0 && held() > mostBytes)) {
      await this.#writing[0]!.taken;
    }
    if (this.#abandoned) throw this.#removed();
    const name = this.#encoding.nameOf(this.#units++, this.#options.shape);
    const done = this.#encode(name, unit);
    const taken = this.#last.taken.then(async () => {
      this.#take(await done, last);
      this.#writing.shift();
      // What a journal may be about to note is not overwritten.
      if (this.#options.partial === undefined) this.#free.push(unit);
    });
    const last: Taken = { taken, sum: '' };
    this.#last = last;
    // Errors are found when its turn comes.
    done.catch(() => {});
    taken.catch(() => {});
    this.#writing.push({ bytes: unit.length, done, taken });
  }

  async #encode(name: string, unit: Uint8Array): Promise<Uint8Array> {
    const bytes = (await this.#encoding.encode?.(unit)) ?? unit;
    await this.#write(name, bytes);
    return bytes;
  }

  /** Checksums are taken in the order of the files. */
  #take(bytes: Uint8Array, last: Taken): void {
    const { parts, partial } = this.#options;
    parts?.update(bytes);
    if (partial === undefined) return;
    partial.checksum.update(bytes);
    last.sum = partial.checksum.value;
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      const file = await open(join(this.#temporary, name), 'wx');
      try {
        await file.writeFile(bytes);
        if (this.#isFlushed) await file.sync();
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
      if (rest !== undefined) await this.#begin(rest.fill(0, this.#filled).subarray(0, unitBytes));
      await this.#last.taken;
      const [name, bytes] = this.#encoding.end(shape, unitBytes);
      await this.#write(name, bytes);
      this.#options.parts?.update(bytes);
      const { partial, mode } = this.#options;
      if (partial !== undefined) await chmod(this.#temporary, mode ?? 0o777 & ~process.umask());
      if (this.#isFlushed) flushNames(this.#temporary);
    } catch (cause) {
      throw cause instanceof WarpstageError ? cause : unwritable(this.name, cause);
    }
  }

  /** With its name it is complete also after a loss of power, where its journal goes. */
  get #isFlushed(): boolean {
    return this.#options.fsync || this.#options.partial !== undefined;
  }

  mark(): SinkMark {
    const [units, last] = [this.#units, this.#last];
    const tail = this.#unit?.subarray(0, this.#filled) ?? nothing;
    return {
      bytes: units * this.#unitBytes + tail.length,
      state: () => packState({ units, sum: last.sum, tail }),
    };
  }

  async sync(): Promise<void> {
    await this.#last.taken;
    flushNames(this.#temporary);
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
    // Before its name is on the disk, what it takes the place of may be all that there is after a loss of power.
    replaceFolder(this.#final, this.#temporary, this.name, () => {
      if (this.#isFlushed) this.syncName();
    });
  }

  syncName(): void {
    flushNames(dirname(this.#final));
  }

  async abandon(): Promise<void> {
    if (this.#published) return;
    this.#abandoned = true;
    await Promise.allSettled(this.#writing.map(({ done }) => done));
    if (this.#options.partial !== undefined) return;
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
