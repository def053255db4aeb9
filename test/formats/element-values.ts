// Any values of an element type, the ends of its range and what floats have of their own among them.

import fc from 'fast-check';
import type { NumberElement } from 'warpstage';

const integer = (bits: number, signed: boolean) =>
  fc.bigInt(
    signed
      ? { min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }
      : { min: 0n, max: 2n ** BigInt(bits) - 1n },
  );

export const valuesOf: Record<Exclude<NumberElement, 'bf16'>, fc.Arbitrary<number | bigint>> = {
  i8: integer(8, true).map(Number),
  u8: integer(8, false).map(Number),
  i16: integer(16, true).map(Number),
  u16: integer(16, false).map(Number),
  i32: integer(32, true).map(Number),
  u32: integer(32, false).map(Number),
  i64: integer(64, true),
  u64: integer(64, false),
  f16: fc.constantFrom(0, -0, 1.5, -65504, 2 ** -24, Infinity, NaN),
  f32: fc.oneof(fc.constantFrom(0, -0), fc.float()),
  f64: fc.oneof(fc.constantFrom(0, -0), fc.double()),
};
