// Checksums of a file's parts, which are all as long, save the last: each can be verified by itself.

import { Checksum } from './checksum.ts';

/** Bytes of a part. */
export const partBytes = 16 * 2 ** 20;

export class PartSums {
  readonly #whole: string[] = [];
  #begun = new Checksum();
  #bytes = 0;

  /** Takes more bytes. */
  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + partBytes - (this.#bytes % partBytes));
      this.#begun.update(part);
      at += part.length;
      this.#bytes += part.length;
      if (this.#bytes % partBytes > 0) continue;
      this.#whole.push(this.#begun.value);
      this.#begun = new Checksum();
    }
  }

  /** Takes back the first part, whose bytes have changed since. */
  replaceFirst(first: Checksum): void {
    if (this.#whole.length > 0) this.#whole[0] = first.value;
    else this.#begun = first;
  }

  /** All bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of each part, in their order. */
  get sums(): readonly string[] {
    return this.#bytes % partBytes === 0 ? this.#whole : [...this.#whole, this.#begun.value];
  }
}
