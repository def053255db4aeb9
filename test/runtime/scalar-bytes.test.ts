// Scalars in memory, beside the typed array of their type.

import { describe, expect, test } from 'vitest';
import { setScalar } from '#warpstage/runtime/scalar-bytes.js';

const types = {
  i32: [Int32Array, [0, -1, 2 ** 31 - 1, -(2 ** 31)]],
  u32: [Uint32Array, [0, 1, 2 ** 31, 2 ** 32 - 1]],
  f32: [Float32Array, [0, -0, 0.1, 3.4e38, Number.NEGATIVE_INFINITY]],
  f64: [Float64Array, [0, -0, 0.1, 1e308, Number.POSITIVE_INFINITY]],
  i64: [BigInt64Array, [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]],
  u64: [BigUint64Array, [0n, 1n, 2n ** 63n, 2n ** 64n - 1n]],
} as const;

describe.each(Object.keys(types) as (keyof typeof types)[])('%s', (type) => {
  const [TypedArray, values] = types[type];
  test.each(values.map((value) => [value]))(
    '%s lies as in its typed array, and nothing beside it is touched',
    (value) => {
      const bytes = new Uint8Array(24).fill(0xaa);
      setScalar(new DataView(bytes.buffer), 8, type, value);
      const own = new Uint8Array((TypedArray as { of(...values: unknown[]): Uint8Array }).of(value).buffer);
      expect([...bytes.subarray(8, 8 + own.length)]).toEqual([...own]);
      for (const other of [...bytes.subarray(0, 8), ...bytes.subarray(8 + own.length)])
        expect(other).toBe(0xaa);
    },
  );
});

test('a bool takes one byte', () => {
  const bytes = new Uint8Array(3).fill(0xaa);
  for (const value of [true, false]) {
    setScalar(new DataView(bytes.buffer), 1, 'bool', value);
    expect([...bytes]).toEqual([0xaa, value ? 1 : 0, 0xaa]);
  }
});
