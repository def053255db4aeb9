// Columns of a Parquet file, row group after row group.
//
// Several columns of one file share its handle and its metadata. A row group is decoded at a
// time, or less where the file has an index of its pages; so the memory is bounded by the
// largest row group, whatever the file's size. Dates and times are the integers that are stored:
// days, or milli-, micro- or nanoseconds since 1970.

import { type FileHandle, open } from 'node:fs/promises';
import {
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { WarpstageError } from '../diagnostics/error.ts';
import { count, problem, unreadable } from '../diagnostics/problem.ts';
import type { Dtype } from './dtype.ts';
import { checkConversion } from './element-source.ts';
import { ColumnSource, hasNulls, type RowRange } from './parquet-column.ts';
import type { Wanted } from './source.ts';

/** Rows that are decoded at once where pages can be found without decoding those before. */
const indexedRows = 1 << 18;

type Scan = Awaited<ReturnType<typeof parquetScan>>;

/** A file whose columns are sources. */
export class ParquetFile {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #size: number;
  readonly #metadata: FileMetaData;
  readonly #columns: readonly SchemaTree[];

  private constructor(name: string, file: FileHandle, size: number, metadata: FileMetaData) {
    this.name = name;
    this.#file = file;
    this.#size = size;
    this.#metadata = metadata;
    this.#columns = parquetSchema(metadata).children;
  }

  static async open(path: string): Promise<ParquetFile> {
    let file: FileHandle;
    try {
      file = await open(path);
    } catch (cause) {
      throw unreadable(path, cause, 'check the path; it is taken from the current directory');
    }
    try {
      const about = await file.stat();
      if (about.isDirectory()) throw unreadable(path, Object.assign(new Error(), { code: 'EISDIR' }));
      const metadata = await parquetMetadataAsync(asyncBuffer(file, about.size), { geoparquet: false });
      return new ParquetFile(path, file, about.size, metadata);
    } catch (cause) {
      await file.close();
      if (cause instanceof WarpstageError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw problem('WS5004', `${path} cannot be read as a Parquet file: ${why}`, 'is it complete?', cause);
    }
  }

  /** The source of one column. */
  async column(wanted: Wanted): Promise<ColumnSource> {
    const tree = this.#columns.find(({ element }) => element.name === wanted.column);
    if (tree === undefined) {
      const names = this.#columns.map(({ element }) => element.name).join(', ');
      throw problem('WS5005', `${this.name} has no column '${wanted.column}'`, `its columns are ${names}`);
    }
    const dtype = columnType(this.name, tree);
    checkConversion(`column '${wanted.column}' of ${this.name}`, dtype, wanted);
    this.#refuseNulls(wanted);
    const scan = await parquetScan({
      file: asyncBuffer(this.#file, this.#size),
      metadata: this.#metadata,
      columns: [wanted.column],
      compressors,
      parsers: storedValues,
      geoparquet: false,
    });
    return new ColumnSource(this.name, dtype, wanted, scan, this.#ranges(scan, wanted.column));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Where the file's own statistics tell of nulls, their number is said before anything is read. */
  #refuseNulls({ column, nulls }: Wanted): void {
    if (nulls !== undefined) return;
    let known = 0n;
    for (const group of this.#metadata.row_groups) {
      const chunk = group.columns.find((one) => one.meta_data?.path_in_schema[0] === column);
      known += chunk?.meta_data?.statistics?.null_count ?? 0n;
    }
    if (known > 0n)
      throw hasNulls(
        this.name,
        column,
        `${count(Number(known))} of ${count(Number(this.#metadata.num_rows))} rows`,
      );
  }

  /** Row groups, cut into parts where pages are indexed. */
  #ranges(scan: Scan, column: string): RowRange[] {
    const ranges: RowRange[] = [];
    for (const [position, { rowStart, rowEnd }] of scan.ranges.entries()) {
      const chunk = this.#metadata.row_groups[position]?.columns.find(
        (one) => one.meta_data?.path_in_schema[0] === column,
      );
      const step = chunk?.offset_index_offset === undefined ? rowEnd - rowStart : indexedRows;
      for (let begin = rowStart; begin < rowEnd; begin += step) {
        ranges.push({ rowStart: begin, rowEnd: Math.min(begin + step, rowEnd) });
      }
    }
    return ranges;
  }
}

/** Dates and times as the integers that are stored. */
const storedValues: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (milliseconds) => milliseconds,
  timestampFromMicroseconds: (microseconds) => microseconds,
  timestampFromNanoseconds: (nanoseconds) => nanoseconds,
  dateFromDays: (days) => days,
};

function columnType(file: string, { element, children }: SchemaTree): Dtype {
  const { name, type, repetition_type } = element;
  if (children.length > 0 || repetition_type === 'REPEATED') {
    throw problem(
      'WS5005',
      `column '${name}' of ${file} is nested; a column of numbers or booleans is needed`,
    );
  }
  const dtype = numericType(element);
  if (dtype !== undefined) return dtype;
  const what = element.converted_type ?? element.logical_type?.type ?? type;
  throw problem(
    'WS5005',
    `column '${name}' of ${file} holds ${what}; a column of numbers or booleans is needed`,
    'turn it into numbers first, for example into the positions of a list of its values',
  );
}

function numericType({
  type,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): Dtype | undefined {
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return 'f64';
  const width =
    logical?.type === 'INTEGER' ? logical.bitWidth : Number(/^U?INT_(\d+)$/.exec(converted ?? '')?.[1]);
  const signed = logical?.type === 'INTEGER' ? logical.isSigned : !converted?.startsWith('UINT_');
  switch (type) {
    case 'BOOLEAN':
      return 'bool';
    case 'FLOAT':
      return 'f32';
    case 'DOUBLE':
      return 'f64';
    case 'INT32':
      if (width === 8) return signed ? 'i8' : 'u8';
      if (width === 16) return signed ? 'i16' : 'u16';
      return signed ? 'i32' : 'u32';
    case 'INT64':
      return signed ? 'i64' : 'u64';
    case 'INT96':
      return 'i64';
    case 'FIXED_LEN_BYTE_ARRAY':
      return logical?.type === 'FLOAT16' ? 'f16' : undefined;
    default:
      return undefined;
  }
}

function asyncBuffer(
  file: FileHandle,
  size: number,
): { byteLength: number; slice(start: number, end?: number): Promise<ArrayBuffer> } {
  return {
    byteLength: size,
    async slice(start, end = size) {
      const buffer = new ArrayBuffer(end - start);
      let done = 0;
      while (done < buffer.byteLength) {
        const { bytesRead } = await file.read(new Uint8Array(buffer, done), { position: start + done });
        if (bytesRead === 0) throw new Error(`it ends after ${start + done} of ${end} bytes`);
        done += bytesRead;
      }
      return buffer;
    },
  };
}
