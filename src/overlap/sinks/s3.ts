// Objects of S3 as sinks: what is written is cut into parts, which are uploaded while the next one is filled. The object
// appears whole, with `complete`, or not at all.
//
// What comes first and is known only at the end, as the header of a table whose rows nobody counted, is in the first part:
// that is held back then, and goes last. A run that may be resumed keeps the upload, with what no part has yet.

import { problem } from '../../diagnostics/problem.ts';
import type { Encoding } from '../../formats/format.ts';
import { type Answered, refusalOf, refusedObject, S3Object } from '../../formats/s3-client.ts';
import type { TypedArray } from '../job.ts';
import { pack, unpack } from '../journal/packed.ts';
import { isPresent } from './file.ts';
import { encoded, nothing, type Sink, type SinkMark } from './sink.ts';
import { bytesOfPart, type KeptUpload, partsAtOnce, Upload, type UploadedPart } from './upload.ts';

/** How an object is to be written. */
export interface S3SinkOptions {
  readonly encoding: Encoding;
  /** The shape, where it is known before the end; for its rank where not. */
  readonly shape: readonly number[];
  readonly shapeKnown: boolean;
  /** Bytes in all, where that is known. */
  readonly bytes: number | undefined;
  /** Whether it takes the place of an object that is there. */
  readonly overwrite: boolean;
  readonly signal: AbortSignal | undefined;
  /** Whether memory is scarce. */
  readonly isLimited: boolean;
  /** What a former run has left, where this one may be resumed. Default: nothing is left for another. */
  readonly kept?: { readonly bytes: number; readonly state?: Uint8Array | undefined } | undefined;
  /** Called where it must not take the place of an object that is there: returns if that one will do. Default: an error. */
  readonly isThere?: (object: S3Object) => Promise<void>;
}

/** Opens an object for writing. */
export async function openS3Sink(url: string, options: S3SinkOptions): Promise<Sink> {
  const object = await S3Object.named(url);
  const atOnce = partsAtOnce(options.isLimited);
  const { encoding, kept, shape, signal } = options;
  const head = encoding.begin?.(shape) ?? nothing;
  if (kept?.state !== undefined) {
    const { upload, held, tail, state } = unpackState(kept.state);
    await encoding.restore?.(state);
    const sink = new S3Sink(object, new Upload(object, upload, atOnce), options);
    sink.restore(upload.parts.length, kept.bytes, held, tail);
    return sink;
  }
  const sink = new S3Sink(object, await Upload.begin(object, atOnce, signal), options);
  await sink.append(head);
  return sink;
}

/** Whether an object is there that must not be replaced. One that may not be looked at is found when the upload ends. */
export async function refusePresentObject(url: string): Promise<void> {
  const object = await S3Object.named(url);
  const found = await object.head().catch((cause: unknown) => {
    if (refusalOf(cause).status === 403) return undefined;
    throw refusedObject(object.name, cause, 'written');
  });
  if (found !== undefined) throw isPresent(object.name);
}

/** Whether a store still has the parts that a state says; it forgets them where it has not. */
export async function hasParts(url: string, packed: Uint8Array): Promise<boolean> {
  const object = await S3Object.named(url);
  const { upload } = unpackState(packed);
  const there = new Map<number, UploadedPart>();
  try {
    for (let marker: string | undefined; ; ) {
      const page: ListedParts = await object.send('ListPartsCommand', {
        UploadId: upload.id,
        ...(marker !== undefined && { PartNumberMarker: marker }),
      });
      for (const { PartNumber: number, ETag: tag, Size: bytes } of page.Parts ?? [])
        there.set(number, { tag, bytes });
      marker = page.NextPartNumberMarker;
      if (!page.IsTruncated || marker === undefined) break;
    }
  } catch (cause) {
    if (refusalOf(cause).status === 404) return false;
    throw refusedObject(object.name, cause, 'written');
  }
  const isSame = (part: UploadedPart | null, i: number) =>
    part === null || (there.get(i + 1)?.tag === part.tag && there.get(i + 1)?.bytes === part.bytes);
  if (upload.parts.every(isSame)) return true;
  await new Upload(object, upload, 1).abort();
  return false;
}

/** Has a store forget the upload that a state says, if it is still there. Never throws. */
export async function forgetParts(url: string, packed: Uint8Array): Promise<void> {
  try {
    const { upload } = unpackState(packed);
    await new Upload(await S3Object.named(url), upload, 1).abort();
  } catch {
    // It was not written to its end, or the store cannot be asked.
  }
}

interface ListedParts {
  readonly Parts?: readonly { readonly PartNumber: number; readonly ETag: string; readonly Size: number }[];
  readonly IsTruncated?: boolean;
  readonly NextPartNumberMarker?: string;
}

class S3Sink implements Sink {
  readonly name: string;
  readonly #object: S3Object;
  readonly #upload: Upload;
  readonly #options: S3SinkOptions;
  /** Whether the first part is held back: what it begins with is known at the end. */
  readonly #holdsFirst: boolean;
  #first: Uint8Array | undefined;
  /** The part that is filled, how far it is, and how many were before. */
  #buffer: Uint8Array | undefined;
  #filled = 0;
  #sealed = 0;
  #position = 0;
  readonly #free: Uint8Array[] = [];
  #isComplete = false;
  #ended: Promise<void> | undefined;

