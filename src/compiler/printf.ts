// The conversions of C's printf: `%5.2f` and its like, with flags, width and precision. Numbers are exact, and rounded
// to even where they lie in the middle, as C libraries do.

import type { Value } from './arithmetic.ts';

/** A conversion of a format. */
export interface Conversion {
  /** As it was written. */
  readonly text: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
  readonly type: ConversionType;
}

export type ConversionType = 'd' | 'u' | 'x' | 'X' | 'o' | 'c' | 's' | 'f' | 'F' | 'e' | 'E' | 'g' | 'G';

const pattern = /%(?:%|([-+ 0#]*)(\d*)(?:\.(\d*))?(?:hh|h|ll|l|z|j|t)?([diuxXocsfFeEgG]))/g;

/** The texts and conversions of a format, in their order. */
export function partsOfFormat(format: string): (string | Conversion)[] {
  const parts: (string | Conversion)[] = [];
  let end = 0;
  for (const found of format.matchAll(pattern)) {
    const [text, flags, width, precision, type] = found;
    parts.push(format.slice(end, found.index));
    end = found.index + text.length;
    if (type === undefined) parts.push('%');
    else
      parts.push({
        text,
        flags: flags!,
        width: Number(width),
        precision: precision === undefined ? null : Number(precision),
        type: type === 'i' ? 'd' : (type as ConversionType),
      });
  }
  parts.push(format.slice(end));
  return parts.filter((part) => part !== '');
}

/** A value as a conversion writes it. Of its type: an integer for `d` to `c`, a float for the last six. */
export function converted({ flags, width, precision, type }: Conversion, value: Value): string {
  const has = (flag: string) => flags.includes(flag);
  if (type === 's' || type === 'c') {
    const text = type === 'c' ? String.fromCharCode(Number(value) & 255) : String(value);
    const cut = type === 's' && precision !== null ? text.slice(0, precision) : text;
    return has('-') ? cut.padEnd(width) : cut.padStart(width);
  }
  const isSigned = type === 'd' || /[feg]/i.test(type);
  const isNegative = isSigned && (Number(value) < 0 || Object.is(value, -0));
  const sign = isNegative ? '-' : !isSigned ? '' : has('+') ? '+' : has(' ') ? ' ' : '';
  const [prefix, digits] = /[feg]/i.test(type)
    ? ['', digitsOfFloat(Math.abs(Number(value)), type, precision, has('#'))]
    : digitsOfInteger(BigInt(value) < 0n ? -BigInt(value) : BigInt(value), type, precision, has('#'));
  const isCounted = /\d/.test(digits);
  const fills = has('0') && !has('-') && isCounted && (precision === null || /[feg]/i.test(type));
  const room = Math.max(0, width - sign.length - prefix.length);
  const written = `${sign}${prefix}${fills ? digits.padStart(room, '0') : digits}`;
  return has('-') ? written.padEnd(width) : written.padStart(width);
}

function digitsOfInteger(
  value: bigint,
  type: ConversionType,
  precision: number | null,
  marked: boolean,
): readonly [prefix: string, digits: string] {
  const base = type === 'o' ? 8 : type === 'x' || type === 'X' ? 16 : 10;
  let digits = value === 0n && precision === 0 ? '' : value.toString(base);
  digits = digits.padStart(precision ?? 1, '0');
  if (type === 'o' && marked && !digits.startsWith('0')) digits = `0${digits}`;
  const prefix = base === 16 && marked && value !== 0n ? '0x' : '';
  return type === 'X' ? [prefix.toUpperCase(), digits.toUpperCase()] : [prefix, digits];
}

function digitsOfFloat(
  value: number,
  type: ConversionType,
  precision: number | null,
  marked: boolean,
): string {
  const lower = type.toLowerCase();
  const written = Number.isNaN(value)
    ? 'nan'
    : value === Infinity
      ? 'inf'
      : lower === 'f'
        ? fixed(value, precision ?? 6, marked)
        : lower === 'e'
          ? exponential(value, precision ?? 6, marked)
          : general(value, Math.max(1, precision ?? 6), marked);
  return type === lower ? written : written.toUpperCase();
}

/** The whole number nearest to `value * 10 ** power`, to even in the middle. */
function scaled(value: number, power: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const mantissa = (bits & (2n ** 52n - 1n)) | (biased === 0 ? 0n : 2n ** 52n);
  const exponent = Math.max(1, biased) - 1075;
  const up = (base: bigint, by: number) => base ** BigInt(Math.max(0, by));
  const numerator = mantissa * up(2n, exponent) * up(10n, power);
  const denominator = up(2n, -exponent) * up(10n, -power);
  const whole = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  const isAbove = twice > denominator || (twice === denominator && whole % 2n === 1n);
  return isAbove ? whole + 1n : whole;
}

function withPoint(digits: string, places: number, marked: boolean): string {
  const padded = digits.padStart(places + 1, '0');
  const whole = padded.slice(0, padded.length - places);
  return places > 0 ? `${whole}.${padded.slice(-places)}` : `${whole}${marked ? '.' : ''}`;
}

function fixed(value: number, places: number, marked: boolean): string {
  return withPoint(String(scaled(value, places)), places, marked);
}

/** So many digits after the first, and the power of ten of that. */
function significant(value: number, places: number): readonly [digits: string, power: number] {
  if (value === 0) return ['0'.repeat(places + 1), 0];
  const power = Number(/e([+-]\d+)$/.exec(value.toExponential(30))![1]);
  const digits = String(scaled(value, places - power));
  return digits.length > places + 1 ? [digits.slice(0, -1), power + 1] : [digits, power];
}

function exponential(value: number, places: number, marked: boolean): string {
  const [digits, power] = significant(value, places);
  const sign = power < 0 ? '-' : '+';
  return `${withPoint(digits, places, marked)}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

function general(value: number, precision: number, marked: boolean): string {
  const [, power] = significant(value, precision - 1);
  const written =
    power < -4 || power >= precision
      ? exponential(value, precision - 1, marked)
      : fixed(value, precision - 1 - power, marked);
  return marked ? written : written.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '');
}
