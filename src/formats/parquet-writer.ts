// Parquet outputs: required columns, one for each number of a row, in row groups of a fixed length, so that the bytes of a file do not depend on
// how its elements were cut into chunks. A group is held until it is full; what is behind the last one is the index.

import { deserialize, serialize } from 'node:v8';
import type { DecodedArray, RowGroup } from 'hyparquet';
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

/** The index of the groups that are written, and rows that are not. */
type Kept = readonly [
  readonly [RowGroup[], ParquetWriter['pendingIndexes'], bigint, offset: number],
  Uint8Array,
];

/** Writes columns of one type, as bytes to append; elements come row by row. */
export class ColumnWriter {
  readonly #names: readonly string[];
  readonly #element: ParquetElement;
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;
  /** Rows, as they came. */
  #group: TypedArray;
  #held = 0;
  /** Whether the rows that are held may be asked for later. */
  #isKept = false;

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
      const part = elements.subarray(begin, end);
      begin = end;
      // A whole group is encoded where it lies.
      if (part.length === this.#group.length) this.#writeGroup(part);
      else {
        setElements(this.#group, part, this.#held);
        this.#held += part.length;
        if (this.#held === this.#group.length) this.#writeHeld();
      }
    }
    return this.#take();
  }

  /** The bytes of what is held, and of the index. */
  end(): Uint8Array {
    if (this.#held > 0) this.#writeHeld();
    // It has nothing to wait for: its bytes go to memory.
    void this.#file.finish();
    return this.#take();
  }

  /** What was written and what is held: the index of the groups, and rows of the next. */
  keep(): () => Uint8Array {
    const { row_groups, pendingIndexes, num_rows } = this.#file;
    const [groups, columns] = [row_groups.length, pendingIndexes.length];
    const { offset } = this.#bytes;
    const held = this.#group.subarray(0, this.#held);
    this.#isKept = true;
    return () => {
      const index = [row_groups.slice(0, groups), pendingIndexes.slice(0, columns), num_rows, offset];
      const { buffer, byteOffset, byteLength } = held;
      return serialize([index, new Uint8Array(buffer, byteOffset, byteLength)]);
    };
  }

  /** Continues after what an earlier run has written. */
  restore(state: Uint8Array): void {
    const [[groups, columns, rows, offset], held] = deserialize(state) as Kept;
    this.#file.row_groups.push(...groups);
    this.#file.pendingIndexes.push(...columns);
    this.#file.num_rows = rows;
    this.#take();
    this.#bytes.offset = offset;
    const bytes = new Uint8Array(this.#group.buffer, this.#group.byteOffset);
    bytes.set(held);
    this.#held = held.length / this.#group.BYTES_PER_ELEMENT;
  }

  #writeHeld(): void {
    this.#writeGroup(this.#group.subarray(0, this.#held));
    this.#held = 0;
    if (this.#isKept) this.#group = newArray(this.#element, groupLength * this.#names.length);
    this.#isKept = false;
  }

  #writeGroup(group: TypedArray): void {
    const width = this.#names.length;
    const rows = group.length / width;
    // A dictionary takes -0 for 0: floats are written as they are.
    const encoding = this.#element.startsWith('f') ? ({ encoding: 'PLAIN' } as const) : {};
    const columnData = this.#names.map((name, at) => ({
      name,
      data: valuesOf(group, this.#element, rows, at, width),
      ...encoding,
    }));
    void this.#file.write({ columnData, rowGroupSize: groupLength });
  }

  #take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    // Positions in the file go on from `offset`.
    this.#bytes.index = 0;
    return taken;
  }
}

/**
 * A column of rows as the library takes it: 16 bits and less as i32, halves and u32 as bare numbers. What is one column of
 * numbers that the library takes as they are stays where it is: it is encoded before anything else is put there.
 */
function valuesOf(
  elements: TypedArray,
  element: ParquetElement,
  rows: number,
  at: number,
  width: number,
): DecodedArray {
  const column = width === 1 ? elements.subarray(0, rows) : everySoMany(elements, rows, at, width);
  switch (element) {
    case 'f16':
      return Array.from(column as Uint16Array, (value) => decodeHalf('f16', value));
    case 'u32':
      return Array.from(column as Uint32Array);
    case 'f32':
    case 'f64':
    case 'i32':
    case 'i64':
    case 'u64':
      return column as DecodedArray;
    default:
      return new Int32Array(column as Int16Array);
  }
}

/** Every so many-th element, in an array of the same type. */
function everySoMany(elements: TypedArray, rows: number, at: number, width: number): TypedArray {
  const column = elements.slice(0, rows) as Float64Array;
  const from = elements as Float64Array;
  for (let row = 0; row < rows; row++) column[row] = from[row * width + at]!;
  return column;
}
