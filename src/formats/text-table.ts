// Tables of text as columns of numbers, whatever separates their fields.
//
// The first rows tell what a column holds: whole numbers, numbers, truth values, or no numbers. A decimal number
// is read as the type that the kernel has, without a step between: 0.1 is the f32 nearest to 0.1. A later row that says
// something else is an error with its number, and nothing is guessed.
// Each column of a file is read in a pass of its own, in a thread of its own where that is long. What comes once, from a
// pipe, is read once for all columns; what one has not taken yet waits for it.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Dtype } from './dtype.ts';
import { isFloatType } from './dtype.ts';
import type { Contents, ElementsInUnits, ReadRequest, StoredArray } from './format.ts';
import { type BatchReader, OnePass } from './one-pass.ts';
import type { FieldValue } from './text-values.ts';
import { correctRow } from './unit-source.ts';

/** Rows in their order, some at a time; undefined behind the last. */
export type RowReader<Row> = BatchReader<readonly Row[]>;

/** A column of a table. */
export interface TextColumn<Row> {
  /** Absent where the table is one array without names. */
  readonly name?: string;
  /** The field of a row, as a number if it is one. */
  value(row: Row): FieldValue;
  /** What the field says, for messages. */
  text(row: Row): string;
}

/** How a kind of table is read. */
export interface TextTable<Row> {
  readonly columns: readonly TextColumn<Row>[];
  /** First rows: they tell the types of columns. */
  readonly sample: readonly Row[];
  /** Reads all rows of the bytes. */
  rows(bytes: ByteReader): RowReader<Row>;
}

/** Bytes that are looked at for names and types of columns. */
export const sampleBytes = 1 << 18;

/** The columns of a table. */
export function contentsOf<Row>(file: OpenBytes, table: TextTable<Row>): Contents {
  const shared = file.slice === undefined ? new OnePass(table.rows(file), file.name) : undefined;
  const arrays = table.columns.map((column): StoredArray => {
    const { type, before, end } = typeOf(table.sample.map((row) => column.value(row)));
    const odd = before === undefined ? undefined : table.sample[end]!;
    return {
      ...(column.name !== undefined && { name: column.name }),
      stored: type === undefined ? 'text' : storedNames[type],
      ...(type && { dtype: type }),
      ...(odd !== undefined && {
        unlike: `row ${count(end)} is '${shortened(column.text(odd))}', and the rows before it are ${storedNames[before!]}`,
      }),
      elements: (request) => {
        const reading = new ColumnReading(column, typeRead(type!, request));
        const take = (rows: readonly Row[]) => reading.take(rows);
        const next = shared?.join(take) ?? ownPass(table.rows(file.slice!(0, file.size!)), take);
        return { dtype: reading.dtype, decode: next, decodingBytes } satisfies ElementsInUnits;
      },
    };
  });
  return { arrays };
}

/** What a pass over text holds: a block, its rows, their values, and those of the blocks before until they are given back. */
const decodingBytes = 40 << 20;

const storedNames = {
  bool: 'true or false',
  i64: 'whole numbers',
  u64: 'whole numbers',
  f64: 'numbers',
} as const;

type TextType = keyof typeof storedNames;

/** The type of a column whose first values these are; or the first value that has none, or another, and the type of those before it. */
function typeOf(values: readonly FieldValue[]): {
  readonly type?: TextType;
  readonly before?: TextType | undefined;
  readonly end: number;
} {
  let type: TextType | undefined;
  for (const [end, value] of values.entries()) {
    if (value === null) continue;
    if (value === undefined) return { before: type, end };
    const one =
      typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'number' && !Number.isSafeInteger(value)
          ? 'f64'
          : value > 2n ** 63n - 1n
            ? 'u64'
            : 'i64';
    if (type !== undefined && (one === 'bool') !== (type === 'bool')) return { before: type, end };
    if (type !== 'f64') type = type === 'u64' && one === 'i64' ? 'u64' : one;
  }
  // A column without values is one of nulls.
  return { type: type ?? 'f64', end: values.length };
}

/** As much of a field as a message shows. */
function shortened(text: string): string {
  return text.slice(0, 60);
}

/** The type as which values are read: numbers as the kernel has them, where fractions are wanted, or are rounded. */
function typeRead(type: TextType, { element, convert }: ReadRequest = {}): Dtype {
  if (type === 'bool' || element === undefined) return type;
  if (isFloatType(element)) return element;
  return type !== 'f64' && convert === 'nearest' ? 'f64' : type;
}

/** Takes the values of a column from rows, which it counts. */
class ColumnReading<Row> {
  readonly dtype: Dtype;
  readonly #column: TextColumn<Row>;
  #rows = 0;

  constructor(column: TextColumn<Row>, dtype: Dtype) {
    this.#column = column;
    this.dtype = dtype;
  }

  take(rows: readonly Row[]): (number | bigint | boolean | null)[] {
    const { dtype } = this;
    const values = rows.map((row, i) => {
      const value = this.#column.value(row);
      if (value === null) return null;
      if (value === undefined) throw this.#unlike(row, i, 'no number');
      if (typeof value === 'boolean') {
        if (dtype !== 'bool') throw this.#unlike(row, i, 'no number');
        return value;
      }
      if (dtype === 'bool') throw this.#unlike(row, i, 'neither true nor false');
      if (typeof value === 'bigint') return isFloatType(dtype) ? Number(value) : value;
      const isWhole = Number.isSafeInteger(value) || isFloatType(dtype);
      if (!isWhole) throw this.#unlike(row, i, 'no whole number that is read exactly');
      return value;
    });
    this.#rows += rows.length;
    return values;
  }

  #unlike(row: Row, i: number, what: string): Error {
    const { name } = this.#column;
    const of = name === undefined ? '' : ` of column '${name}'`;
    const hint = what.startsWith('no whole number')
      ? "have fractions rounded: --convert nearest (convert: 'nearest' in a program)"
      : correctRow;
    const text = shortened(this.#column.text(row));
    return problem(
      'WS5005',
      `row ${count(this.#rows + i)}${of} is '${text}', ${what}; the first rows are ${storedOf(this.dtype)}`,
      hint,
    );
  }
}

function storedOf(dtype: Dtype): string {
  return dtype === 'bool' ? storedNames.bool : isFloatType(dtype) ? storedNames.f64 : storedNames.i64;
}

type Values = ReturnType<ColumnReading<unknown>['take']>;

function ownPass<Row>(
  reader: RowReader<Row>,
  take: (rows: readonly Row[]) => Values,
): () => Promise<Values | undefined> {
  return async () => {
    const rows = await reader.next();
    return rows && take(rows);
  };
}
