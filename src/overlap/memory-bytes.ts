// Typed arrays as bytes in their order.

import type { ByteReader } from '../formats/bytes.ts';
import { type CopyBytes, copyHere } from './copy-here.ts';

/** Bytes that are in memory already. */
export class MemoryBytes implements ByteReader {
  readonly name: string;
  readonly size: number;
  readonly #bytes: Uint8Array;
  readonly #copy: CopyBytes;
  #position = 0;

  constructor(name: string, array: ArrayBufferView, copy: CopyBytes = copyHere) {
    this.name = name;
    this.#copy = copy;
    this.#bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.size = array.byteLength;
  }

  async read(into: Uint8Array): Promise<number> {
    const taken = this.#bytes.subarray(this.#position, this.#position + into.length);
    this.#position += taken.length;
    await this.#copy(into.subarray(0, taken.length), taken);
    return taken.length;
  }

  skip(bytes: number): void {
    this.#position += bytes;
  }

  async close(): Promise<void> {}
}
