// The chunks of a PNG file, one after the other, and the checksum behind each compared with its bytes.

import { crc32 } from 'node:zlib';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader } from './bytes.ts';

/** What a chunk begins with. */
export interface PngChunk {
  /** Four letters. */
  readonly kind: string;
  /** Bytes of its data. */
  readonly length: number;
}

/** Bytes that are read at once, and given to whoever unpacks them. */
const pieceBytes = 1 << 18;
/** The longest that a chunk may say it is. */
const mostLength = 2 ** 31 - 1;

/** Reads chunks. Of each, all data is taken before the next begins. */
export class PngChunks {
  readonly name: string;
  readonly #file: ByteReader;
  #held: Uint8Array = new Uint8Array();
  #crc = 0;

  /** `file` stands behind the signature. */
  constructor(file: ByteReader) {
    this.name = file.name;
    this.#file = file;
  }

  /** @throws WarpstageError WS5003 where no chunk begins */
  async next(): Promise<PngChunk> {
    const head = await this.#exactly(8);
    const [length, kind] = [head.readUInt32BE(0), head.toString('latin1', 4)];
    if (!/^[A-Za-z]{4}$/.test(kind) || length > mostLength) {
      throw this.damaged('no chunk begins where the one before ends');
    }
    this.#crc = crc32(head.subarray(4));
    return { kind, length };
  }

  /** The data of a chunk whole, of so many bytes at most. */
  async data(chunk: PngChunk, most: number): Promise<Buffer> {
    if (chunk.length > most) throw this.damaged(`its chunk ${chunk.kind} has ${chunk.length} bytes`);
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#pieces(chunk)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Leaves out the data of a chunk. */
  async skip(chunk: PngChunk): Promise<void> {
    for await (const _ of this.#pieces(chunk));
  }

  /** What the chunks of a picture have, from its first on, in long pieces; then reads the file to its end. */
  async *picture(first: PngChunk): AsyncGenerator<Uint8Array> {
    let gathered: Uint8Array[] = [];
    let bytes = 0;
    let chunk = first;
    for (; chunk.kind === 'IDAT'; chunk = await this.next()) {
      for await (const piece of this.#pieces(chunk)) {
        gathered.push(piece);
        bytes += piece.length;
        if (bytes < pieceBytes) continue;
        yield Buffer.concat(gathered);
        gathered = [];
        bytes = 0;
      }
    }
    yield Buffer.concat(gathered);
    for (; chunk.kind !== 'IEND'; chunk = await this.next()) await this.skip(chunk);
    await this.skip(chunk);
  }

  /** The error of a file that is not as it was written. */
  damaged(why: string): Error {
    return problem('WS5003', `${this.name} is damaged: ${why}`, 'copy or download it again');
  }

  async *#pieces({ kind, length }: PngChunk): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0; ) {
      const piece = await this.#some(left);
      this.#crc = crc32(piece, this.#crc);
      left -= piece.length;
      yield piece;
    }
    const sum = this.#crc;
    if ((await this.#exactly(4)).readUInt32BE() !== sum) {
      throw this.damaged(`the checksum of its chunk ${kind} is another`);
    }
  }

  async #exactly(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let left = length; left > 0; left -= pieces.at(-1)!.length) pieces.push(await this.#some(left));
    return Buffer.concat(pieces);
  }

  /** Bytes, one at least, and so many at most. */
  async #some(most: number): Promise<Uint8Array> {
    if (this.#held.length === 0) {
      const piece = new Uint8Array(pieceBytes);
      this.#held = piece.subarray(0, await this.#file.read(piece));
      if (this.#held.length === 0) {
        throw problem('WS5003', `${this.name} ends before its picture does`, 'copy or download it again');
      }
    }
    const some = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(some.length);
    return some;
  }
}
