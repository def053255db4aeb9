// A code frame: the line at fault with a line or two around it, and a row of carets under it.
//
//   11 |   const i = cuda.thisGrid().threadRank();
// > 12 |   y[i] = factor * y[i];
//      |          ^^^^^^
//
// Tabs are shown as two spaces and wide characters count as two columns, so that the carets
// stand under what they mean. Of long lines (a minified bundle is one) a window around the
// caret is shown, the same window of the lines around it.

import { linesOf } from './lines.ts';
import type { Paint } from './paint.ts';
import type { Place } from './source.ts';

/** How many UTF-16 units of a line are shown. */
const windowLength = 100;

/** The lines of a frame; none if the text is not known. `around` lines are shown before and after. */
export function codeFrame(
  place: Place & { readonly length: number },
  around: number,
  paint: Paint,
): string[] {
  const lines = linesOf(place.text);
  const line = lines[place.line - 1];
  if (line === undefined || place.text === '') return [];

  let first = Math.max(1, place.line - around);
  let last = Math.min(lines.length, place.line + around);
  while (first < place.line && lines[first - 1]!.trim() === '') first++;
  while (last > place.line && lines[last - 1]!.trim() === '') last--;

  const start = Math.min(place.column - 1, line.length);
  const view = windowAround(start, line.length);
  const digits = String(last).length;
  const rows: string[] = [];
  for (let number = first; number <= last; number++) {
    const atFault = number === place.line;
    const mark = atFault ? paint.error('>') : ' ';
    const gutter = paint.quiet(`${String(number).padStart(digits)} |`);
    rows.push(`${mark} ${gutter} ${clip(lines[number - 1]!, view)}`.trimEnd());
    if (!atFault) continue;
    const before = (view.from > 0 ? 1 : 0) + displayWidth(visible(line.slice(view.from, start)));
    const under = visible(line.slice(start, Math.min(start + place.length, view.to)));
    const carets = '^'.repeat(Math.max(1, displayWidth(under)));
    const emptyGutter = paint.quiet(`${' '.repeat(digits)} |`);
    rows.push(`  ${emptyGutter} ${' '.repeat(before)}${paint.error(carets)}`);
  }
  return rows;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

function windowAround(column: number, length: number): Window {
  if (length <= windowLength) return { from: 0, to: windowLength };
  const from = Math.min(Math.max(0, column - windowLength / 4), length - windowLength);
  return { from, to: from + windowLength };
}

function clip(line: string, { from, to }: Window): string {
  const [before, after] = [from > 0 && line.length > 0 ? '…' : '', line.length > to ? '…' : ''];
  return before + visible(line.slice(from, to)) + after;
}

/** The text as a terminal may safely show it: one glyph for what would move the cursor. */
function visible(text: string): string {
  return text.replaceAll('\t', '  ').replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu, '\ufffd');
}

const wide =
  /\p{Emoji_Presentation}|\ufe0f|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60]/u;

function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
