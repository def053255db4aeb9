// Scalars in memory, beside the typed array of their type.

import { describe, expect, test } from 'vitest';
import { setScalar } from '#warpstage/runtime/scalar-bytes.js';

const types = {
  i32: Int32Array.of(0, -1, 2 ** 31 - 1, -(2 ** 31)),
  u32: Uint32Array.of(0, 1, 2 ** 31, 2 ** 32 - 1),
  f32: Float32Array.of(0, -0, 0.1, 3.4e38, Number.NEGATIVE_INFINITY),
  f64: Float64Array.of(0, -0, 0.1, 1e308, Number.POSITIVE_INFINITY),
  i64: BigInt64Array.of(0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)),
  u64: BigUint64Array.of(0n, 1n, 2n ** 63n, 2n ** 64n - 1n),
} as const;

describe.each(Object.keys(types) as (keyof typeof types)[])('%s', (type) => {
  test('lies as in its typed array, and nothing beside it is touched', () => {
    const values = types[type];
    const size = values.BYTES_PER_ELEMENT;
    for (const [i, value] of [...values].entries()) {
      const bytes = new Uint8Array(size + 16).fill(0xaa);
      setScalar(new DataView(bytes.buffer), 8, type, value);
      const own = new Uint8Array(values.buffer, i * size, size);
      const beside = new Array(8).fill(0xaa);
      expect([...bytes]).toEqual([...beside, ...own, ...beside]);
    }
  });
});

test('a bool takes one byte', () => {
  const bytes = new Uint8Array(3).fill(0xaa);
  for (const value of [true, false]) {
    setScalar(new DataView(bytes.buffer), 1, 'bool', value);
    expect([...bytes]).toEqual([0xaa, value ? 1 : 0, 0xaa]);
  }
});
