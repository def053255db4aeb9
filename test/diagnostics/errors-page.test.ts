// docs/errors.md and the catalogue of codes are kept together by this test.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codes } from '#warpstage/diagnostics/codes.js';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const sections = page
  .split(/^### /m)
  .slice(1)
  .map((section) => ({ heading: section.slice(0, section.indexOf('\n')), body: section }));

test('the page has each code of the catalogue, in its order and in its words', () => {
  expect(sections.map(({ heading }) => heading)).toEqual(
    Object.entries(codes).map(([code, words]) => `${code}: ${words}`),
  );
});

test.each(sections)('$heading: has an example and says how to mend it', ({ body }) => {
  expect(body).toMatch(/^```(ts|sh)\n/m);
  expect(body).toMatch(/^To mend it, /m);
});
