// The values of a column in a record batch: bits that say which are there, and the values as they lie in memory.

import { decompress } from 'fzstd';
import { decodeHalf } from '../kernel/half.ts';
import type { Batch, Codec } from './arrow-message.ts';
import type { ArrowColumn, ArrowNumber } from './arrow-schema.ts';
import type { DecodedValues } from './format.ts';
import { unpackLz4 } from './lz4.ts';
import { viewElements } from './typed-arrays.ts';

/** Where a column's parts are in the body of a batch. */
export interface ColumnParts {
  readonly rows: number;
  readonly codec: Codec | undefined;
  /** Absent where no value is null. */
  readonly there?: Batch['buffers'][number];
  readonly values: Batch['buffers'][number];
}

/** Finds a column in a batch. */
export function partsOf(batch: Batch, { node: at, buffer, views }: ArrowColumn): ColumnParts {
  const node = batch.nodes[at];
  const first = batch.views.slice(0, views).reduce((sum, more) => sum + more, buffer);
  const [there, values] = [batch.buffers[first], batch.buffers[first + 1]];
  if (node === undefined || there === undefined || values === undefined) {
    throw new Error('a record batch has fewer parts than the schema says');
  }
  if (node.length !== batch.length) throw new Error(`a column has ${node.length} of ${batch.length} rows`);
  return { rows: node.length, codec: batch.codec, ...(node.nulls > 0 && { there }), values };
}

/** The nulls of a column in a batch. */
export function nullsOf(batch: Batch, { node }: ArrowColumn): number {
  return batch.nodes[node]?.nulls ?? 0;
}

/** The values of a column, of the bytes of its parts. */
export function decodeColumn(
  { dtype, bits, scale }: ArrowNumber,
  { rows, codec }: ColumnParts,
  packed: Uint8Array,
  packedThere: Uint8Array | undefined,
): DecodedValues {
  const bytes = unpacked(packed, Math.ceil((rows * bits) / 8), codec);
  let values: DecodedValues;
  if (dtype === 'bool') values = Uint8Array.from({ length: rows }, (_, i) => bitAt(bytes, i));
  else if (scale !== undefined) values = decimals(bytes, rows, bits / 8, scale);
  else if (dtype === 'f16') {
    const halves = aligned(bytes, 2);
    const view = new Uint16Array(halves.buffer, halves.byteOffset, rows);
    values = Float32Array.from(view, (half) => decodeHalf('f16', half));
  } else {
    const { buffer, byteOffset } = aligned(bytes, bits / 8);
    values = viewElements(dtype, buffer, byteOffset, rows);
  }
  if (packedThere === undefined) return values;
  const there = unpacked(packedThere, Math.ceil(rows / 8), codec);
  return Array.from({ length: rows }, (_, i) => (bitAt(there, i) === 1 ? values[i]! : null));
}

function bitAt(bytes: Uint8Array, i: number): number {
  return (bytes[i >> 3]! >> (i & 7)) & 1;
}

/** The same bytes, where a typed array may begin. */
function aligned(bytes: Uint8Array, width: number): Uint8Array {
  return bytes.byteOffset % width === 0 ? bytes : bytes.slice();
}

/** Whole numbers of so many bytes, and so many of their digits behind the point. */
function decimals(bytes: Uint8Array, rows: number, width: number, scale: number): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const divisor = 10 ** scale;
  return Float64Array.from({ length: rows }, (_, row) => {
    if (width === 4) return view.getInt32(row * 4, true) / divisor;
    let value = view.getBigInt64(row * width + width - 8, true);
    for (let at = width - 16; at >= 0; at -= 8) {
      value = (value << 64n) | view.getBigUint64(row * width + at, true);
    }
    return Number(value) / divisor;
  });
}

/** No compression makes more bytes than so many of one. */
const greatestRatio = 1 << 16;

/** The first bytes of a buffer, as many as are needed. One that is compressed begins with how many there are. */
function unpacked(buffer: Uint8Array, needed: number, codec: Codec | undefined): Uint8Array {
  if (codec === undefined || needed === 0) return first(buffer, needed);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const length = Number(view.getBigInt64(0, true));
  const packed = buffer.subarray(8);
  // What compression would have made longer is as it is.
  if (length === -1) return first(packed, needed);
  if (length < needed || length > greatestRatio * packed.length) {
    throw new Error(`a buffer of ${packed.length} bytes is to become ${length}, and ${needed} are needed`);
  }
  const bytes = codec === 'zstd' ? decompress(packed, new Uint8Array(length)) : unpackLz4(packed, length);
  if (bytes.length !== length) throw new Error(`a buffer of ${length} bytes became ${bytes.length}`);
  return first(bytes, needed);
}

function first(bytes: Uint8Array, needed: number): Uint8Array {
  if (bytes.length >= needed) return bytes.subarray(0, needed);
  throw new Error(`a buffer has ${bytes.length} bytes, and ${needed} are needed`);
}
