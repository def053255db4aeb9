// A part of an object that is never given another object may be named: the name means the same variables.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { mistakesIn } from './support.ts';

test('a name for a nested object whose neighbours are assigned', () => {
  const nested = kernel({ out: 'i32[]' }, ({ out }) => {
    for (let round = 0; round < 3; round++) {
      const a = { inner: { s: 1, v: 2 }, t: round };
      a.t += 4;
      const b = a.inner;
      b.s += 10;
      b.v += a.inner.s;
      a.inner.v += 100 * round;
      const both = [a.inner, b] as const;
      both[1].s += 1000;
      out[3 * round] = a.inner.s;
      out[3 * round + 1] = b.v;
      out[3 * round + 2] = b.s + a.t + a.inner.v;
    }
  });
  const rows = [0, 1, 2].map((round) => [1011, 13 + 100 * round, 1011 + round + 4 + 13 + 100 * round]);
  const { arguments: after } = runEverywhere(nested as never, {
    grid: 1,
    block: 1,
    arguments: { out: new Int32Array(9) },
  });
  expect(after.out).toEqual(Int32Array.from(rows.flat()));
});

describe('one that may be another object is refused, with the reason', () => {
  test.each([
    [
      'const a = { inner: { s: 1 }, t: 2 }; a.inner.s = 3; const b = a.inner; a.inner = { s: 4 }; out[0] = b.s',
      "'a.inner' is assigned other objects, and members are assigned",
    ],
    [
      'let a = { inner: { s: 1 } }; a.inner.s = 3; const b = a.inner; a = { inner: { s: 4 } }; out[0] = b.s',
      "'a.inner' is assigned other objects, and members are assigned",
    ],
    [
      'const one = { s: 1 }; const a = { inner: one, t: 2 }; a.t = 3; one.s = 4; out[0] = a.inner.s',
      'is a part of an object that keeps its members in variables of its own, and members are assigned',
    ],
  ])('%s', (text, why) => {
    const mistakes = mistakesIn({ out: 'i32[]' }, `({ out }) => { ${text}; }`);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(why);
  });
});
