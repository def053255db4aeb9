// A column of a Parquet file, decoded: the pages of a part of it, in one array.
//
// A part has as many values as the file's index says. Its pages must have as many, no more and no fewer.

import { count } from '../diagnostics/count.ts';
import type { DecodedValues } from './format.ts';
import { type Page, type PageStorage, pagesOf } from './parquet-pages.ts';
import { readRuns } from './parquet-runs.ts';
import { arrayLike, type ColumnType, readDictionary, readValues, type Values } from './parquet-values.ts';

/** How a column is stored. */
export interface ColumnStorage extends PageStorage {
  readonly type: ColumnType;
}

/** Rows that are believed; of more, no column has as many in a byte of the file. */
const believed = 1 << 25;
const greatestRatio = 1 << 16;

/** Values, or nulls among them. */
type Nullable = (number | bigint | null)[];

/**
 * Decodes pages that have so many values together.
 *
 * @param bytes the pages, in their order; that of the dictionary is among them or was given
 * @throws an Error that says what is wrong
 */
export function decodePages(
  bytes: Uint8Array,
  rows: number,
  storage: ColumnStorage,
  dictionary?: Values,
): DecodedValues {
  if (rows > believed && rows > greatestRatio * bytes.length) {
    throw new Error(`${count(bytes.length)} bytes are to become ${count(rows)} rows`);
  }
  let known = dictionary;
  let values: Values | undefined;
  let nullable: Nullable | undefined;
  let done = 0;
  for (const page of pagesOf(bytes, storage)) {
    if (page.isDictionary) {
      known = readDictionary(page.bytes, page.length, storage.type);
      continue;
    }
    if (page.length > rows - done) throw new Error(`there are more values than ${count(rows)}`);
    const there = levelsOf(page);
    const present = there === undefined ? page.length : there.reduce((sum, level) => sum + level, 0);
    const read = readValues(page.bytes, page.encoding, present, storage.type, known);
    if (present < page.length) nullable ??= Array.from<number | bigint>(values?.subarray(0, done) ?? []);
    if (nullable === undefined) {
      // The whole, as soon as it is known of which type: with a dictionary or without, it is the same.
      values ??= read.length === rows ? read : arrayLike(read, rows);
      if (values !== read) (values as Float64Array).set(read as Float64Array, done);
    } else {
      append(nullable, read, page.length, there);
    }
    done += page.length;
    if (done === rows) break;
  }
  if (done < rows) throw new Error(`there are ${count(done)} values`);
  return nullable ?? values ?? [];
}

/** The values that a dictionary page holds; undefined where the bytes hold none. */
export function dictionaryOf(bytes: Uint8Array, storage: ColumnStorage): Values | undefined {
  for (const page of pagesOf(bytes, storage)) {
    if (page.isDictionary) return readDictionary(page.bytes, page.length, storage.type);
  }
  return undefined;
}

/** Which values are there: 1 for each that is, 0 for a null. */
function levelsOf({ levels, length }: Page): Uint8Array | undefined {
  if (levels === undefined) return undefined;
  const there = new Uint8Array(length);
  if (length > 0) readRuns(levels, 1, there);
  if (there.some((level) => level > 1)) throw new Error('a page has levels that a flat column has not');
  return there;
}

function append(values: Nullable, read: Values, length: number, there: Uint8Array | undefined): void {
  let next = 0;
  for (let i = 0; i < length; i++) values.push(there?.[i] === 0 ? null : read[next++]!);
}
