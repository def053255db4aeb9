// What a kernel's console.log makes of its arguments: the same line on every target.

import type { Value } from '../compiler/arithmetic.ts';

/** The parts, with a space between them, as console.log writes numbers and strings. */
export function printedLine(parts: readonly (string | Value)[]): string {
  return parts.map((part) => (Object.is(part, -0) ? '-0' : String(part))).join(' ');
}
