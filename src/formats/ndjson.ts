// NDJSON files: a JSON value on each line, objects whose fields are columns, or numbers alone.
//
// JSON numbers are read as JavaScript reads them, which rounds integers beyond 2^53: those are floats. JSON has
// neither NaN nor infinity: a NaN is written as null, and infinity is an error.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Contents, Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import { endOfRecords, TextBlocks } from './text-blocks.ts';
import { columnsOf, encodeRows, heldByRows, nothingKept } from './text-rows.ts';
import { contentsOf, type RowReader, sampleBytes, type TextColumn } from './text-table.ts';
import type { FieldValue } from './text-values.ts';

/** NDJSON files. */
export const ndjson: Format = {
  name: 'ndjson',
  endings: ['.ndjson', '.jsonl'],
  columns: true,
  open,
  encode,
  get module() {
    return packageFile('formats/ndjson.js', import.meta.url);
  },
};

async function open(file: OpenBytes): Promise<Contents> {
  const head = await file.peek(sampleBytes);
  const decoded = new TextDecoder().decode(head);
  const text = head.length < sampleBytes ? decoded : decoded.slice(0, endOfRecords(decoded, false));
  const sample = parse(text, file.name, 0);
  if (sample.length === 0) {
    const what = head.length === 0 ? 'it is empty' : 'it has no whole line';
    throw problem('WS5004', `${file.name} cannot be read as 'ndjson': ${what}`, 'each line is a JSON object');
  }
  const columns = isObject(sample[0]) ? namedColumns(sample) : [bare];
  return contentsOf(file, { columns, sample, rows: (bytes) => new JsonRows(bytes, sample[0]) });
}

/** A value that is no object, on each line. */
const bare: TextColumn<unknown> = { value: numberOf, text: textOf };

function namedColumns(sample: readonly unknown[]): TextColumn<unknown>[] {
  const names = new Set(sample.flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
  return [...names].map((name) => {
    const field = (row: unknown) => (Object.hasOwn(row as object, name) ? (row as Row)[name] : null);
    return { name, value: (row) => numberOf(field(row)), text: (row) => textOf(field(row)) };
  });
}

type Row = Readonly<Record<string, unknown>>;

function isObject(row: unknown): row is Row {
  return typeof row === 'object' && row !== null && !Array.isArray(row);
}

function numberOf(value: unknown): FieldValue {
  if (value === null || typeof value === 'boolean') return value;
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

class JsonRows implements RowReader<unknown> {
  readonly #blocks: TextBlocks;
  readonly #name: string;
  readonly #first: unknown;
  #rows = 0;

  /** `first`: the first row, which all others are like. */
  constructor(bytes: ByteReader, first: unknown) {
    this.#blocks = new TextBlocks(bytes, false);
    this.#name = bytes.name;
    this.#first = first;
  }

  async next(): Promise<readonly unknown[] | undefined> {
    for (;;) {
      const text = await this.#blocks.next();
      if (text === undefined) return undefined;
      const rows = parse(text, this.#name, this.#rows);
      const unlike = rows.findIndex((row) => isObject(row) !== isObject(this.#first));
      if (unlike >= 0) throw this.#unlike(rows[unlike], this.#rows + unlike);
      this.#rows += rows.length;
      if (rows.length > 0) return rows;
    }
  }

  #unlike(row: unknown, at: number): Error {
    const what = isObject(this.#first)
      ? 'no object, and the first is one'
      : 'an object, and the first is none';
    return problem('WS5003', `${this.#name}: row ${count(at)}, ${textOf(row).slice(0, 60)}, is ${what}`);
  }
}

function parse(text: string, name: string, before: number): unknown[] {
  const rows: unknown[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      rows.push(JSON.parse(line));
    } catch (cause) {
      const shown = line.length > 60 ? `${line.slice(0, 60)}…` : line;
      const message = `${name}: row ${count(before + rows.length)} is no JSON: ${shown}`;
      throw problem('WS5003', message, 'each line is one JSON value', cause);
    }
  }
  return rows;
}

function encode(output: OutputDescription): Encoding {
  let names: readonly string[] = [];
  return {
    begin(shape) {
      names = columnsOf(output, shape).map((name) => JSON.stringify(name));
      return new Uint8Array();
    },
    encode: (elements) =>
      encodeRows(elements, output.element, names.length, (row) => {
        const fields = row.map((text, i) => `${names[i]}:${jsonOf(text, output)}`);
        return `{${fields.join(',')}}\n`;
      }),
    heldBytes: () => heldByRows,
    keep: () => nothingKept,
  };
}

function jsonOf(text: string, { name }: OutputDescription): string {
  if (text === 'NaN') return 'null';
  if (!text.endsWith('Infinity')) return text;
  throw problem(
    'WS5006',
    `${name} would hold ${text}, which JSON has not`,
    `name it ${name.replace(/\.[^.]+$/, '.csv')}`,
  );
}