  constructor(object: S3Object, upload: Upload, options: S3SinkOptions) {
    this.name = object.name;
    this.#object = object;
    this.#upload = upload;
    this.#options = options;
    this.#holdsFirst = options.encoding.needsShape === true && !options.shapeKnown;
  }

  /** Continues after what a former run has uploaded, and what it had not. */
  restore(parts: number, bytes: number, held: Uint8Array, tail: Uint8Array): void {
    this.#sealed = parts;
    this.#position = bytes;
    if (held.length > 0) this.#first = held;
    this.#buffer = new Uint8Array(bytesOfPart(parts + 1, this.#options.bytes));
    this.#buffer.set(tail);
    this.#filled = tail.length;
  }

  async write(data: TypedArray): Promise<void> {
    const { encoding, shape } = this.#options;
    for await (const bytes of encoded(data, encoding, shape)) await this.append(bytes);
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      this.#buffer ??= this.#free.pop() ?? this.#newBuffer();
      const part = bytes.subarray(at, at + this.#buffer.length - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      this.#position += part.length;
      at += part.length;
      if (this.#filled === this.#buffer.length) await this.#seal();
    }
  }

  #newBuffer(): Uint8Array {
    return new Uint8Array(bytesOfPart(this.#sealed + 1, this.#options.bytes));
  }

  /** The part that was filled goes on its way. */
  async #seal(): Promise<void> {
    const [buffer, bytes] = [this.#buffer!, this.#buffer!.subarray(0, this.#filled)];
    this.#buffer = undefined;
    this.#filled = 0;
    this.#sealed++;
    if (this.#sealed === 1 && this.#holdsFirst) {
      this.#first = bytes;
      return;
    }
    await this.#upload.add(this.#sealed, bytes, () => {
      // What a journal may be about to note is not overwritten.
      const isNext = buffer.length === bytesOfPart(this.#sealed + 1, this.#options.bytes);
      if (this.#options.kept === undefined && isNext) this.#free.push(buffer);
    });
  }

  async finish(shape: readonly number[]): Promise<void> {
    const { signal } = this.#options;
    const onAbort = () => void this.#upload.halt();
    signal?.addEventListener('abort', onAbort);
    try {
      signal?.throwIfAborted();
      await this.#finish(shape);
      // From here on it is completed, or another output has failed.
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #finish(shape: readonly number[]): Promise<void> {
    const { encoding } = this.#options;
    await this.append((await encoding.end?.(shape)) ?? nothing);
    if (this.#filled > 0) await this.#seal();
    if (this.#first !== undefined) {
      const begin = encoding.begin?.(shape) ?? nothing;
      const room = encoding.begin?.(this.#options.shape).length ?? 0;
      if (begin.length !== room)
        throw new Error(`its beginning takes ${begin.length} bytes, and there is room for ${room}`);
      this.#first.set(begin);
      await this.#upload.add(1, this.#first, () => {});
    }
    await this.#upload.arrived();
  }

  async complete(): Promise<void> {
    const { overwrite, isThere } = this.#options;
    try {
      await this.#upload.complete(overwrite);
      this.#isComplete = true;
    } catch (cause) {
      if (overwrite || refusalOf(cause).status !== 412) throw refusedObject(this.name, cause, 'written');
      if (isThere === undefined) throw isPresent(this.name);
      await isThere(this.#object);
      await this.#upload.abort();
      this.#isComplete = true;
    }
  }

  publish(): void {}

  mark(): SinkMark {
    const [sealed, buffer, filled, first] = [this.#sealed, this.#buffer, this.#filled, this.#first];
    const keep = this.#options.encoding.keep?.();
    return {
      bytes: this.#position,
      state: () =>
        packState({
          upload: { id: this.#upload.id, parts: this.#upload.parts(sealed) },
          held: first ?? nothing,
          tail: buffer?.subarray(0, filled) ?? nothing,
          state: keep?.() ?? nothing,
        }),
    };
  }

  sync(): Promise<void> {
    return this.#upload.arrived();
  }

  abandon(): Promise<void> {
    if (this.#isComplete) return Promise.resolve();
    this.#ended ??= this.#options.kept === undefined ? this.#upload.abort() : this.#upload.halt();
    return this.#ended;
  }

  async discard(): Promise<void> {
    if (!this.#isComplete) await this.#upload.abort();
  }
}

/** What the next bytes of an object depend on. */
interface State {
  readonly upload: KeptUpload;
  /** The first part, where it comes last. */
  readonly held: Uint8Array;
  /** What no part has yet. */
  readonly tail: Uint8Array;
  /** See `Encoding.keep`. */
  readonly state: Uint8Array;
}

function packState({ upload, held, tail, state }: State): Uint8Array {
  return pack([Buffer.from(JSON.stringify(upload)), held, tail, state]);
}

function unpackState(packed: Uint8Array): State {
  const [upload, held, tail, state] = unpack(packed) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  return { upload: JSON.parse(Buffer.from(upload).toString()) as KeptUpload, held, tail, state };
}

/** The bytes of an object from a place on, which are to be compared. Throws what the client does. */
export async function lastBytes(object: S3Object, length: number): Promise<Uint8Array> {
  const answer = await object.send<Answered>('GetObjectCommand', { Range: `bytes=-${length}` });
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.Body ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The error of an object that cannot hold what is written by several at once, each to its place. */
export function needsPlaces(name: string): Error {
  return problem(
    'WS5006',
    `several outputs go to ${name}, which is no file: they are written at once, each to its place`,
    'write each to an object of its own, or all to a file',
  );
}
