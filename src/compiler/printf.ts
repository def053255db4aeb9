// The conversions of C's printf: `%5.2f` and its like, with flags, width, precision and size. Numbers are exact, and
// rounded to even where they lie in the middle, as C libraries do.

import type { Value } from './arithmetic.ts';

/** A conversion of a format. */
export interface Conversion {
  /** As it was written. */
  readonly text: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
  /** How many bits of an integer are written, where a size says so: 8 for `hh`, 16 for `h`. */
  readonly bits?: 8 | 16;
  readonly type: ConversionType;
}

/** A conversion as it stands in a format, where `*` asks for a value of the call: before that of the conversion. */
export type WrittenConversion = Omit<Conversion, 'width' | 'precision'> & {
  readonly width: number | '*';
  readonly precision: number | '*' | null;
};

export type ConversionType =
  | 'd'
  | 'u'
  | 'x'
  | 'X'
  | 'o'
  | 'c'
  | 's'
  | 'f'
  | 'F'
  | 'e'
  | 'E'
  | 'g'
  | 'G'
  | 'a'
  | 'A';

const pattern = /%(?:%|([-+ 0#]*)(\d*|\*)(?:\.(\d*|\*))?(hh|h|ll|l|z|j|t)?([diuxXocsfFeEgGaA]))/g;
const floats = /[fega]/i;

/** The texts and conversions of a format, in their order. */
export function partsOfFormat(format: string): (string | WrittenConversion)[] {
  const parts: (string | WrittenConversion)[] = [];
  let end = 0;
  for (const found of format.matchAll(pattern)) {
    const [text, flags, width, precision, size, type] = found;
    parts.push(format.slice(end, found.index));
    end = found.index + text.length;
    if (type === undefined) parts.push('%');
    else
      parts.push({
        text,
        flags: flags!,
        width: width === '*' ? '*' : Number(width),
        precision: precision === undefined ? null : precision === '*' ? '*' : Number(precision),
        ...(size === 'hh' ? { bits: 8 as const } : size === 'h' ? { bits: 16 as const } : {}),
        type: type === 'i' ? 'd' : (type as ConversionType),
      });
  }
  parts.push(format.slice(end));
  return parts.filter((part) => part !== '');
}

/** A conversion with the width and precision that `*` asks for; a width below 0 pads on the right. */
export function withWidth(one: WrittenConversion, given: readonly number[]): Conversion {
  const left = [...given];
  const width = one.width === '*' ? left.shift()! : one.width;
  const precision = one.precision === '*' ? left.shift()! : one.precision;
  return {
    ...one,
    flags: width < 0 ? `${one.flags}-` : one.flags,
    width: Math.abs(width),
    precision: precision !== null && precision < 0 ? null : precision,
  };
}

/** A value as a conversion writes it. Of its type: an integer for `d` to `c`, a float for `f` and those behind it. */
export function converted({ flags, width, precision, bits, type }: Conversion, given: Value): string {
  const value = bits === undefined || !/[duxo]/i.test(type) ? given : lowBits(given, bits, type === 'd');
  const has = (flag: string) => flags.includes(flag);
  if (type === 's' || type === 'c') {
    const text = type === 'c' ? String.fromCharCode(Number(value) & 255) : String(value);
    const cut = type === 's' && precision !== null ? text.slice(0, precision) : text;
    return has('-') ? cut.padEnd(width) : cut.padStart(width);
  }
  const isSigned = type === 'd' || floats.test(type);
  const isNegative = isSigned && (Number(value) < 0 || Object.is(value, -0));
  const sign = isNegative ? '-' : !isSigned ? '' : has('+') ? '+' : has(' ') ? ' ' : '';
  const [prefix, digits] = floats.test(type)
    ? partsOfFloat(digitsOfFloat(Math.abs(Number(value)), type, precision, has('#')))
    : digitsOfInteger(BigInt(value) < 0n ? -BigInt(value) : BigInt(value), type, precision, has('#'));
  const isCounted = !floats.test(type) || Number.isFinite(Number(value));
  const fills = has('0') && !has('-') && isCounted && (precision === null || floats.test(type));
  const room = Math.max(0, width - sign.length - prefix.length);
  const written = `${sign}${prefix}${fills ? digits.padStart(room, '0') : digits}`;
  return has('-') ? written.padEnd(width) : written.padStart(width);
}

/** `0x` stands before what a number is filled up with. */
function partsOfFloat(digits: string): readonly [prefix: string, digits: string] {
  return /^0x/i.test(digits) ? [digits.slice(0, 2), digits.slice(2)] : ['', digits];
}

function lowBits(value: Value, bits: number, isSigned: boolean): bigint {
  return isSigned ? BigInt.asIntN(bits, BigInt(value)) : BigInt.asUintN(bits, BigInt(value));
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
          : lower === 'a'
            ? hexadecimal(value, precision, marked)
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

/** A power of two and a number from 1 to 2 in base 16, as glibc and CUDA write it: `0x1.8p+1`. */
function hexadecimal(value: number, precision: number | null, marked: boolean): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const places = Math.min(precision ?? 13, 13);
  // The first digit is 1, or 0 of zero and of what is less than 2 ** -1022.
  const mantissa = (bits & (2n ** 52n - 1n)) | (biased === 0 ? 0n : 2n ** 52n);
  const dropped = 2n ** BigInt(52 - 4 * places);
  const rest = mantissa % dropped;
  const isAbove = 2n * rest > dropped || (2n * rest === dropped && (mantissa / dropped) % 2n === 1n);
  const rounded = mantissa / dropped + (isAbove ? 1n : 0n);
  const digits = rounded.toString(16).padStart(places + 1, '0');
  const fraction =
    precision === null ? digits.slice(1).replace(/0+$/, '') : digits.slice(1).padEnd(precision, '0');
  const power = value === 0 ? 0 : Math.max(1, biased) - 1023;
  const point = fraction !== '' || marked ? '.' : '';
  return `0x${digits[0]}${point}${fraction}p${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}
