// From a function as V8 runs it back to the file that the user wrote.
//
// The script's source map tells; where it has none, the script is the user's file, or was made of
// it line by line by a tool that takes types out. If it is neither, what is shown is the script.

import { pathOf, readText } from './files.ts';
import { findFunction, type Script } from './inspector.ts';
import { lineAndColumn, linesOf } from './lines.ts';
import type { AnyFunction, Place } from './source.ts';
import { mappedPlace } from './sourcemap.ts';

/** The place of an offset into a function's text in the user's file, if the runtime can tell. Never throws. */
export function placeInFile(fn: AnyFunction, text: string, offset: number): Place | undefined {
  const found = findFunction(fn, text);
  if (!found) return undefined;
  const { script, offset: begin } = found;
  return (
    attempt(() => mappedPlace(script, begin + offset)) ??
    attempt(() => placeInScript(script, begin, text, offset))
  );
}

/** A broken source map or an odd path costs precision; it must not hide the error that is being reported. */
function attempt(look: () => Place | undefined): Place | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function placeInScript(script: Script, begin: number, text: string, offset: number): Place | undefined {
  const file = pathOf(script.url);
  if (file === undefined) return undefined;
  const ran = { file, ...lineAndColumn(script.text, begin + offset), text: script.text };
  const written = readText(file);
  if (written === undefined || written === script.text) return ran;

  // Only the function's own part of its first and last line is compared.
  const writtenLines = linesOf(written);
  const start = lineAndColumn(script.text, begin);
  let column = 0;
  for (const [i, part] of linesOf(text).entries()) {
    const line = start.line + i;
    const shift = i === 0 ? start.column - 1 : 0;
    const found = columnAsWritten(part, shift, writtenLines[line - 1] ?? '', ran.column - 1 - shift);
    if (found === undefined) return ran;
    if (line === ran.line) column = found + 1;
  }
  return { file, line: ran.line, column, text: written };
}

/**
 * Where in a line as it was written the offset of a part of the line as it runs is, if all that
 * the part lacks are words: types that were blanked out or removed. `shift` is the offset of the
 * part in its line; words that stayed where they were are preferred to others that are the same.
 */
function columnAsWritten(part: string, shift: number, written: string, offset: number): number | undefined {
  const words = /[\p{ID_Continue}$]+|\S/gu;
  let answer = shift + offset;
  let after = 0;
  for (const { 0: word, index } of part.matchAll(words)) {
    let at = shift + index;
    if (at < after || !written.startsWith(word, at)) {
      words.lastIndex = after;
      let match = words.exec(written);
      while (match !== null && match[0] !== word) match = words.exec(written);
      if (match === null) return undefined;
      at = match.index;
    }
    if (index <= offset) answer = at + offset - index;
    after = at + word.length;
  }
  return answer;
}
