// Stored files of a ZIP archive, written as their bytes come (APPNOTE 6.3.10), one after the other.
//
// Sizes and checksum follow the file's bytes (a data descriptor) and in the index at the end, in 64 bits where they need them. The
// first bytes of the file may be known only at the end, since a header says the shape: so the checksum of what follows
// is taken by itself, and put behind that of the header.

import { crc32 } from 'node:zlib';
import { u16, u32, u64 } from './little-endian.ts';

/** Sizes come behind the data; names are UTF-8. */
const flags = 0x0808;
/** The version of the format that has sizes of 64 bits. */
const version = 45;
/** The first day that the format knows. */
const firstDay = 0x21;
const inWide = 0xffffffff;

/** Bytes of the data descriptor, which follows each file. */
export const descriptorBytes = 24;

/** A file of an archive. */
export class StoredEntry {
  readonly #name: Buffer;
  #crc = 0;
  #bytes = 0;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** The checksum and the number of the bytes that were taken. */
  keep(): Uint8Array {
    return Buffer.concat([u32(this.#crc), u64(this.#bytes)]);
  }

  /** Continues after bytes of the file that an earlier run has written. */
  restore(state: Uint8Array): void {
    const view = new DataView(state.buffer, state.byteOffset, state.byteLength);
    this.#crc = view.getUint32(0, true);
    this.#bytes = Number(view.getBigUint64(4, true));
  }

  /** What comes before the file's first byte. */
  begin(): Uint8Array {
    const sizes = [u16(1), u16(16), u64(0), u64(0)];
    return Buffer.concat([
      Buffer.from('PK\x03\x04', 'latin1'),
      ...[version, flags, 0, 0, firstDay].map(u16),
      u32(0),
      ...[inWide, inWide].map(u32),
      u16(this.#name.length),
      u16(Buffer.concat(sizes).length),
      this.#name,
      ...sizes,
    ]);
  }

  /** Takes bytes of the file, behind its head. */
  add(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc);
    this.#bytes += bytes.length;
  }

  /** The data descriptor, which follows the file's last byte. `head`: the file's first bytes, as they are in the end. */
  descriptor(head: Uint8Array): Uint8Array {
    const [crc, size] = this.#sumWith(head);
    return Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), u32(crc), u64(size), u64(size)]);
  }

  /** What the index says of the file that begins at a place. */
  record(head: Uint8Array, at: number): Uint8Array {
    const [crc, size] = this.#sumWith(head);
    const isWide = size >= inWide;
    const isFar = at >= inWide;
    const wide = [...(isWide ? [u64(size), u64(size)] : []), ...(isFar ? [u64(at)] : [])];
    const extra =
      wide.length === 0 ? Buffer.alloc(0) : Buffer.concat([u16(1), u16(8 * wide.length), ...wide]);
    return Buffer.concat([
      Buffer.from('PK\x01\x02', 'latin1'),
      ...[version, version, flags, 0, 0, firstDay].map(u16),
      u32(crc),
      ...[size, size].map((bytes) => u32(isWide ? inWide : bytes)),
      ...[this.#name.length, extra.length, 0, 0, 0].map(u16),
      ...[0, isFar ? inWide : at].map(u32),
      this.#name,
      extra,
    ]);
  }

  /** The checksum and size of the whole file. */
  #sumWith(head: Uint8Array): readonly [crc: number, size: number] {
    return [joinedCrc(crc32(head), this.#crc, this.#bytes), head.length + this.#bytes];
  }
}

/** The end of an archive: its index, which begins at a place. */
export function indexOf(records: readonly Uint8Array[], at: number): Uint8Array {
  const index = Buffer.concat(records);
  return Buffer.concat([index, ...endOfIndex(at, index.length, records.length)]);
}

function endOfIndex(at: number, bytes: number, files: number): Buffer[] {
  const isWide = at >= inWide;
  const wide = [
    Buffer.from('PK\x06\x06', 'latin1'),
    u64(44),
    ...[version, version].map(u16),
    ...[0, 0].map(u32),
    ...[files, files, bytes, at].map(u64),
    Buffer.from('PK\x06\x07', 'latin1'),
    u32(0),
    u64(at + bytes),
    u32(1),
  ];
  return [
    ...(isWide ? wide : []),
    Buffer.from('PK\x05\x06', 'latin1'),
    ...[0, 0, files, files].map(u16),
    u32(bytes),
    u32(isWide ? inWide : at),
    u16(0),
  ];
}

/** The checksum of bytes and others behind them, from those of both and the number of the others. */
export function joinedCrc(first: number, second: number, bytes: number): number {
  // As polynomials modulo that of the checksum: the first is moved by x to the 8 times as many bytes.
  let move = 1 << 31;
  let square = 1 << 23;
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) move = product(square, move);
    square = product(square, square);
  }
  return (product(move, first) ^ second) >>> 0;
}

/** The product of polynomials modulo that of the checksum; the highest bit is the constant. */
function product(a: number, b: number): number {
  let sum = 0;
  for (let bit = 31, of = b; bit >= 0; bit--) {
    if ((a >>> bit) & 1) sum ^= of;
    of = of & 1 ? (of >>> 1) ^ 0xedb88320 : of >>> 1;
  }
  return sum;
}
