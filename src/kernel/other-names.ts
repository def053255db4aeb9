// The element types by the names that they have in C, NumPy and JavaScript, for hints.

import { type ElementType, isElementType } from './types.ts';

const words: Readonly<Record<string, ElementType>> = {
  byte: 'u8',
  double: 'f64',
  float: 'f32',
  half: 'f16',
  int: 'i32',
  long: 'i64',
  short: 'i16',
  uint: 'u32',
};

/** The element type that is called so elsewhere: `float32`, `Uint8Array`, `uint64_t`, `double`, `float4`. */
export function elementCalled(name: string): ElementType | undefined {
  const plain = name.toLowerCase().replace(/(clamped)?array$|_t$/, '');
  const [, kind = plain, digits = ''] = /^(?:big)?(float|double|int|uint)(\d+)$/.exec(plain) ?? [];
  const isVector = digits === '2' || digits === '4';
  const element = isVector ? `${words[kind]}x${digits}` : digits === '' ? words[kind] : `${kind[0]}${digits}`;
  return element !== undefined && isElementType(element) ? (element as ElementType) : undefined;
}
