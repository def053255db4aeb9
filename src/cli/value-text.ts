// The value of a job as text: a table where it is a list of records, as JSON has it for programs.

import { inspect } from 'node:util';
import { formatCount } from '../timeline/quantities.ts';
import { tableLines } from '../timeline/table.ts';

type Row = ReadonlyMap<string, unknown>;

/** The text of a value, for people. */
export function valueText(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord)) return recordsText(value);
  if (isRecord(value) && Object.values(value).every(isPlain)) return recordsText([value]);
  return typeof value === 'string'
    ? value
    : inspect(value, { depth: 8, maxArrayLength: 100, breakLength: 100 });
}

/** A value as JSON: typed arrays as lists, whole numbers of any size as numbers' text. */
export function valueJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (ArrayBuffer.isView(part) && !(part instanceof DataView)) return Array.from(part as Float64Array);
    return typeof part === 'bigint' ? String(part) : part;
  });
}

/** A table of records; a record inside a record is spread over columns of its own. */
function recordsText(records: readonly Readonly<Record<string, unknown>>[]): string {
  const rows: Row[] = records.map((record) => new Map(flatEntries(record)));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const columns = names.map((name) => ({
    heading: name,
    align: rows.every((row) => typeof row.get(name) === 'string') ? ('left' as const) : ('right' as const),
    cell: (row: Row) => cellText(row.get(name)),
  }));
  return tableLines(columns, rows).join('\n');
}

function flatEntries(record: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]) =>
    isRecord(value) ? flatEntries(value) : [[name, value] as [string, unknown]],
  );
}

function cellText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'number')
    return isPlain(value) ? String(value) : inspect(value, { breakLength: Infinity });
  return Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(5)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
