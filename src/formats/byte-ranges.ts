// Ranges of a file, read as if they lay one behind the other.

import type { ByteReader, OpenBytes } from './bytes.ts';

/** Bytes from a position of a file on. */
export interface ByteRange {
  readonly begin: number;
  readonly length: number;
}

/** Reads ranges in their order. It ends with the file that they are of. */
export class RangesReader implements ByteReader {
  readonly name: string;
  readonly size: number;
  readonly #file: OpenBytes;
  readonly #ranges: readonly ByteRange[];
  /** The range that is read, and bytes of it that were. */
  #range = 0;
  #taken = 0;

  constructor(file: OpenBytes, ranges: readonly ByteRange[]) {
    this.name = file.name;
    this.#file = file;
    this.#ranges = ranges;
    this.size = ranges.reduce((sum, { length }) => sum + length, 0);
  }

  async read(into: Uint8Array): Promise<number> {
    let done = 0;
    while (done < into.length && this.#range < this.#ranges.length) {
      const { begin, length } = this.#ranges[this.#range]!;
      const wanted = into.subarray(done, done + length - this.#taken);
      const read = await this.#file.readAt!(wanted, begin + this.#taken);
      done += read;
      this.skip(read);
      if (read < wanted.length) break;
      // One without bytes is behind as soon as it is reached.
      if (length === 0) this.#range++;
    }
    return done;
  }

  skip(bytes: number): void {
    this.#taken += bytes;
    while (this.#range < this.#ranges.length && this.#taken > 0) {
      const { length } = this.#ranges[this.#range]!;
      if (this.#taken < length) return;
      this.#taken -= length;
      this.#range++;
    }
  }

  async close(): Promise<void> {}
}
