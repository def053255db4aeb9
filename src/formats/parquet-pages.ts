// The pages of a column in a Parquet file: their headers, and their bytes without compression.
//
// A header is believed only as far as the bytes that are there allow. What a page is to become when it is
// decompressed is bounded by what compression can do.

import { compressors } from 'hyparquet-compressors';
import { readThrift, type ThriftFields } from './thrift.ts';

/** A page, decompressed. */
export interface Page {
  /** Whether it holds values that later pages name by their places. */
  readonly isDictionary: boolean;
  /** Values, with nulls. */
  readonly length: number;
  /** How its values are coded, by Parquet's numbers. */
  readonly encoding: number;
  /** Runs that say which values are there. Absent where none can be null. */
  readonly levels?: Uint8Array;
  /** The values that are there. */
  readonly bytes: Uint8Array;
}

/** How a column's pages are stored. */
export interface PageStorage {
  /** The name of its compression. */
  readonly codec: string;
  /** Whether values may be null. */
  readonly optional: boolean;
}

const kinds = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;
/** Of the fields of a page's header. */
const field = { kind: 1, unpacked: 2, packed: 3, data: 5, dictionary: 7, dataV2: 8 } as const;
/** Levels in runs; the other way is out of use. */
const levelsInRuns = 3;

/** Pages of less are believed; of more, no compression makes more than so many bytes of one. */
const believed = 64 << 20;
const greatestRatio = 1 << 16;

/** The pages that lie one behind the other. */
export function* pagesOf(bytes: Uint8Array, storage: PageStorage): Generator<Page> {
  for (let at = 0; at < bytes.length; ) {
    const { fields, end } = readThrift(bytes, at);
    const packed = natural(fields, field.packed, 'size');
    if (packed > bytes.length - end) throw new Error(`a page of ${packed} bytes has ${bytes.length - end}`);
    at = end + packed;
    const page = pageOf(fields, bytes.subarray(end, at), storage);
    if (page !== undefined) yield page;
  }
}

function pageOf(fields: ThriftFields, packed: Uint8Array, storage: PageStorage): Page | undefined {
  const unpacked = natural(fields, field.unpacked, 'decompressed size');
  const kind = fields.get(field.kind);
  switch (kind) {
    case kinds.index:
      return undefined;
    case kinds.dictionary: {
      const about = struct(fields, field.dictionary);
      const bytes = decompressed(packed, unpacked, storage.codec);
      return {
        isDictionary: true,
        length: natural(about, 1, 'length'),
        encoding: natural(about, 2, 'encoding'),
        bytes,
      };
    }
    case kinds.data: {
      const about = struct(fields, field.data);
      const bytes = decompressed(packed, unpacked, storage.codec);
      const page = {
        isDictionary: false,
        length: natural(about, 1, 'length'),
        encoding: natural(about, 2, 'encoding'),
      };
      return storage.optional
        ? { ...page, ...levelsApart(bytes, natural(about, 3, 'levels')) }
        : { ...page, bytes };
    }
    case kinds.dataV2:
      return pageV2(struct(fields, field.dataV2), packed, unpacked, storage);
    default:
      throw new Error(`a page is of the kind ${String(kind)}, which is not known`);
  }
}

/** Levels before the values, with their length. */
function levelsApart(bytes: Uint8Array, coding: number): Pick<Page, 'levels' | 'bytes'> {
  if (coding !== levelsInRuns) throw new Error(`the coding ${coding} of levels is not read`);
  const length =
    bytes.length < 4 ? Infinity : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (length > bytes.length - 4) throw new Error('the levels of a page are longer than the page');
  return { levels: bytes.subarray(4, 4 + length), bytes: bytes.subarray(4 + length) };
}

/** Levels that are not compressed, with their lengths in the header. */
function pageV2(about: ThriftFields, packed: Uint8Array, unpacked: number, storage: PageStorage): Page {
  const repetition = natural(about, 6, 'levels');
  const begin = repetition + natural(about, 5, 'levels');
  if (begin > Math.min(packed.length, unpacked))
    throw new Error('the levels of a page are longer than the page');
  const values = packed.subarray(begin);
  return {
    isDictionary: false,
    length: natural(about, 1, 'length'),
    encoding: natural(about, 4, 'encoding'),
    ...(storage.optional ? { levels: packed.subarray(repetition, begin) } : {}),
    bytes: about.get(7) === false ? values : decompressed(values, unpacked - begin, storage.codec),
  };
}

function decompressed(packed: Uint8Array, length: number, codec: string): Uint8Array {
  if (length > believed && length > greatestRatio * packed.length) {
    throw new Error(`a page of ${packed.length} bytes is to become ${length}`);
  }
  const decompress = compressors[codec as keyof typeof compressors];
  if (decompress === undefined && codec !== 'UNCOMPRESSED')
    throw new Error(`the compression ${codec} is not read`);
  const bytes = decompress === undefined || length === 0 ? packed : decompress(packed, length);
  if (length > 0 && bytes.length !== length)
    throw new Error(`a page of ${length} bytes became ${bytes.length}`);
  return length === 0 ? packed.subarray(0, 0) : bytes;
}

function struct(fields: ThriftFields, id: number): ThriftFields {
  const value = fields.get(id);
  if (value instanceof Map) return value as ThriftFields;
  throw new Error('a page does not say what is in it');
}

function natural(fields: ThriftFields, id: number, what: string): number {
  const value = fields.get(id);
  if (typeof value === 'number' && value >= 0) return value;
  throw new Error(`the ${what} of a page is ${value === undefined ? 'missing' : String(value)}`);
}
