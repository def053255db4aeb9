// Columns of a Parquet file, row group after row group.
//
// Several columns of one file share its handle and its metadata. A row group is decoded at a
// time, or less where the file has an index of its pages; so the memory is bounded by the
// largest row group, whatever the file's size. Dates and times are the integers that are stored:
// days, or milli-, micro- or nanoseconds since 1970.

import { type FileHandle, open } from 'node:fs/promises';
import {
  type DecodedArray,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { WarpstageError } from '../../diagnostics/error.ts';
import { blockLength, type Dtype, encode } from '../dtype.ts';
import type { TypedArray } from '../job.ts';
import { count, problem, unreadable } from '../problem.ts';
import { checkConversion, unfit } from './elements.ts';
import type { Source, Wanted } from './source.ts';

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
  async column(wanted: Wanted): Promise<Source> {
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
  #ranges(scan: Scan, column: string): Range[] {
    const ranges: Range[] = [];
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

interface Range {
  readonly rowStart: number;
  readonly rowEnd: number;
}

class ColumnSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly length: number;
  readonly #wanted: Wanted;
  readonly #scan: Scan;
  readonly #ranges: readonly Range[];
  readonly #block = new Float64Array(blockLength);
  #nextRange = 0;
  #values: DecodedArray = [];
  #taken = 0;
  #position = 0;

  constructor(file: string, dtype: Dtype, wanted: Wanted, scan: Scan, ranges: readonly Range[]) {
    this.name = `column '${wanted.column}' of ${file}`;
    this.dtype = dtype;
    this.#wanted = wanted;
    this.#scan = scan;
    this.#ranges = ranges;
    this.length = ranges.at(-1)?.rowEnd ?? 0;
    this.shape = [this.length];
  }

  async read(into: TypedArray): Promise<number> {
    let done = 0;
    while (done < into.length) {
      if (this.#taken === this.#values.length && !(await this.#decodeNext())) break;
      const length = Math.min(blockLength, into.length - done, this.#values.length - this.#taken);
      this.#fillBlock(length);
      const { element, convert } = this.#wanted;
      const bad = encode(this.#block, length, this.dtype, into, element, done, convert);
      if (bad >= 0) throw unfit(this.name, this.#position + bad, this.#block[bad]!, this.#wanted);
      this.#taken += length;
      this.#position += length;
      done += length;
    }
    return done;
  }

  async #decodeNext(): Promise<boolean> {
    const range = this.#ranges[this.#nextRange++];
    if (range === undefined) return false;
    try {
      this.#values = await this.#scan.readColumn({ column: this.#wanted.column, ...range });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const rows = `rows ${count(range.rowStart)} to ${count(range.rowEnd)}`;
      throw problem(
        'WS5003',
        `${this.name} cannot be decoded in ${rows}: ${why}`,
        'is the file damaged?',
        cause,
      );
    }
    this.#taken = 0;
    if (this.#values.length !== range.rowEnd - range.rowStart) {
      throw problem(
        'WS5003',
        `${this.name} has ${count(this.#values.length)} values in ${count(range.rowEnd - range.rowStart)} rows`,
      );
    }
    return true;
  }

  #fillBlock(length: number): void {
    const block = this.#block;
    const values = this.#values;
    const { nulls, convert } = this.#wanted;
    if (values instanceof Float32Array || values instanceof Float64Array || values instanceof Int32Array) {
      block.set(values.subarray(this.#taken, this.#taken + length));
      return;
    }
    for (let i = 0; i < length; i++) {
      const value: unknown = values[this.#taken + i];
      if (typeof value === 'number') block[i] = value;
      else if (typeof value === 'bigint') {
        block[i] = Number(value);
        const large = Math.abs(block[i]!) > Number.MAX_SAFE_INTEGER;
        if (large && convert === 'exact' && BigInt(block[i]!) !== value) {
          throw unfit(this.name, this.#position + i, value, this.#wanted);
        }
      } else if (value === null || value === undefined) {
        if (nulls === undefined) throw this.#firstNull();
        block[i] = nulls;
      } else block[i] = value === true ? 1 : 0;
    }
  }

  #firstNull(): Error {
    let nulls = 0;
    for (const value of this.#values) if (value === null || value === undefined) nulls++;
    const { rowStart, rowEnd } = this.#ranges[this.#nextRange - 1]!;
    const where = `${count(nulls)} in rows ${count(rowStart)} to ${count(rowEnd - 1)}`;
    return hasNulls(this.name.replace(/^column '.*?' of /, ''), this.#wanted.column, where);
  }
}

function hasNulls(file: string, column: string, where: string): Error {
  return problem(
    'WS5005',
    `column '${column}' of ${file} has nulls: ${where}`,
    `say what stands for a null in the job: inputs: { …: { nulls: 0 } }`,
  );
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
