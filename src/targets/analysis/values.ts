// What can be known of a value when a program is compiled, and what operations make of it.
//
// A fact holds for every value that an expression takes: an integer or bool lies between two bounds, and is
// congruent to a residue modulo a power of two; a value of any type may be known itself. What operations do
// is said by compiler/evaluate.ts where all operands are known; else the rules here say what is left.
//
// Integers wrap. A result whose exact bounds leave its type may be any value of the type; its residue stays,
// for the moduli divide 2^32. Bounds beyond 2^53 are no exact numbers, so they too become the type's.

import type { Value } from '../../compiler/arithmetic.ts';
import { type Computation, computed as valueBy } from '../../compiler/evaluate.ts';
import { bitFunctions } from '../../compiler/functions.ts';
import type { BinaryOperator, CompareOperator, ValueType } from '../../compiler/ir.ts';
import { isBigint, isFloat, isInteger } from '../../compiler/number-types.ts';

/** Both ends belong to it. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

export interface Fact extends Bounds {
  /** The value, where it is known; a bigint for i64 and u64. */
  readonly value: Value | null;
  /** value ≡ residue (mod modulus), a power of two up to `mostModulus`; 0 ≤ residue < modulus. */
  readonly residue: number;
  readonly modulus: number;
}

/** Beyond this no residue is distinguished: products of two residues are exact numbers. */
export const mostModulus = 2 ** 20;
/** A sum beyond this is rounded to a number beyond this. */
export const exactLimit = Number.MAX_SAFE_INTEGER;

const types: Readonly<Record<ValueType, Bounds>> = {
  bool: { least: 0, most: 1 },
  i32: { least: -(2 ** 31), most: 2 ** 31 - 1 },
  u32: { least: 0, most: 2 ** 32 - 1 },
  i64: { least: -(2 ** 63), most: 2 ** 63 },
  u64: { least: 0, most: 2 ** 64 },
  f32: { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY },
  f64: { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY },
};

const nothing: Readonly<Record<ValueType, Fact>> = Object.fromEntries(
  Object.entries(types).map(([type, bounds]) => [type, { ...bounds, value: null, residue: 0, modulus: 1 }]),
) as Record<ValueType, Fact>;

/** What holds for every value of a type. */
export function unknown(type: ValueType): Fact {
  return nothing[type];
}

/** Whether the bounds say more than the type does. */
export function isBounded({ least, most }: Bounds, type: ValueType): boolean {
  return isInteger(type) && (least > types[type].least || most < types[type].most);
}

/** What holds for one value of a type. */
export function exactly(type: ValueType, value: Value): Fact {
  if (isFloat(type)) return { ...nothing[type], value };
  if (type === 'bool') return value ? yes : no;
  const number = Number(value);
  if (Math.abs(number) <= exactLimit) return exactInteger(value, number);
  const residue = Number(BigInt.asUintN(20, BigInt(value)));
  return { ...types[type], value, residue, modulus: mostModulus };
}

function exactInteger(value: Value, number: number): Fact {
  const residue = ((number % mostModulus) + mostModulus) % mostModulus;
  return { value, least: number, most: number, residue, modulus: mostModulus };
}

const yes = exactInteger(true, 1);
const no = exactInteger(false, 0);

/** What holds for an integer or bool between bounds; beyond the type it has wrapped. */
export function between(type: ValueType, least: number, most: number, residue = 0, modulus = 1): Fact {
  const all = types[type];
  const fits =
    least >= all.least && most <= all.most && least >= -exactLimit && most <= exactLimit && least <= most;
  if (!fits) return { least: all.least, most: all.most, value: null, residue, modulus };
  if (least === most) return exactly(type, typed(type, least));
  return { least, most, value: null, residue, modulus };
}

function typed(type: ValueType, number: number): Value {
  if (type === 'bool') return number !== 0;
  // A negative zero is no integer.
  return isBigint(type) ? BigInt(number) : number + 0;
}

/** The largest power of two, up to `mostModulus`, that divides every such value. */
export function divisorOf({ residue, modulus }: Fact): number {
  return residue === 0 ? modulus : powerOf(residue);
}

/** The largest power of two that divides a number that is not 0; of 0 the largest at all. */
function powerOf(number: number): number {
  let power = 1;
  while (power < mostModulus && number % (2 * power) === 0) power *= 2;
  return power;
}

/** What holds for values of which one or the other holds. */
export function join(a: Fact, b: Fact): Fact {
  if (a === b) return a;
  if (a.value !== null && Object.is(a.value, b.value)) return a;
  const modulus = Math.min(a.modulus, b.modulus, powerOf(Math.abs(a.residue - b.residue)));
  const [least, most] = [Math.min(a.least, b.least), Math.max(a.most, b.most)];
  const isSaid = (by: Fact) =>
    by.value === null && by.least === least && by.most === most && by.modulus === modulus;
  if (isSaid(a)) return a;
  return isSaid(b) ? b : { least, most, value: null, residue: a.residue % modulus, modulus };
}

