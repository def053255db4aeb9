// Offsets in a text, and the lines and columns that people count in.
//
// Lines end as JavaScript's do. Lines and columns count from 1, columns in UTF-16 units, as
// editors and V8 do; offsets count from 0.

const lineEnd = /\r\n|[\n\r\u2028\u2029]/g;

/** A position as people write it. */
export interface LineAndColumn {
  readonly line: number;
  readonly column: number;
}

/** The lines of a text, without their ends. */
export function linesOf(text: string): string[] {
  return text.split(lineEnd);
}

/** The line and column of an offset. */
export function lineAndColumn(text: string, offset: number): LineAndColumn {
  let line = 1;
  let start = 0;
  for (const end of text.matchAll(lineEnd)) {
    const next = end.index + end[0].length;
    if (next > offset) break;
    line++;
    start = next;
  }
  return { line, column: offset - start + 1 };
}

/** The offset of a line and column; undefined if the text has no such line. */
export function offsetAt(text: string, { line, column }: LineAndColumn): number | undefined {
  if (line === 1) return column - 1;
  let current = 1;
  for (const end of text.matchAll(lineEnd)) {
    if (++current === line) return end.index + end[0].length + column - 1;
  }
  return undefined;
}
