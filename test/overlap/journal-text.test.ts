// The text of a journal: whatever was cut off it, what is left says no more than was written.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  headLine,
  markLine,
  type Noted,
  nothingWritten,
  readJournal,
} from '#warpstage/overlap/journal/text.js';

const facts = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));
const marks = fc
  .array(
    fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: 1, max: 1000 }), fc.array(fc.string())),
  )
  .map((steps) => {
    let [rows, chunks] = [0, 0];
    return steps.map(([moreRows, moreChunks, sums]): Noted => {
      rows += moreRows;
      chunks += moreChunks;
      return { rows, chunks, sums };
    });
  });
const beginning: Noted = { ...nothingWritten, sums: [] };
/** What a journal says at its end, and how much of it counts. */
function lastOf(text: Uint8Array) {
  const read = readJournal(text);
  const { noted, end } = read?.lines.at(-1) ?? { noted: beginning, end: 0 };
  return { facts: read?.facts, noted, end };
}
const textOf = (head: string, lines: readonly Noted[]) => Buffer.from(head + lines.map(markLine).join(''));

test('a whole journal reads as it was written', () => {
  fc.assert(
    fc.property(facts, marks, (known, written) => {
      const text = textOf(headLine(known), written);
      expect(lastOf(text)).toEqual({
        facts: { ...known },
        noted: written.at(-1) ?? beginning,
        end: text.length,
      });
      expect(readJournal(text)!.lines.map(({ noted }) => noted)).toEqual([beginning, ...written]);
    }),
  );
});

test('a journal that is cut off anywhere, with anything behind the cut, counts as far as its whole lines', () => {
  const tails = fc.oneof(
    fc.constant(''),
    fc.integer({ min: 1, max: 5000 }).map((length) => '\0'.repeat(length)),
    fc.constantFrom(
      '\0\0\n',
      '}\n',
      '"}\n',
      '\n',
      '{"rows":1}\n',
      '{"rows":9,"chunks":9,"check":"00000000"}\n',
      '[]\n',
    ),
  );
  fc.assert(
    fc.property(facts, marks, fc.nat(), tails, (known, written, place, tail) => {
      const head = headLine(known);
      const text = textOf(head, written);
      const left = Buffer.concat([text.subarray(0, place % (text.length + 1)), Buffer.from(tail)]);
      const read = lastOf(left);
      const beginsWith = (whole: Buffer) => left.subarray(0, whole.length).equals(whole);
      if (!beginsWith(Buffer.from(head))) {
        expect(read.noted).toEqual(beginning);
        return;
      }
      let lines = 0;
      while (lines < written.length && beginsWith(textOf(head, written.slice(0, lines + 1)))) lines++;
      expect(read).toEqual({
        facts: { ...known },
        noted: written[lines - 1] ?? beginning,
        end: textOf(head, written.slice(0, lines)).length,
      });
    }),
    { numRuns: 300 },
  );
});

test('a line with another number than it was written with does not count', () => {
  fc.assert(
    fc.property(facts, marks, fc.constantFrom('rows', 'chunks'), (known, written, field) => {
      const { rows, chunks } = written.at(-1) ?? beginning;
      const last: Noted = { rows: rows + 2, chunks: chunks + 2, sums: ['0'] };
      const damaged = markLine(last).replace(`"${field}":${last[field]}`, `"${field}":${last[field] + 1}`);
      expect(damaged).not.toBe(markLine(last));
      const text = Buffer.concat([textOf(headLine(known), written), Buffer.from(damaged)]);
      expect(lastOf(text).noted).toEqual(written.at(-1) ?? beginning);
    }),
  );
});

test('a line that is not written to its end does not count', () => {
  const [first, last]: [Noted, Noted] = [
    { rows: 3, chunks: 1, sums: ['a'] },
    { rows: 5, chunks: 2, sums: ['b'] },
  ];
  const text = textOf(headLine({}), [first, last]);
  for (let missing = 1; missing <= markLine(last).length; missing++)
    expect(lastOf(text.subarray(0, -missing)).noted, `${missing}`).toEqual(first);
});

test('a line behind the last one that says less does not count', () => {
  const [former, later]: [Noted, Noted] = [
    { rows: 3, chunks: 1, sums: ['a'] },
    { rows: 5, chunks: 2, sums: ['b'] },
  ];
  const text = textOf(headLine({}), [later, former]);
  expect(lastOf(text).noted).toEqual(later);
});
