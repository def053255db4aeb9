// Fences: what they order is clean, and found without one of them.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { fenceCases } from '../conformance/cases/fences.ts';

const fence = /\bcuda\.threadFence\(\);/g;

/** The kernel with the n-th of its fences replaced. */
function with_(original: Kernel, n: number, by: string): Kernel {
  let seen = 0;
  const text = String(original.body).replaceAll(fence, (found) => (seen++ === n ? by : found));
  return kernel(original.schema, new Function(`return ${text}`)(), { name: 'weakened' });
}

const cases = fenceCases.filter(({ kernel: of }) => fence.test(String(of.body)));

describe.each(cases)('$name', ({ kernel: of, grid, block, data }) => {
  const fresh = () =>
    Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
    );
  const codes = (one: Kernel) =>
    check(one, { grid, block, arguments: fresh() as never }).findings.map(({ code }) => code);

  test('is clean', () => {
    expect(codes(of)).toEqual([]);
  });

  const count = [...String(of.body).matchAll(fence)].length;
  test.each(Array.from({ length: count }, (_, n) => n))('needs its fence %i', (n) => {
    expect(codes(with_(of, n, ''))).toContain('WS7001');
  });

  test.each(Array.from({ length: count }, (_, n) => n))('needs fence %i for the device', (n) => {
    expect(codes(with_(of, n, 'cuda.threadFenceBlock();'))).toContain('WS7001');
    expect(codes(with_(of, n, 'cuda.threadFenceSystem();'))).toEqual([]);
  });
});
