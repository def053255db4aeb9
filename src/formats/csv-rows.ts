// The rows of a CSV file: fields split by Papa Parse, a block of whole records at a time.
//
// The first row has names if none of its fields is a number or empty; else columns are called by their places, from
// 1 on, and one column alone has no name. A row of fewer or more fields than the first is an error: a value would stand
// under the wrong name. Empty lines are none.

import Papa from 'papaparse';
import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Contents } from './format.ts';
import { endOfRecords, TextBlocks } from './text-blocks.ts';
import { contentsOf, type RowReader, sampleBytes, type TextColumn } from './text-table.ts';
import { fieldValue } from './text-values.ts';

type Row = readonly string[];

/** How rows are split, by the first of them. */
interface Layout {
  readonly separator: string;
  readonly hasNames: boolean;
  readonly width: number;
}

/** What is in a CSV file. `separator`: where its name says it. */
export async function openCsv(file: OpenBytes, separator: string | undefined): Promise<Contents> {
  const head = await file.peek(sampleBytes);
  const decoded = new TextDecoder().decode(head);
  const text = head.length < sampleBytes ? decoded : decoded.slice(0, endOfRecords(decoded, true));
  const parsed = parse(text, separator);
  const [first = [], ...others] = parsed.data;
  if (parsed.data.length === 0) {
    const what = head.length === 0 ? 'it is empty' : 'it has no whole row';
    throw problem(
      'WS5004',
      `${file.name} cannot be read as 'csv': ${what}`,
      'a table begins with the names of its columns',
    );
  }
  const hasNames = first.every((field) => fieldValue(field) === undefined);
  const layout = { separator: parsed.meta.delimiter, hasNames, width: first.length };
  const sample = hasNames ? others : parsed.data;
  for (const [i, row] of sample.entries()) checkWidth(file.name, row, i, layout.width);
  const names = hasNames ? distinct(first.map((name) => name.trim())) : first.map((_, i) => String(i + 1));
  const columns = names.map((name, at): TextColumn<Row> => {
    const isBare = !hasNames && names.length === 1;
    return {
      ...(!isBare && { name }),
      value: (row) => fieldValue(row[at]!),
      text: (row) => row[at]!,
    };
  });
  return contentsOf(file, { columns, sample, rows: (bytes) => new CsvRows(bytes, layout) });
}

class CsvRows implements RowReader<Row> {
  readonly #blocks: TextBlocks;
  readonly #layout: Layout;
  readonly #name: string;
  #rows = 0;
  #namesRead: boolean;

  constructor(bytes: ByteReader, layout: Layout) {
    this.#blocks = new TextBlocks(bytes, true);
    this.#layout = layout;
    this.#name = bytes.name;
    this.#namesRead = !layout.hasNames;
  }

  async next(): Promise<readonly Row[] | undefined> {
    for (;;) {
      const text = await this.#blocks.next();
      if (text === undefined) return undefined;
      let rows: readonly Row[] = parse(text, this.#layout.separator).data;
      if (!this.#namesRead && rows.length > 0) {
        rows = rows.slice(1);
        this.#namesRead = true;
      }
      const { width } = this.#layout;
      for (let i = 0; i < rows.length; i++) {
        if (rows[i]!.length !== width) checkWidth(this.#name, rows[i]!, this.#rows + i, width);
      }
      this.#rows += rows.length;
      if (rows.length > 0) return rows;
    }
  }
}

function parse(text: string, separator: string | undefined): Papa.ParseResult<string[]> {
  return Papa.parse<string[]>(text, {
    delimiter: separator ?? '',
    delimitersToGuess: [',', '\t', ';', '|'],
    skipEmptyLines: true,
  });
}

function checkWidth(name: string, row: Row, i: number, width: number): void {
  if (row.length === width) return;
  throw problem(
    'WS5003',
    `${name}: row ${count(i)} has ${count(row.length)} fields, and the first has ${count(width)}`,
    'is a separator missing, or a quotation mark left open?',
  );
}

/** Names, of which those that are there before get a number: x, x.1, x.2. Those that are empty are called by their places. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.map((given, i) => {
    const name = given === '' ? String(i + 1) : given;
    let own = name;
    for (let n = 1; seen.has(own); n++) own = `${name}.${n}`;
    seen.add(own);
    return own;
  });
}