/** Whether both say the same. */
export function isSame(a: Fact, b: Fact): boolean {
  return (
    a.least === b.least &&
    a.most === b.most &&
    a.modulus === b.modulus &&
    a.residue === b.residue &&
    Object.is(a.value, b.value)
  );
}

/** The fact with bounds that hold as well, as far as they are exact; null where nothing is left between them. */
export function clipped(fact: Fact, type: ValueType, bounds: Bounds): Fact | null {
  // A known value may lie beyond exact numbers, where its bounds are those of the type.
  if (fact.value !== null && typeof fact.value !== 'boolean') return lies(fact.value, bounds) ? fact : null;
  const least = Math.abs(bounds.least) <= exactLimit ? Math.max(fact.least, bounds.least) : fact.least;
  const most = Math.abs(bounds.most) <= exactLimit ? Math.min(fact.most, bounds.most) : fact.most;
  if (least > most) return null;
  if (least === fact.least && most === fact.most) return fact;
  if (least === most && Math.abs(least) <= exactLimit) return exactly(type, typed(type, least));
  return { ...fact, least, most };
}

function lies(value: number | bigint, { least, most }: Bounds): boolean {
  const isBelow = Math.abs(least) <= exactLimit && value < least;
  const isAbove = Math.abs(most) <= exactLimit && value > most;
  return !isBelow && !isAbove;
}

/** What an operation gives, by what is known of its operands. */
export function computed(expression: Computation, operands: readonly Fact[]): Fact {
  const { type } = expression;
  const values = operands.map(({ value }) => value);
  if (!values.includes(null)) {
    const value = valueBy(expression, values as Value[]);
    return value === undefined ? unknown(type) : exactly(type, value);
  }
  const left = operands[0]!;
  const right = operands[1]!;
  switch (expression.kind) {
    case 'unary':
      return isInteger(type) || type === 'bool' ? unary(expression, left) : unknown(type);
    case 'binary':
      return isInteger(type) ? binary(expression.operator, type, left, right) : unknown(type);
    case 'compare':
      return isFloat(expression.left.type) ? unknown('bool') : compared(expression.operator, left, right);
    case 'convert':
      return converted(expression, left);
    case 'math':
      return unknown(type);
    default:
      return expression satisfies never;
  }
}

function unary({ operator, type }: Extract<Computation, { kind: 'unary' }>, operand: Fact): Fact {
  switch (operator) {
    case 'not':
      return unknown('bool');
    case 'negate':
      return binary('subtract', type, exactly(type, typed(type, 0)), operand);
    case 'complement': {
      const all = type === 'u32' ? 2 ** 32 - 1 : type === 'u64' ? 2 ** 64 : -1;
      return between(type, all - operand.most, all - operand.least);
    }
    case 'abs':
      if (operand.least >= 0) return operand;
      return between(
        type,
        operand.most < 0 ? -operand.most : 0,
        Math.max(-operand.least, operand.most),
        0,
        divisorOf(operand),
      );
    case 'sqrt':
    case 'floor':
    case 'ceil':
    case 'trunc':
      return unknown(type);
    default:
      return between(type, 0, bitFunctions[operator].most);
  }
}

function converted({ type, operand, format }: Extract<Computation, { kind: 'convert' }>, of: Fact): Fact {
  if (format === 'bits') return unknown(type);
  if (format !== undefined) return type === 'u32' ? between(type, 0, 65_535) : unknown(type);
  if (isFloat(type) || isFloat(operand.type)) return unknown(type);
  if (type !== 'bool') return between(type, of.least, of.most, of.residue, of.modulus);
  return of.least > 0 || of.most < 0 || of.residue !== 0 ? exactly('bool', true) : unknown('bool');
}

function compared(operator: CompareOperator, a: Fact, b: Fact): Fact {
  switch (operator) {
    case 'equal':
    case 'notEqual': {
      const modulus = Math.min(a.modulus, b.modulus);
      const differ = a.most < b.least || b.most < a.least || a.residue % modulus !== b.residue % modulus;
      return differ ? exactly('bool', operator === 'notEqual') : unknown('bool');
    }
    case 'less':
      return decided(a.most < b.least, a.least >= b.most);
    case 'lessEqual':
      return decided(a.most <= b.least, a.least > b.most);
    case 'greater':
      return decided(a.least > b.most, a.most <= b.least);
    case 'greaterEqual':
      return decided(a.least >= b.most, a.most < b.least);
    default:
      return operator satisfies never;
  }
}

function decided(holds: boolean, fails: boolean): Fact {
  return holds || fails ? exactly('bool', holds) : unknown('bool');
}

