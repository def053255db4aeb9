// The bytes of a file elsewhere, read by ranges of one version as they are asked for.
//
// What is short is kept, as heads are read a few bytes at a time; what is long is asked for in parts side by side.

import type { ByteReader, OpenBytes } from './bytes.ts';
import { heldByRanges } from './folder-files.ts';

/** Bytes that are asked for at least. */
export const leastBytes = 1 << 18;
/** Requests that one read makes side by side, and the bytes of each at most: more are held than are wanted. */
const [mostRequests, partBytes] = [4, 1 << 21];

/** One version of a file elsewhere. */
export interface Ranged {
  /** For messages. */
  readonly name: string;
  readonly total: number;
  /** The bytes from `begin` to before `end`, all of them. */
  range(begin: number, end: number): Promise<Uint8Array>;
  /** Ends what is asked at this moment. */
  close(): void;
}

/** Bytes that are here. */
interface Block {
  readonly begin: number;
  readonly bytes: Uint8Array;
}

/** The bytes of such a file, or a part of them. */
export class RangedBytes implements OpenBytes {
  readonly name: string;
  readonly size: number;
  readonly heldBytes = heldByRanges;
  readonly #remote: Ranged;
  readonly #begin: number;
  #block: Block;
  #position = 0;

  /** `block`: what is here already; `begin` and `size`: of the part. */
  constructor(remote: Ranged, block: Block, begin = 0, size = remote.total) {
    this.name = remote.name;
    this.size = size;
    this.#remote = remote;
    this.#begin = begin;
    this.#block = block;
  }

  async read(into: Uint8Array): Promise<number> {
    const read = await this.readAt(into, this.#position);
    this.#position += read;
    return read;
  }

  async peek(length: number): Promise<Uint8Array> {
    const head = new Uint8Array(length);
    return head.subarray(0, await this.readAt(head, this.#position));
  }

  skip(bytes: number): void {
    this.#position += bytes;
  }

  slice(begin: number, end: number): ByteReader {
    return new RangedBytes(this.#remote, this.#block, this.#begin + begin, end - begin);
  }

  async readAt(into: Uint8Array, position: number): Promise<number> {
    const { total } = this.#remote;
    const begin = this.#begin + position;
    const end = Math.min(begin + into.length, this.#begin + this.size, total);
    if (end <= begin) return 0;
    const { bytes, begin: at } = this.#block;
    const here = begin >= at ? bytes.subarray(begin - at, end - at) : bytes.subarray(0, 0);
    into.set(here);
    const from = begin + here.length;
    if (from === end) return end - begin;
    if (end - from < leastBytes) {
      const next = Math.min(from + leastBytes, total);
      this.#block = { begin: from, bytes: await this.#remote.range(from, next) };
      into.set(this.#block.bytes.subarray(0, end - from), here.length);
      return end - begin;
    }
    const count = Math.ceil((end - from) / partBytes);
    const step = Math.ceil((end - from) / count);
    let next = from;
    const parts = Array.from({ length: Math.min(count, mostRequests) }, async () => {
      while (next < end) {
        const part = next;
        next += step;
        into.set(await this.#remote.range(part, Math.min(part + step, end)), part - begin);
      }
    });
    // All must have ended before an error leaves: the memory may be freed then.
    for (const part of await Promise.allSettled(parts)) if (part.status === 'rejected') throw part.reason;
    return end - begin;
  }

  async close(): Promise<void> {
    this.#remote.close();
  }
}
