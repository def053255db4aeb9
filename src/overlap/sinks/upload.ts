// An upload of an object in parts, several at a time, which may arrive in any order. The object is there when all of them
// are and the upload is completed, and not before; one that was there stays until then. An upload that is not completed
// must be aborted: a store keeps its parts, and has them paid for.

import { createHash } from 'node:crypto';
import { type Answered, refusalOf, refusedObject, type S3Object } from '../../formats/s3-client.ts';

const MiB = 2 ** 20;
/** Parts that an object may have. */
const mostParts = 10_000;
/** Bytes of a part, where more need not be; stores take none below 5 MiB but the last. */
const leastBytes = 8 * MiB;
/** After so many parts of an object whose length is not known, they are twice as long. */
const partsOfOneLength = 1000;

/** Bytes of a part, counted from 1, of an object of so many in all, where that is known. */
export function bytesOfPart(number: number, total: number | undefined): number {
  if (total !== undefined) return Math.max(leastBytes, Math.ceil(total / mostParts / MiB) * MiB);
  return leastBytes * 2 ** Math.floor((number - 1) / partsOfOneLength);
}

/** Milliseconds that a run which is stopped waits for the upload that it has asked for. */
const beginPatience = 5000;

/** Parts that are on their way at a time: fewer where memory is scarce. */
export function partsAtOnce(isLimited: boolean): number {
  return isLimited ? 2 : 4;
}

/** Bytes that an output to an object holds where memory is scarce: parts on their way, one that is filled, and what is kept. */
export function heldByObject(isKept: boolean): number {
  return (partsAtOnce(true) + 1 + (isKept ? 2 : 0)) * leastBytes;
}

/** A part that the store has. */
export interface UploadedPart {
  readonly bytes: number;
  /** Its ETag. */
  readonly tag: string;
}

/** An upload as a journal keeps it. */
export interface KeptUpload {
  readonly id: string;
  /** The first ones, in their order; undefined for the first of all where it comes last. */
  readonly parts: readonly (UploadedPart | null)[];
}

export class Upload {
  readonly id: string;
  readonly #object: S3Object;
  readonly #parts: (UploadedPart | null)[];
  readonly #atOnce: number;
  readonly #flying = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #failure: { readonly cause: unknown } | undefined;

  /** `atOnce`: parts that are on their way at a time. */
  constructor(object: S3Object, { id, parts }: KeptUpload, atOnce: number) {
    this.id = id;
    this.#object = object;
    this.#parts = [...parts];
    this.#atOnce = atOnce;
  }

  /** `signal` ends the wait for it, but not at once: what a store has begun must be known to be ended. Throws WS5006 or WS5020. */
  static async begin(object: S3Object, atOnce: number, signal: AbortSignal | undefined): Promise<Upload> {
    const stop = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => {
      timer = setTimeout(() => stop.abort(), beginPatience);
    };
    signal?.addEventListener('abort', onAbort);
    try {
      signal?.throwIfAborted();
      const { UploadId: id } = await object.send<{ readonly UploadId: string }>(
        'CreateMultipartUploadCommand',
        {},
        stop.signal,
      );
      return new Upload(object, { id, parts: [] }, atOnce);
    } catch (cause) {
      signal?.throwIfAborted();
      throw refusedObject(object.name, cause, 'written');
    } finally {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    }
  }

  /** The parts that have arrived, of the first so many. */
  parts(count: number): readonly (UploadedPart | null)[] {
    return Array.from({ length: count }, (_, i) => this.#parts[i] ?? null);
  }

  /** Sends a part, when fewer than that are on their way. `done`: its bytes may be overwritten. */
  async add(number: number, bytes: Uint8Array, done: () => void): Promise<void> {
    while (this.#flying.size >= this.#atOnce && this.#failure === undefined) await Promise.race(this.#flying);
    this.#check();
    const flight = this.#send(number, bytes)
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      })
      .finally(() => {
        this.#flying.delete(flight);
        done();
      });
    this.#flying.add(flight);
  }

  /** All that was sent has arrived. */
  async arrived(): Promise<void> {
    await Promise.all(this.#flying);
    this.#check();
  }

  /**
   * Gives the object its name.
   *
   * @throws what the client does; status 412 where another is there that must not be replaced
   */
  async complete(overwrite: boolean): Promise<void> {
    const parts = this.#parts.map((part, i) => ({ PartNumber: i + 1, ETag: part!.tag }));
    const condition = overwrite ? {} : { IfNoneMatch: '*' };
    try {
      if (parts.length === 0) {
        // No upload is of nothing.
        await this.#object.send('PutObjectCommand', { Body: new Uint8Array(), ...condition });
        await this.abort();
        return;
      }
      const about = { UploadId: this.id, MultipartUpload: { Parts: parts }, ...condition };
      await this.#object.send('CompleteMultipartUploadCommand', about);
    } catch (cause) {
      if (!(await this.#isComplete(cause))) throw cause;
    }
  }

  /** Ends what is on its way. Never throws. */
  async halt(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#flying);
  }

  /** Has the store forget its parts. Never throws: there is nothing more to be done where that fails. */
  async abort(): Promise<void> {
    await this.halt();
    await this.#object.send('AbortMultipartUploadCommand', { UploadId: this.id }).catch(() => {});
  }

  #check(): void {
    if (this.#failure !== undefined) throw refusedObject(this.#object.name, this.#failure.cause, 'written');
  }

  async #send(number: number, bytes: Uint8Array): Promise<void> {
    const about = {
      UploadId: this.id,
      PartNumber: number,
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: createHash('md5').update(bytes).digest('base64'),
    };
    const { ETag: tag = '' } = await this.#object.send<Answered>(
      'UploadPartCommand',
      about,
      this.#stop.signal,
    );
    this.#parts[number - 1] = { bytes: bytes.length, tag };
  }

  /** Whether the object is there after all: an answer may be lost, and asked for again when the upload is no more. */
  async #isComplete(cause: unknown): Promise<boolean> {
    const { code, status } = refusalOf(cause);
    if (status !== undefined && status < 500 && ![404, 409, 412].includes(status) && code !== 'NoSuchUpload')
      return false;
    const found = await this.#object.head().catch(() => undefined);
    const own = tagOf(this.#parts.map((part) => part!.tag));
    if (own === undefined || found?.ETag !== own) return false;
    // One of the same parts that another has written is not ours.
    if (status === 412 && (await this.#isOpen())) return false;
    await this.abort();
    return true;
  }

  #isOpen(): Promise<boolean> {
    return this.#object.send('ListPartsCommand', { UploadId: this.id }).then(
      () => true,
      (cause: unknown) => refusalOf(cause).status !== 404,
    );
  }
}

/** The tag of an object of several parts, where those of the parts are their MD5; undefined where they are something else. */
function tagOf(parts: readonly string[]): string | undefined {
  const sums = parts.map((tag) => /^"([0-9a-f]{32})"$/.exec(tag)?.[1]);
  if (parts.length === 0 || sums.includes(undefined)) return undefined;
  const all = createHash('md5').update(Buffer.from(sums.join(''), 'hex'));
  return `"${all.digest('hex')}-${parts.length}"`;
}
