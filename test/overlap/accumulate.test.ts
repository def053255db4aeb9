// What an accumulator begins with: what combining leaves unchanged, in every type.

import { describe, expect, test } from 'vitest';
import { initialArray } from '#warpstage/overlap/accumulate.js';

const integers = { i8: 8, i16: 16, i32: 32, i64: 64, u8: 8, u16: 16, u32: 32, u64: 64 } as const;
const begin = (element: Parameters<typeof initialArray>[0], combine: 'sum' | 'min' | 'max') =>
  [...initialArray(element, { combine }, 2)].map(String);

describe('without an initial value', () => {
  test.each(Object.entries(integers) as [keyof typeof integers, number][])(
    'a minimum of %s begins at the greatest value, and a maximum at the least',
    (element, bits) => {
      const signed = element.startsWith('i');
      const least = signed ? -(2n ** BigInt(bits - 1)) : 0n;
      const greatest = least + 2n ** BigInt(bits) - 1n;
      expect(begin(element, 'min')).toEqual([String(greatest), String(greatest)]);
      expect(begin(element, 'max')).toEqual([String(least), String(least)]);
      expect(begin(element, 'sum')).toEqual(['0', '0']);
    },
  );

  test.each(['f32', 'f64'] as const)('those of %s begin at the infinities', (element) => {
    expect(begin(element, 'min')).toEqual(['Infinity', 'Infinity']);
    expect(begin(element, 'max')).toEqual(['-Infinity', '-Infinity']);
  });
});
