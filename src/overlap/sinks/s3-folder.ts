// Folders of objects as sinks: each file is an object that is created where there is none, and the one that says what they
// are comes last, so that nobody reads a part of it.
//
// Objects have no names to exchange: what is there is not replaced. What is there without a file that says what it is was left
// by a run that was killed, and is removed. Another run may be at it, which cannot be told: so nothing is written over, and
// the objects are listed before the last one is created, and once more behind it. They are those that were written here, as
// they were written, or the run fails and none says what they are. Each says which run has created it: only
// what this one has is removed where it fails.

import { createHash, randomUUID } from 'node:crypto';
import { problem } from '../../diagnostics/problem.ts';
import type { FolderEncoding } from '../../formats/format.ts';
import { type Answered, refusalOf, refusedObject, S3Object } from '../../formats/s3-client.ts';
import { listBelow } from '../../formats/s3-folder.ts';
import type { TypedArray } from '../job.ts';
import { bytesOf, type Sink } from './sink.ts';

/** How the objects are to be written. */
export interface ObjectFolderOptions {
  readonly shape: readonly number[];
  readonly signal: AbortSignal | undefined;
  /** Whether memory is scarce. */
  readonly isLimited: boolean;
}

/** Objects that are on their way at a time, and bytes of them. */
const mostAtOnce = 4;
const mostBytes = 2 ** 25;
/** Milliseconds that a run which ends early waits for them. */
const haltPatience = 5000;
/** Under which an object says its run. */
const runKey = 'warpstage-run';

/** Opens a folder of objects for writing. */
export async function openObjectFolder(
  url: string,
  encoding: FolderEncoding,
  options: ObjectFolderOptions,
): Promise<Sink> {
  const sink = new ObjectFolderSink(await S3Object.named(url.replace(/\/+$/, '')), encoding, options);
  await sink.sweep();
  return sink;
}

class ObjectFolderSink implements Sink {
  readonly name: string;
  readonly #folder: S3Object;
  readonly #encoding: FolderEncoding;
  readonly #options: ObjectFolderOptions;
  readonly #unitBytes: number;
  readonly #stop = new AbortController();
  #unit: Uint8Array | undefined;
  #filled = 0;
  #units = 0;
  readonly #flying = new Set<Promise<void>>();
  #flyingBytes = 0;
  #failure: { readonly cause: unknown } | undefined;
  readonly #run = randomUUID();
  /** The tags of what was created, by its name; and the names that were asked for. */
  readonly #tags = new Map<string, string>();
  readonly #asked = new Set<string>();
  #last: readonly [name: string, bytes: Uint8Array] | undefined;
  #isComplete = false;
  #ended: Promise<void> | undefined;

  constructor(folder: S3Object, encoding: FolderEncoding, options: ObjectFolderOptions) {
    this.name = folder.name;
    this.#folder = folder;
    this.#encoding = encoding;
    this.#options = options;
    this.#unitBytes = encoding.unitBytes(options.shape);
  }

