// What a kernel's console.log prints: the same line on every target.

import type { Value } from '../compiler/arithmetic.ts';

/** The parts one after the other, values as console.log writes them. The spaces between its arguments are parts. */
export function printedLine(parts: readonly (string | Value)[]): string {
  return parts.map((part) => (Object.is(part, -0) ? '-0' : String(part))).join('');
}
