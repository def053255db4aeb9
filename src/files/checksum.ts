// A checksum of bytes that come in pieces: whatever the pieces, the same bytes have the same one.
//
// It finds damage: a bit that has changed, a block that was lost or that is another's. It keeps nobody from making
// bytes to a checksum. Four sums of 32 bits each take every fourth word: as fast as memory is read, nearly.

/** Bytes that are taken together. */
const block = 16;
/** Bytes that are moved to where words can be read. */
const moved = 1 << 16;

const scratch = new Uint8Array(moved);
const scratchWords = new Uint32Array(scratch.buffer);

export class Checksum {
  #a = 0x243f6a88;
  #b = 0x85a308d3 | 0;
  #c = 0x13198a2e;
  #d = 0x03707344;
  #length = 0;
  /** Of the last block, the bytes that are there. */
  readonly #begun = new Uint8Array(block);
  #held = 0;

  /** Takes more bytes. */
  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    let at = 0;
    if (this.#held > 0) {
      at = Math.min(block - this.#held, bytes.length);
      this.#begun.set(bytes.subarray(0, at), this.#held);
      this.#held += at;
      if (this.#held < block) return;
      this.#words(new Uint32Array(this.#begun.buffer));
      this.#held = 0;
    }
    const end = at + Math.floor((bytes.length - at) / block) * block;
    if ((bytes.byteOffset + at) % 4 === 0) {
      this.#words(new Uint32Array(bytes.buffer, bytes.byteOffset + at, (end - at) / 4));
    } else {
      for (; at < end; at += moved) {
        const part = bytes.subarray(at, Math.min(at + moved, end));
        scratch.set(part);
        this.#words(scratchWords.subarray(0, part.length / 4));
      }
    }
    this.#held = bytes.length - end;
    this.#begun.set(bytes.subarray(end));
  }

  /** What all bytes so far come to: 40 hexadecimal digits, of which the first 8 are from their number. */
  get value(): string {
    const whole = this.copy();
    whole.#begun.fill(0, whole.#held);
    whole.#words(new Uint32Array(whole.#begun.buffer));
    const sums = [whole.#a, whole.#b, whole.#c, whole.#d].map(spread);
    return [this.#length, ...sums].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Another that begins with the same bytes. */
  copy(): Checksum {
    const copy = new Checksum();
    [copy.#a, copy.#b, copy.#c, copy.#d] = [this.#a, this.#b, this.#c, this.#d];
    copy.#length = this.#length;
    copy.#begun.set(this.#begun);
    copy.#held = this.#held;
    return copy;
  }

  /** Each step can be undone, so that no two words in its place lead to the same sum. */
  #words(words: Uint32Array): void {
    let [a, b, c, d] = [this.#a, this.#b, this.#c, this.#d];
    for (let i = 0; i < words.length; i += 4) {
      a = Math.imul(a ^ words[i]!, 0x9e3779b1);
      a = (a << 13) | (a >>> 19);
      b = Math.imul(b ^ words[i + 1]!, 0x85ebca77);
      b = (b << 13) | (b >>> 19);
      c = Math.imul(c ^ words[i + 2]!, 0xc2b2ae3d);
      c = (c << 13) | (c >>> 19);
      d = Math.imul(d ^ words[i + 3]!, 0x27d4eb2f);
      d = (d << 13) | (d >>> 19);
    }
    [this.#a, this.#b, this.#c, this.#d] = [a, b, c, d];
  }
}

/** Lets every bit of a sum reach every other. */
function spread(sum: number): number {
  let mixed = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
