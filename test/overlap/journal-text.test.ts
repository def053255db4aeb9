// The text of a journal: whatever was cut off it, what is left says no more than was written.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  headLine,
  type Mark,
  markLine,
  nothingWritten,
  readJournal,
} from '#warpstage/overlap/journal/text.js';

const facts = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));
const marks = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: 1, max: 1000 })))
  .map((steps) => {
    let [rows, chunks] = [0, 0];
    return steps.map(([moreRows, moreChunks]): Mark => {
      rows += moreRows;
      chunks += moreChunks;
      return { rows, chunks };
    });
  });
const textOf = (head: string, lines: readonly Mark[]) => Buffer.from(head + lines.map(markLine).join(''));

test('a whole journal reads as it was written', () => {
  fc.assert(
    fc.property(facts, marks, (known, written) => {
      const text = textOf(headLine(known), written);
      expect(readJournal(text)).toEqual({
        facts: { ...known },
        mark: written.at(-1) ?? nothingWritten,
        length: text.length,
      });
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
      const read = readJournal(left);
      const beginsWith = (whole: Buffer) => left.subarray(0, whole.length).equals(whole);
      if (!beginsWith(Buffer.from(head))) {
        expect(read?.mark ?? nothingWritten).toEqual(nothingWritten);
        return;
      }
      let lines = 0;
      while (lines < written.length && beginsWith(textOf(head, written.slice(0, lines + 1)))) lines++;
      expect(read).toEqual({
        facts: { ...known },
        mark: written[lines - 1] ?? nothingWritten,
        length: textOf(head, written.slice(0, lines)).length,
      });
    }),
    { numRuns: 300 },
  );
});

test('a line with another number than it was written with does not count', () => {
  fc.assert(
    fc.property(facts, marks, fc.constantFrom('rows', 'chunks'), (known, written, field) => {
      const last: Mark = { rows: (written.at(-1)?.rows ?? 0) + 2, chunks: (written.at(-1)?.chunks ?? 0) + 2 };
      const damaged = markLine(last).replace(`"${field}":${last[field]}`, `"${field}":${last[field] + 1}`);
      expect(damaged).not.toBe(markLine(last));
      const text = Buffer.concat([textOf(headLine(known), written), Buffer.from(damaged)]);
      expect(readJournal(text)?.mark).toEqual(written.at(-1) ?? nothingWritten);
    }),
  );
});

test('a line behind the last one that says less does not count', () => {
  const [former, later] = [
    { rows: 3, chunks: 1 },
    { rows: 5, chunks: 2 },
  ];
  const text = textOf(headLine({}), [later, former]);
  expect(readJournal(text)?.mark).toEqual(later);
});
