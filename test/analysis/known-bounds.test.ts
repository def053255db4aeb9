// Which indices of arrays of several dimensions need no test, where the program runs on a CPU: those of which the facts
// say that they lie inside, in every dimension.

import { describe, expect, test } from 'vitest';
import { withoutKnownBounds } from '#warpstage/targets/analysis/known-bounds.js';
import { anyStatement } from '#warpstage/targets/analysis/walk.js';
import { compile, kernelOf } from '../compiler/support.ts';

/** Whether a store that a statement makes is still tested. */
function isTested(statement: string): boolean {
  const text = `({ out, n, k, small, short }, cuda) => {
    const t = cuda.threadIdx.x;
    const own = cuda.localArray('i32', [4, 32]);
    const given = out.shaped([n, 32]);
    let j = k;
    if (n > 7) j = small[1];
    ${statement}
    out[0] = own[0][0];
  }`;
  const schema = {
    out: 'i32[]',
    small: 'readonly i8[]',
    short: 'readonly i16[]',
    n: 'index',
    k: 'i32',
  } as const;
  const { program } = compile(kernelOf(schema, text));
  return anyStatement(
    withoutKnownBounds(program).body,
    (one) => one.kind === 'store' && one.bounds !== undefined,
  );
}

describe('no test is left of an index that is inside', () => {
  test.each(['own[3][t % 32] = 1;', 'own[0][31] = 1;', 'if (j >= 0 && j < 4) own[j][0] = 1;'])(
    '%s',
    (statement) => {
      expect(isTested(statement)).toBe(false);
    },
  );
});

describe('a test stays where an index', () => {
  test.each([
    ['may be negative', 'if (j < 4) own[j][0] = 1;'],
    ['may be the extent', 'if (j >= 0 && j <= 4) own[j][0] = 1;'],
    ['of a row may be outside', 'if (j >= 0) own[2][j] = 1;'],
    ['of a row may be outside, whatever that before is', 'own[3][t + 1] = 1;'],
    ['may be outside a size that the launch gives', 'if (j >= 0 && j < 10) given[j][0] = 1;'],
    ['is a number of the caller', 'if (k >= 0) own[k][0] = 1;'],
    ['may be negative, as a small number', 'const s = small[0]; if (s < 4) own[s][0] = 1;'],
    ['may be negative, as a number of 16 bits', 'const s = short[0]; if (s < 4) own[s][0] = 1;'],
  ])('%s', (_, statement) => {
    expect(isTested(statement)).toBe(true);
  });
});
