// What a kernel's console.log prints: the same line on every target.

import type { Value } from '../compiler/arithmetic.ts';
import { type Conversion, converted } from '../compiler/printf.ts';

/** A line: its texts, with null for each value, and how the values are written. */
export interface PrintedForm {
  readonly texts: readonly (string | null)[];
  /** Null, or absent: as console.log writes them. */
  readonly formats?: readonly (Conversion | null)[] | undefined;
}

/** The form of what is printed. The spaces between the arguments of console.log are texts. */
export function formOf({
  parts,
  formats,
}: {
  readonly parts: readonly (string | object)[];
  readonly formats?: PrintedForm['formats'];
}): PrintedForm {
  const texts = parts.map((part) => (typeof part === 'string' ? part : null));
  return formats === undefined ? { texts } : { texts, formats };
}

/** The texts one after the other, with the values between them. */
export function printedLine({ texts, formats }: PrintedForm, values: readonly Value[]): string {
  let at = 0;
  const next = () => {
    const value = values[at]!;
    const format = formats?.[at] ?? null;
    at++;
    if (format !== null) return converted(format, value);
    return Object.is(value, -0) ? '-0' : String(value);
  };
  return texts.map((text) => text ?? next()).join('');
}
