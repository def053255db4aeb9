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
  /** Rows that the outputs have, where these are some of them. */
  readonly kept?: number | undefined;
}

/** Where a run begins, and what its accumulators held there. */
export interface Begin extends Mark {
  readonly state?: Uint8Array | undefined;
}

/**
 * What a line says: a mark, and the checksum of each output's file up to there; behind them that of the accumulators'
 * state, if there is one.
 */
export interface Noted extends Mark {
  readonly sums: readonly string[];
  /** Bytes of each output's file, where they do not follow from the rows. */
  readonly sizes?: readonly number[] | undefined;
}

/** A journal, as far as it counts. */
export interface JournalText {
  /** Empty where the first line is whole and yet no journal's. */
  readonly facts: Facts;
  /** What its lines say, and where in the journal each ends. The first says that nothing is written. */
  readonly lines: readonly { readonly noted: Noted; readonly end: number }[];
}

/** Before anything is written. */
export const nothingWritten: Mark = { rows: 0, chunks: 0 };

const beginning: Noted = { ...nothingWritten, sums: [] };

const newline = 0x0a;

/** The first line of a journal. */
export function headLine(facts: Facts): string {
  return `${JSON.stringify(facts)}\n`;
}

/** A line that says what is written. */
export function markLine(noted: Noted): string {
  const { rows, chunks, kept, sizes, sums } = noted;
  return `${JSON.stringify({ rows, chunks, kept, sizes, sums, check: checkOf(noted) })}\n`;
}

function checkOf({ rows, chunks, kept, sizes, sums }: Noted): string {
  const more = [
    ...(kept === undefined ? [] : [`kept ${kept}`]),
    ...(sizes === undefined ? [] : [`sizes ${sizes.join(' ')}`]),
  ];
  return createHash('sha256')
    .update([rows, chunks, ...more, ...sums].join(' '))
    .digest('hex')
    .slice(0, 8);
}

/** Reads a journal; null if not even its first line is whole. */
export function readJournal(bytes: Uint8Array): JournalText | null {
  const head = bytes.indexOf(newline) + 1;
  if (head === 0) return null;
  const lines = [{ noted: beginning, end: head }];
  for (;;) {
    const last = lines.at(-1)!;
    const end = bytes.indexOf(newline, last.end) + 1;
    const noted = end === 0 ? undefined : notedOf(parse(bytes.subarray(last.end, end)));
    if (noted === undefined || noted.rows <= last.noted.rows) break;
    lines.push({ noted, end });
  }
  return { facts: factsOf(parse(bytes.subarray(0, head))), lines };
}

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

function notedOf(value: unknown): Noted | undefined {
  const { rows, chunks, kept, sizes, sums, check } = (value ?? {}) as Partial<Noted & { check: string }>;
  if (rows === undefined || chunks === undefined || !Array.isArray(sums)) return undefined;
  if (sizes !== undefined && !Array.isArray(sizes)) return undefined;
  const noted: Noted = {
    rows,
    chunks,
    ...(kept !== undefined && { kept }),
    ...(sizes !== undefined && { sizes: sizes as readonly number[] }),
    sums,
  };
  return check === checkOf(noted) ? noted : undefined;
}

function factsOf(value: unknown): Facts {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, fact]) => [name, String(fact)]));
}
