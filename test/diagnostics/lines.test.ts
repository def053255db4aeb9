// Lines and columns are counted as V8 counts them.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineAndColumn, linesOf, offsetAt } from '#warpstage/diagnostics/lines.js';

test.each([
  ['a\nb', 2],
  ['a\r\nb', 2],
  ['a\rb', 2],
  ['a\n\rb', 3],
  ['a\u2028b\u2029c', 3],
  ['a\vb\fc', 1],
])('%j has %i lines', (text, count) => {
  expect(linesOf(text)).toHaveLength(count);
  expect(lineAndColumn(text, text.length)).toEqual({ line: count, column: linesOf(text).at(-1)!.length + 1 });
});

test('a line and column are those of their offset, and back', () => {
  const text = fc
    .array(fc.constantFrom('a', '\n', '\r', '\u2028', ' '), { maxLength: 20 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.nat(20), (source, at) => {
      const offset = Math.min(at, source.length);
      // Between the two characters of an end of line there is no column.
      fc.pre(!(source[offset - 1] === '\r' && source[offset] === '\n'));
      const place = lineAndColumn(source, offset);
      expect(offsetAt(source, place)).toBe(offset);
      expect(linesOf(source)[place.line - 1]!.length).toBeGreaterThanOrEqual(place.column - 1);
    }),
  );
});
