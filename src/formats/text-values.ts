// Numbers as text: what a field of a table says, and how a number is written so that the same one is read.

import { decodeHalf, encodeHalf } from '../kernel/half.ts';
import { componentOf, type ElementType, type TypedArray } from '../kernel/types.ts';

/** A value of a field; undefined where it says no number. */
export type FieldValue = number | bigint | boolean | null | undefined;

const integer = /^[+-]?\d+$/;
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const words: ReadonlyMap<string, FieldValue> = new Map<string, FieldValue>([
  ...['', 'na', 'n/a', '#n/a', 'null', 'none'].map((word) => [word, null] as const),
  ...['nan', '+nan', '-nan'].map((word) => [word, Number.NaN] as const),
  ...['inf', 'infinity', '+inf', '+infinity'].map((word) => [word, Infinity] as const),
  ...['-inf', '-infinity'].map((word) => [word, -Infinity] as const),
  ['true', true],
  ['false', false],
]);

/** What a field of text says: an integer beyond 2^53 is a bigint. */
export function fieldValue(field: string): FieldValue {
  // Most are plain numbers.
  if (integer.test(field)) return integerOf(field);
  if (decimal.test(field)) return Number(field);
  const text = field.trim();
  if (integer.test(text)) return integerOf(text);
  return decimal.test(text) ? Number(text) : words.get(text.toLowerCase());
}

function integerOf(text: string): number | bigint {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

/** The elements of an output as the shortest texts from which the same elements are read. */
export function elementTexts(elements: TypedArray, element: ElementType): string[] {
  const component = componentOf(element);
  const values: ArrayLike<number | bigint> = elements;
  switch (component) {
    case 'f32':
      return Array.from(values, (value) => floatText(value as number, 6, 9, Math.fround));
    case 'f16':
    case 'bf16':
      return Array.from(values, (bits) =>
        floatText(decodeHalf(component, Number(bits)), 2, 5, (value) =>
          decodeHalf(component, encodeHalf(component, value)),
        ),
      );
    default:
      return Array.from(values, String);
  }
}

/** The text of the fewest digits, between so many, that rounds to the value. */
function floatText(value: number, least: number, most: number, round: (value: number) => number): string {
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value) || (Number.isInteger(value) && Math.abs(value) < 1e6)) return String(value);
  for (let digits = least; digits < most; digits++) {
    const short = Number(value.toPrecision(digits));
    if (round(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(most)));
}
