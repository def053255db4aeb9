// A table that comes once, from a pipe, for all of its columns: what one has not taken yet waits for it.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { DecodedValues } from './format.ts';

/** Rows in their order, some at a time; undefined behind the last. */
export interface BatchReader<Batch> {
  next(): Promise<Batch | undefined>;
}

/** A column that takes part, with what waits for it. */
interface Waiting<Batch> {
  readonly take: (batch: Batch) => DecodedValues;
  readonly values: (DecodedValues | Error)[];
  rows: number;
}

/** Rows that wait for the slowest column, at most: twice a chunk of the smallest elements. */
const mostWaiting = 1 << 25;

/** Reads rows once, for all columns. */
export class OnePass<Batch extends { readonly length: number }> {
  readonly #reader: BatchReader<Batch>;
  readonly #name: string;
  readonly #columns: Waiting<Batch>[] = [];
  /** The first rows, for a column that is asked for after them. */
  #first: Batch | undefined;
  #batches = 0;
  #ended = false;
  #reading: Promise<void> | undefined;

  constructor(reader: BatchReader<Batch>, name: string) {
    this.#reader = reader;
    this.#name = name;
  }

  /** Has a column take part. `take`: its values of some rows, as many as these are. */
  join(take: (batch: Batch) => DecodedValues): () => Promise<DecodedValues | undefined> {
    if (this.#batches > 1) throw this.#late();
    const column: Waiting<Batch> = { take, values: [], rows: 0 };
    this.#columns.push(column);
    if (this.#first !== undefined) give(column, this.#first);
    return async () => {
      while (column.values.length === 0 && !this.#ended) await this.#more();
      const values = column.values.shift();
      if (values instanceof Error) throw values;
      column.rows -= values?.length ?? 0;
      return values;
    };
  }

  /** Reads the next rows for all columns. Whoever asks meanwhile waits for the same read. */
  #more(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    if (this.#columns.some(({ rows }) => rows > mostWaiting)) throw this.#apart();
    const rows = await this.#reader.next();
    if (rows === undefined) {
      this.#ended = true;
      return;
    }
    this.#batches++;
    this.#first = this.#batches === 1 ? rows : undefined;
    for (const column of this.#columns) give(column, rows);
  }

  #late(): Error {
    return problem(
      'WS5003',
      `${this.#name} can be read once, and a column is asked for whose beginning has gone by`,
      'save it to a file first',
    );
  }

  #apart(): Error {
    return problem(
      'WS5003',
      `${this.#name} can be read once, and one of its columns is asked for ${count(mostWaiting)} rows behind another`,
      'save it to a file first',
    );
  }
}

/** Gives a column its values of some rows, or the error that it gets when it takes them. */
function give<Batch extends { readonly length: number }>(column: Waiting<Batch>, rows: Batch): void {
  try {
    column.values.push(column.take(rows));
    column.rows += rows.length;
  } catch (error) {
    column.values.push(error as Error);
  }
}
