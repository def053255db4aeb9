// One column of a Parquet file: decoded a range of rows at a time, converted as it is read.

import type { DecodedArray, parquetScan } from 'hyparquet';
import { count, problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import { blockLength, type Dtype, encode } from './dtype.ts';
import { unfit } from './element-source.ts';
import type { Source, Wanted } from './source.ts';

type Scan = Awaited<ReturnType<typeof parquetScan>>;

/** Rows that are decoded together. */
export interface RowRange {
  readonly rowStart: number;
  readonly rowEnd: number;
}

export class ColumnSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly length: number;
  readonly #wanted: Wanted;
  readonly #scan: Scan;
  readonly #ranges: readonly RowRange[];
  readonly #block = new Float64Array(blockLength);
  #nextRange = 0;
  #values: DecodedArray = [];
  #taken = 0;
  #position = 0;

  constructor(file: string, dtype: Dtype, wanted: Wanted, scan: Scan, ranges: readonly RowRange[]) {
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

  /** Ranges of rows before the first that is read are not decoded. */
  async skip(elements: number): Promise<void> {
    const target = this.#position + elements;
    while (this.#nextRange < this.#ranges.length && this.#ranges[this.#nextRange]!.rowEnd <= target) {
      this.#nextRange++;
    }
    this.#position = target;
    const begin = this.#ranges[this.#nextRange]?.rowStart ?? target;
    if (target === begin) return;
    await this.#decodeNext();
    this.#taken = target - begin;
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

/** The error of nulls for which nothing stands. */
export function hasNulls(file: string, column: string, where: string): Error {
  return problem(
    'WS5005',
    `column '${column}' of ${file} has nulls: ${where}`,
    `say what stands for a null in the job: inputs: { …: { nulls: 0 } }`,
  );
}
