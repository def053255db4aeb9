// What a TIFF file says of its picture: the first directory, as a list of numbers for each tag.
//
// Both byte orders, and both widths of offsets (classic and BigTIFF). A list is never longer than the file, so that what is
// taken for it is bounded; a file has one picture, beside smaller copies of it and masks.

import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';

/** The first picture of a file. */
export interface Directory {
  readonly littleEndian: boolean;
  /** The numbers of a tag; absent where the directory has none, or they are no whole numbers. */
  readonly numbers: (tag: number) => readonly number[] | undefined;
}

/** The tags that are read. */
export const tags = {
  subfile: 254,
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  colours: 262,
  fillOrder: 266,
  stripOffsets: 273,
  samples: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  planes: 284,
  predictor: 317,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  extraSamples: 338,
  sampleFormat: 339,
} as const;

const blockTags: readonly number[] = [tags.stripOffsets, tags.stripBytes, tags.tileOffsets, tags.tileBytes];

/** Bytes of the whole numbers that tags may have, by their type. */
const widths: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };
/** A file with more directories is none that anyone writes. */
const mostDirectories = 1000;
/** Nor is one with more fields, or a list of more numbers: those of strips and tiles are the longest. */
const [mostFields, longestList] = [2 ** 12, 2 ** 22];

/** The byte order of a file that begins like this, and whether its offsets have 8 bytes; undefined if it is no TIFF file. */
export function tiffKind(head: Uint8Array): { littleEndian: boolean; wide: boolean } | undefined {
  const [a, b, c, d] = head;
  const littleEndian = a === 0x49 && b === 0x49;
  if (!littleEndian && !(a === 0x4d && b === 0x4d)) return undefined;
  const version = littleEndian ? c! + 256 * d! : 256 * c! + d!;
  return version === 42 || version === 43 ? { littleEndian, wide: version === 43 } : undefined;
}

/** Reads the directory of the picture. */
export async function readDirectory(file: OpenBytes): Promise<Directory> {
  const { name } = file;
  const kind = tiffKind(await file.peek(4));
  if (kind === undefined)
    throw problem('WS5004', `${name} cannot be read as 'tiff': it does not begin as a TIFF file does`);
  const fields = new Fields(file, kind.littleEndian, kind.wide);
  const first = await fields.directory(await fields.offset(kind.wide ? 8 : 4), Object.values(tags));
  for (let next = first.next, seen = 1; next !== 0; seen++) {
    const other = await fields.directory(next, [tags.subfile]);
    // A smaller copy of the picture (1), or a mask of it (4).
    const isPart = ((other.numbers(tags.subfile)?.[0] ?? 0) & 5) !== 0;
    if (!isPart) {
      const hint = `write one of them out first: tiffcp ${name},0 first.tif`;
      throw problem('WS5004', `${name} has several pictures, and one is read`, hint);
    }
    if (seen === mostDirectories)
      throw problem('WS5003', `${name} has more than ${mostDirectories} directories`);
    next = other.next;
  }
  return { littleEndian: kind.littleEndian, numbers: first.numbers };
}

/** Numbers at positions of a file. */
class Fields {
  readonly #file: OpenBytes;
  readonly #little: boolean;
  readonly #wide: boolean;

  constructor(file: OpenBytes, littleEndian: boolean, wide: boolean) {
    this.#file = file;
    this.#little = littleEndian;
    this.#wide = wide;
  }

  async offset(at: number): Promise<number> {
    const bytes = this.#wide ? 8 : 4;
    return this.#number(await this.#bytes(at, bytes), 0, bytes);
  }

  async directory(
    at: number,
    wanted: readonly number[],
  ): Promise<{ numbers: Directory['numbers']; next: number }> {
    const [countBytes, entryBytes, inPlace] = this.#wide ? [8, 20, 8] : [2, 12, 4];
    const entries = this.#number(await this.#bytes(at, countBytes), 0, countBytes);
    if (entries > mostFields) throw this.#unlike(`a directory of ${entries} fields`);
    const table = await this.#bytes(at + countBytes, entries * entryBytes + inPlace);
    const found = new Map<number, readonly number[]>();
    for (let i = 0; i < entries; i++) {
      const entry = i * entryBytes;
      const [tag, type] = [this.#number(table, entry, 2), this.#number(table, entry + 2, 2)];
      const width = widths[type];
      if (width === undefined || !wanted.includes(tag)) continue;
      const length = this.#number(table, entry + 4, inPlace);
      const isOfBlocks = blockTags.includes(tag);
      if (length > (isOfBlocks ? longestList : mostFields))
        throw this.#unlike(`a list of ${length} numbers (tag ${tag})`);
      const value = entry + 4 + inPlace;
      const view =
        length * width <= inPlace
          ? new DataView(table.buffer, table.byteOffset + value, inPlace)
          : await this.#bytes(this.#number(table, value, inPlace), length * width);
      found.set(
        tag,
        Array.from({ length }, (_, k) => this.#number(view, k * width, width)),
      );
    }
    return { numbers: (tag) => found.get(tag), next: this.#number(table, entries * entryBytes, inPlace) };
  }

  #number(view: DataView, at: number, width: number): number {
    if (width === 1) return view.getUint8(at);
    if (width === 2) return view.getUint16(at, this.#little);
    if (width === 4) return view.getUint32(at, this.#little);
    return Number(view.getBigUint64(at, this.#little));
  }

  #unlike(what: string): Error {
    return problem('WS5004', `${this.#file.name} has ${what}, which is not read`, 'is the file damaged?');
  }

  async #bytes(at: number, length: number): Promise<DataView> {
    return viewOf(await bytesAt(this.#file, at, length));
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Bytes of a file, all of which must be there. */
export async function bytesAt(file: OpenBytes, at: number, length: number): Promise<Uint8Array> {
  const { name, size } = file as ByteReader;
  const ended = () =>
    problem(
      'WS5003',
      `${name} is damaged: it has ${size} bytes, and speaks of ${length} from ${at} on`,
      'copy or download it again',
    );
  if (!(at + length <= size!)) throw ended();
  const bytes = new Uint8Array(length);
  if ((await file.readAt!(bytes, at)) < length) throw ended();
  return bytes;
}
