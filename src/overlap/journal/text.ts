// The text of a journal: a line that says which run it is of, and a line for every time that more of its
// output lay on the disk.
//
// A line counts if it is whole: it has its end, and the check in it is that of what it says. One that is not was
// being written when the process or the machine ended, and nothing after it was written in order: the text ends
// before it.

import { createHash } from 'node:crypto';

/** What a run is recognised by, in words: `{ 'setting a': '2', … }`. */
export type Facts = Readonly<Record<string, string>>;

/** How much of a run's output is written: chunks in their order from the first on. */
export interface Mark {
  readonly rows: number;
  readonly chunks: number;
}

/** A journal, as far as it counts. */
export interface JournalText {
  /** Empty where the first line is whole and yet no journal's. */
  readonly facts: Facts;
  /** The last one. */
  readonly mark: Mark;
  /** Bytes of the lines that count. */
  readonly length: number;
}

/** Before anything is written. */
export const nothingWritten: Mark = { rows: 0, chunks: 0 };

const newline = 0x0a;

/** The first line of a journal. */
export function headLine(facts: Facts): string {
  return `${JSON.stringify(facts)}\n`;
}

/** A line that says what is written. */
export function markLine({ rows, chunks }: Mark): string {
  return `${JSON.stringify({ rows, chunks, check: checkOf(rows, chunks) })}\n`;
}

function checkOf(rows: number, chunks: number): string {
  return createHash('sha256').update(`${rows} ${chunks}`).digest('hex').slice(0, 8);
}

/** Reads a journal; null if not even its first line is whole. */
export function readJournal(bytes: Uint8Array): JournalText | null {
  const end = bytes.indexOf(newline) + 1;
  if (end === 0) return null;
  let mark = nothingWritten;
  let length = end;
  for (;;) {
    const next = bytes.indexOf(newline, length) + 1;
    const later = next === 0 ? undefined : markOf(parse(bytes.subarray(length, next)));
    if (later === undefined || later.rows <= mark.rows) break;
    mark = later;
    length = next;
  }
  return { facts: factsOf(parse(bytes.subarray(0, end))), mark, length };
}

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

function markOf(value: unknown): Mark | undefined {
  const { rows, chunks, check } = (value ?? {}) as Partial<Mark & { check: string }>;
  if (rows === undefined || chunks === undefined || check !== checkOf(rows, chunks)) return undefined;
  return { rows, chunks };
}

function factsOf(value: unknown): Facts {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, fact]) => [name, String(fact)]));
}