  /** Removes the parts that a killed run has left. Throws WS5006 if there is a whole store, or an object of something else. */
  async sweep(): Promise<void> {
    const mark = this.#encoding.end(this.#options.shape, this.#unitBytes)[0];
    const there = [...(await this.#listed()).keys()];
    if (there.includes(mark)) throw this.#present(mark);
    const other = there.find((path) => !this.#encoding.isPart(path));
    if (other !== undefined) throw this.#present(other);
    if (there.length === 0) return;
    for (const path of there) await this.#remove(path);
    // A run that ended meanwhile would have fewer than it says.
    if (!(await this.#listed()).has(mark)) return;
    await this.#remove(mark);
    throw this.#disturbed();
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

  async finish(shape: readonly number[]): Promise<void> {
    const { signal } = this.#options;
    const onAbort = () => void this.#halt();
    signal?.addEventListener('abort', onAbort);
    try {
      signal?.throwIfAborted();
      const rest = this.#unit;
      // What fits into one object takes no more than it has.
      const unitBytes = this.#units === 0 ? this.#filled : this.#unitBytes;
      if (rest !== undefined) await this.#begin(rest.subarray(0, unitBytes));
      await Promise.all(this.#flying);
      this.#check();
      this.#last = this.#encoding.end(shape, unitBytes);
      if (!(await this.#isWhole())) throw this.#disturbed();
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async complete(): Promise<void> {
    const [name, bytes] = this.#last!;
    await this.#put(name, bytes);
    if (await this.#isWhole()) {
      this.#isComplete = true;
      return;
    }
    await this.#remove(name);
    throw this.#disturbed();
  }

  publish(): void {}

  abandon(): Promise<void> {
    this.#ended ??= this.#isComplete ? Promise.resolve() : this.#abandon();
    return this.#ended;
  }

  async #abandon(): Promise<void> {
    await this.#halt();
    // What says what they are goes first.
    for (const name of [...this.#asked].reverse()) {
      const isOwn = (await this.#tagOf(name).catch(() => undefined)) !== undefined;
      if (isOwn) await this.#remove(name).catch(() => {});
    }
  }

  /** Waits for what is on its way: a request that is broken off may be carried out later, when nobody removes what it created. */
  async #halt(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), haltPatience);
    await Promise.all(this.#flying);
    clearTimeout(timer);
    this.#stop.abort();
  }

  /** Begins to write an object, once there is room for it among those that are on their way. */
  async #begin(unit: Uint8Array): Promise<void> {
    this.#unit = undefined;
    this.#filled = 0;
    const most = this.#options.isLimited ? 1 : mostAtOnce;
    const isFull = () => this.#flying.size >= most || this.#flyingBytes + unit.length > mostBytes;
    while (this.#flying.size > 0 && isFull()) await Promise.race(this.#flying);
    this.#check();
    const name = this.#encoding.nameOf(this.#units++, this.#options.shape);
    this.#flyingBytes += unit.length;
    const flight = this.#encodeAndPut(name, unit)
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => {
        this.#flying.delete(flight);
        this.#flyingBytes -= unit.length;
      });
    this.#flying.add(flight);
  }

  async #encodeAndPut(name: string, unit: Uint8Array): Promise<void> {
    const bytes = (await this.#encoding.encode?.(unit)) ?? unit;
    await this.#put(name, bytes);
  }

  /** Creates an object. Where there is one of this run already, the answer of this request was lost. */
  async #put(name: string, bytes: Uint8Array): Promise<void> {
    const about = {
      ...{ Body: bytes, ContentLength: bytes.length, IfNoneMatch: '*', Metadata: { [runKey]: this.#run } },
      ContentMD5: createHash('md5').update(bytes).digest('base64'),
    };
    const object = await this.#object(name);
    // From here on it may be there, whatever becomes of the request.
    this.#asked.add(name);
    try {
      const { ETag: tag = '' } = await object.send<Answered>('PutObjectCommand', about, this.#stop.signal);
      this.#tags.set(name, tag);
    } catch (cause) {
      if (refusalOf(cause).status !== 412) throw refusedObject(object.name, cause, 'written');
      const tag = await this.#tagOf(name);
      if (tag === undefined) throw this.#disturbed();
      this.#tags.set(name, tag);
    }
  }

  /** The tag of an object of this run; undefined where it is another's, or there is none. */
  async #tagOf(name: string): Promise<string | undefined> {
    const object = await this.#object(name);
    const found = await object.head().catch((cause: unknown) => {
      throw refusedObject(object.name, cause, 'written');
    });
    return found?.Metadata?.[runKey] === this.#run ? found.ETag : undefined;
  }

  /** Whether there are those objects that were written, as they were written, and no others. */
  async #isWhole(): Promise<boolean> {
    const there = await this.#listed();
    if (there.size !== this.#tags.size) return false;
    return [...this.#tags].every(([name, tag]) => there.get(name)?.version === tag);
  }

  #listed(): ReturnType<typeof listBelow> {
    return listBelow(this.#folder, this.#stop.signal);
  }

  async #remove(path: string): Promise<void> {
    const object = await this.#object(path);
    await object.send('DeleteObjectCommand', {}).catch((cause: unknown) => {
      throw refusedObject(object.name, cause, 'written');
    });
  }

  #object(path: string): Promise<S3Object> {
    return S3Object.named(`${this.name}/${path}`);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  #present(path: string): Error {
    return problem(
      'WS5006',
      `${this.name} is there already, with ${path} in it, and objects cannot be replaced all at once`,
      'give another name, or remove it',
    );
  }

  #disturbed(): Error {
    return problem(
      'WS5006',
      `${this.name} cannot be completed: another process has written to it, or removed some of it, meanwhile`,
      'give each run a name of its own, and run it again',
    );
  }
}
