// Which kernels the system's compiler is given where tests run on all targets: a quarter as chosen and a quarter as state
// machines, so that neither way is left out by chance, and the same kernel always in the same way.

import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { nativeInTurn, nativeTargets } from '../support/native.ts';
import { isInTurn } from '../support/thorough.ts';

const k = kernel({ out: 'i32[]', n: 'constant index' }, ({ out, n }) => {
  out[0] = n;
});

test.runIf(nativeTargets.length > 0)('each way has its share, and what runs once runs so again', () => {
  const waysOf = (n: number) => {
    const launch = { grid: 1, block: 32, arguments: { out: new Int32Array(1), n } };
    return nativeInTurn(k, launch).map(({ name }) => name);
  };
  const numbers = Array.from({ length: 400 }, (_, n) => n);
  for (const { name } of nativeTargets) {
    const share = numbers.filter((n) => waysOf(n).includes(name)).length / numbers.length;
    expect(share, name).toBeGreaterThan(isInTurn ? 0.15 : 0.99);
    expect(share, name).toBeLessThan(isInTurn ? 0.35 : 1.01);
  }
  expect(numbers.map(waysOf)).toEqual(numbers.map(waysOf));
});
