// Parquet outputs: required columns, one for each number of a row, in row groups of a fixed length, so that the bytes of a file do not depend on
// how its elements were cut into chunks. A group is held until it is full; what is behind the last one is the index.

import type { DecodedArray } from 'hyparquet';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { decodeHalf } from '../kernel/half.ts';
import type { NumberElement, TypedArray } from '../kernel/types.ts';
import { newArray, setElements } from './typed-arrays.ts';

/** Rows of a group. */
const groupLength = 1 << 18;

/** How Parquet has each element; bf16 it does not have. */
const columns = {
  i8: { type: 'INT32', converted_type: 'INT_8' },
  u8: { type: 'INT32', converted_type: 'UINT_8' },
  i16: { type: 'INT32', converted_type: 'INT_16' },
  u16: { type: 'INT32', converted_type: 'UINT_16' },
  i32: { type: 'INT32' },
  u32: { type: 'INT32', converted_type: 'UINT_32' },
  i64: { type: 'INT64' },
  u64: { type: 'INT64', converted_type: 'UINT_64' },
  f16: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } },
  f32: { type: 'FLOAT' },
  f64: { type: 'DOUBLE' },
} as const satisfies Partial<Record<NumberElement, Partial<SchemaElement>>>;

/** An element that a Parquet file can hold. */
export type ParquetElement = keyof typeof columns;

/** Writes columns of one type, as bytes to append; elements come row by row. */
export class ColumnWriter {
  readonly #names: readonly string[];
  readonly #element: ParquetElement;
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;
  /** Rows, as they came. */
  readonly #group: TypedArray;
  #held = 0;

  constructor(names: readonly string[], element: ParquetElement) {
    this.#names = names;
    this.#element = element;
    this.#group = newArray(element, groupLength * names.length);
    const schema: SchemaElement[] = [
      { name: 'root', num_children: names.length },
      ...names.map((name) => ({ name, repetition_type: 'REQUIRED', ...columns[element] }) as const),
    ];
    this.#file = new ParquetWriter({ writer: this.#bytes, schema, createdBy: 'warpstage' });
  }

  /** The bytes of the groups that these elements complete, and of what was not taken before. */
  add(elements: TypedArray): Uint8Array {
    for (let begin = 0; begin < elements.length; ) {
      const end = Math.min(elements.length, begin + this.#group.length - this.#held);
      setElements(this.#group, elements.subarray(begin, end), this.#held);
      this.#held += end - begin;
      begin = end;
      if (this.#held === this.#group.length) this.#writeGroup();
    }
    return this.#take();
  }

  /** The bytes of what is held, and of the index. */
  end(): Uint8Array {
    if (this.#held > 0) this.#writeGroup();
    // It has nothing to wait for: its bytes go to memory.
    void this.#file.finish();
    return this.#take();
  }

  #writeGroup(): void {
    const width = this.#names.length;
    const rows = this.#held / width;
    // A dictionary takes -0 for 0: floats are written as they are.
    const encoding = this.#element.startsWith('f') ? ({ encoding: 'PLAIN' } as const) : {};
    const columnData = this.#names.map((name, at) => ({
      name,
      data: valuesOf(this.#group, this.#element, rows, at, width),
      ...encoding,
    }));
    void this.#file.write({ columnData, rowGroupSize: groupLength });
    this.#held = 0;
  }

  #take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    // Positions in the file go on from `offset`.
    this.#bytes.index = 0;
    return taken;
  }
}

/** Every so many-th element as the library takes them: 16 bits and less as i32, and u32 from 2^31 on as bare numbers. */
function valuesOf(
  elements: TypedArray,
  element: ParquetElement,
  rows: number,
  at: number,
  width: number,
): DecodedArray {
  const value = (row: number) => elements[row * width + at]!;
  switch (element) {
    case 'f32':
      return Float32Array.from({ length: rows }, (_, row) => value(row) as number);
    case 'f64':
      return Float64Array.from({ length: rows }, (_, row) => value(row) as number);
    case 'i64':
      return BigInt64Array.from({ length: rows }, (_, row) => value(row) as bigint);
    case 'u64':
      return BigUint64Array.from({ length: rows }, (_, row) => value(row) as bigint);
    case 'f16':
      return Array.from({ length: rows }, (_, row) => decodeHalf('f16', value(row) as number));
    case 'u32':
      return Array.from({ length: rows }, (_, row) => value(row));
    default:
      return Int32Array.from({ length: rows }, (_, row) => value(row) as number);
  }
}