/** The bounds of a sum, difference or product that does not wrap. */
export function boundsOf(operator: 'add' | 'subtract' | 'multiply', a: Bounds, b: Bounds): Bounds {
  switch (operator) {
    case 'add':
      return { least: a.least + b.least, most: a.most + b.most };
    case 'subtract':
      return { least: a.least - b.most, most: a.most - b.least };
    case 'multiply': {
      const [atLeast, atMost] = [a.least * b.least, a.most * b.most];
      const [mixed, other] = [a.least * b.most, a.most * b.least];
      return {
        least: Math.min(atLeast, atMost, mixed, other),
        most: Math.max(atLeast, atMost, mixed, other),
      };
    }
  }
}

function binary(operator: BinaryOperator, type: ValueType, a: Fact, b: Fact): Fact {
  const modulus = Math.min(a.modulus, b.modulus);
  const congruent = ({ least, most }: Bounds, residue: number) =>
    between(type, least, most, ((residue % modulus) + modulus) % modulus, modulus);
  switch (operator) {
    case 'add':
      return congruent(boundsOf(operator, a, b), a.residue + b.residue);
    case 'subtract':
      return congruent(boundsOf(operator, a, b), a.residue - b.residue);
    case 'multiply':
      return product(type, a, b);
    case 'divide':
      return quotient(type, a, b);
    case 'remainder':
      return remainder(type, a, b);
    case 'min':
    case 'max': {
      const { residue, modulus: joined } = join(a, b);
      const pick = Math[operator];
      return between(type, pick(a.least, b.least), pick(a.most, b.most), residue, joined);
    }
    case 'and':
      return conjunction(type, a, b);
    case 'or':
    case 'xor': {
      const residue = operator === 'or' ? a.residue | b.residue : a.residue ^ b.residue;
      const most = powerAbove(Math.max(a.most, b.most)) - 1;
      const natural = a.least >= 0 && b.least >= 0;
      const least = operator === 'or' ? Math.max(a.least, b.least) : 0;
      return congruent(natural ? { least, most } : types[type], residue);
    }
    case 'shiftLeft': {
      const shift = shiftBy(type, b);
      return shift === null ? unknown(type) : product(type, a, exactly('i64', 1n << BigInt(shift)));
    }
    case 'shiftRight': {
      const shift = shiftBy(type, b);
      if (shift !== null) return between(type, floored(a.least, shift), floored(a.most, shift));
      return between(type, Math.min(a.least, 0), a.most >= 0 ? a.most : -1);
    }
    default:
      return operator satisfies never;
  }
}

/** The smallest power of two above a number that is not negative. */
function powerAbove(number: number): number {
  let power = 1;
  while (power <= number) power *= 2;
  return power;
}

function shiftBy(type: ValueType, { value }: Fact): number | null {
  if (value === null) return null;
  return Number(BigInt(value) & (isBigint(type) ? 63n : 31n));
}

function floored(number: number, shift: number): number {
  return Math.floor(number / 2 ** shift);
}

function product(type: ValueType, a: Fact, b: Fact): Fact {
  const { least, most } = boundsOf('multiply', a, b);
  // (r + im)(s + jn) = rs + r jn + s im + im jn
  const modulus = Math.min(
    mostModulus,
    powerOf(a.residue) * b.modulus,
    powerOf(b.residue) * a.modulus,
    a.modulus * b.modulus,
  );
  return between(type, least, most, (a.residue * b.residue) % modulus, modulus);
}

function quotient(type: ValueType, a: Fact, b: Fact): Fact {
  // A double's quotient may be rounded up to the next integer where the dividend has all its digits.
  if (b.least < 0 || a.least > exactLimit / 2 || a.most < -exactLimit / 2) return unknown(type);
  // By zero it fails, and gives nothing.
  const [smallest, largest] = [Math.max(b.least, 1), b.most];
  const least = Math.trunc(a.least / (a.least < 0 ? smallest : largest));
  const most = Math.trunc(a.most / (a.most < 0 ? largest : smallest));
  return between(type, least, most);
}

function remainder(type: ValueType, a: Fact, b: Fact): Fact {
  if (a.least >= 0 && a.most < b.least) return a;
  const modulus = Math.min(a.modulus, divisorOf(b));
  const largest = Math.max(Math.abs(b.least), Math.abs(b.most)) - 1;
  const least = a.least >= 0 ? 0 : Math.max(a.least, -largest);
  const most = a.most <= 0 ? 0 : Math.min(a.most, largest);
  return between(type, least, most, a.residue % modulus, modulus);
}

function conjunction(type: ValueType, a: Fact, b: Fact): Fact {
  const mosts = [a, b].filter(({ least }) => least >= 0).map(({ most }) => most);
  const bounds = mosts.length > 0 ? { least: 0, most: Math.min(...mosts) } : types[type];
  const modulus = Math.min(a.modulus, b.modulus);
  // Low bits that are zero in one are zero in both.
  const zeros = Math.max(divisorOf(a), divisorOf(b));
  if (zeros > modulus) return between(type, bounds.least, bounds.most, 0, zeros);
  return between(type, bounds.least, bounds.most, a.residue & b.residue & (modulus - 1), modulus);
}
