// Counts as people read them: as the system writes them in English, without loading its languages.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { count, counted } from '#warpstage/diagnostics/count.js';

test('thousands are set apart, as toLocaleString does it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.double()), (value) => {
      // A zero has no sign in what people read.
      expect(count(value)).toBe((value === 0 ? 0 : value).toLocaleString('en-US'));
    }),
    { numRuns: 500 },
  );
});

test('one thing, several things', () => {
  expect([0, 1, 2, 3000].map((value) => counted(value, 'row'))).toEqual([
    '0 rows',
    '1 row',
    '2 rows',
    '3,000 rows',
  ]);
});
