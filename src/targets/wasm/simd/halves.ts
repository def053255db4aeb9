// Integers of 16 bits, eight in a vector: what ends in a store of 8 or 16 bits, and comes from such elements and literals.
//
// Sums, differences and products have the same low bits whatever the bits above these are. So assignments in a row and
// the store behind them are computed of low halves alone, for two vectors of a group in one, if nobody reads the variables behind
// the store. A shift to the right asks for bits from above: it is made where the facts say that its operand fits
// into 16 bits, or is a product of two such, of which multiplications give the upper half, too.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { bytesOf, isNumberElement } from '../../../kernel/layout.ts';
import { constantOf } from '../../analysis/elements.ts';
import type { FactOf } from '../../analysis/facts.ts';
import { has, type Liveness } from '../../analysis/liveness.ts';
import type { Code, Local } from '../encoder/code.ts';
import { writeStatement } from '../statements.ts';
import { type GroupContext, type Indexed, vectorsIn } from './group.ts';

/** The variables that have halves, and where these are once all of it is known to be possible. */
type Own = Map<number, { local?: Local }>;
/** Writes what pushes, or stores, the halves of two vectors. */
type Write = (half: number) => void;

const operations = {
  add: 'i16x8.add',
  subtract: 'i16x8.sub',
  multiply: 'i16x8.mul',
  and: 'v128.and',
  or: 'v128.or',
  xor: 'v128.xor',
} as const;

/** Writes the statements that begin at a position of a list, if they can be computed of halves: how many of them. */
export function writeHalves(
  group: GroupContext,
  liveness: Liveness,
  list: readonly Statement[],
  position: number,
): number {
  const { code, lanes, unit, first } = group;
  const halves = vectorsIn(group).length / 2;
  if (!unit.does('halves') || !Number.isInteger(halves)) return 0;
  const own: Own = new Map();
  const before: Statement[] = [];
  const writes: Write[] = [];
  for (const [at, statement] of list.slice(position).entries()) {
    if (statement.kind !== 'assign' && statement.kind !== 'store') return 0;
    const { kind, value } = statement;
    if (kind === 'assign' && !lanes.varies(statement.variable)) {
      // What unrolled loops leave of their counters.
      if (at === 0 || constantOf(value) === null) return 0;
      before.push(statement);
      continue;
    }
    const push = planOf(group, own, unit.factsAt(statement))(value);
    if (push === null) return 0;
    if (kind === 'assign') {
      const place = own.get(statement.variable) ?? {};
      own.set(statement.variable, place);
      writes.push((half) => {
        push(half);
        code.set(place.local!);
      });
      continue;
    }
    const place = placeOf(group, statement);
    if (place === null || [...own.keys()].some((id) => has(liveness.after(statement), id))) return 0;
    unit.tell('halves', 'integers of 16 bits, eight in a vector');
    for (const each of own.values()) each.local = code.local('v128');
    for (const each of before) writeStatement(first, each);
    for (let half = 0; half < halves; half += 1) {
      unit.mark(code);
      for (const write of writes) write(half);
      code.get(place.address);
      push(half);
      writeStored(code, place, half);
    }
    unit.mark(code);
    return at + 1;
  }
  return 0;
}

type Place = NonNullable<ReturnType<typeof placeOf>>;

/** Where elements of 8 or 16 bits lie side by side. */
function placeOf({ unit, lanes, locate }: GroupContext, access: Indexed) {
  const element = unit.elementOf(access.array);
  const bytes = bytesOf(element);
  if (!isNumberElement(element) || bytes > 2 || lanes.shapeOf(access) !== 'contiguous') return null;
  const found = locate(access);
  return found && { ...found, bytes, sign: element === 'i8' ? ('s' as const) : ('u' as const) };
}

/** Pops an address and halves, and stores them, or their low bytes. */
function writeStored(code: Code, { offset, bytes }: Place, half: number): void {
  if (bytes === 2) {
    code.memory('v128.store', offset + 16 * half, 2);
    return;
  }
  const order = Array.from({ length: 16 }, (_, at) => 2 * (at % 8));
  code.withTemporary('v128', (value) => code.tee(value).get(value).shuffle(order));
  code.memoryLane('v128.store64_lane', 0, offset + 8 * half, 1);
}

/** What plans how values are computed; null where they cannot be. */
function planOf(group: GroupContext, own: Own, factOf: FactOf) {
  const { code, constants, unit } = group;
  const both = (operands: readonly Expression[], finish: () => void): Write | null => {
    const writes = operands.map(plan);
    if (writes.includes(null)) return null;
    return (half) => {
      for (const write of writes) write!(half);
      finish();
    };
  };
  return plan;

  function plan(expression: Expression): Write | null {
    const { kind, type } = expression;
    if (type !== 'i32' && type !== 'u32') return null;
    if (kind === 'constant') {
      const low = constantOf(expression)! & 0xffff;
      return () => code.get(constants.integer(low | (low << 16)));
    }
    if (kind === 'variable') {
      const place = own.get(expression.id);
      return place ? () => code.get(place.local!) : null;
    }
    if (kind === 'load') {
      const place = placeOf(group, expression);
      if (place === null) return null;
      const { address, offset, bytes, sign } = place;
      return (half) => {
        code.get(address);
        if (bytes === 1) code.memory(`v128.load8x8_${sign}`, offset + 8 * half, 1);
        else code.memory('v128.load', offset + 16 * half, 2);
      };
    }
    if (kind === 'convert' && expression.format === undefined) return plan(expression.operand);
    if (kind !== 'binary') return null;
    const { operator, left, right } = expression;
    const operation = operations[operator as keyof typeof operations];
    if (operation !== undefined) return both([left, right], () => code.op(operation));
    const literal = constantOf(right);
    if (literal === null || (operator !== 'shiftLeft' && operator !== 'shiftRight')) return null;
    const shift = literal & 31;
    if (shift >= 16) return operator === 'shiftRight' ? upper(left, shift - 16, type) : null;
    const { least, most } = factOf(left);
    const isNatural = least >= 0 && most < 2 ** 16;
    if (operator === 'shiftRight' && !isNatural && (least < -(2 ** 15) || most >= 2 ** 15)) return null;
    const right16 = isNatural ? 'i16x8.shr_u' : 'i16x8.shr_s';
    return both([left], () => code.i32(shift).op(operator === 'shiftLeft' ? 'i16x8.shl' : right16));
  }

  /** The upper half of a product that has 32 bits, or 31 where the next one is a sign, shifted on. */
  function upper(product: Expression, shift: number, type: 'i32' | 'u32'): Write | null {
    if (product.kind === 'convert') return upper(product.operand, shift, type);
    if (product.kind !== 'binary' || product.operator !== 'multiply') return null;
    const factors = [product.left, product.right];
    const [a, b] = factors.map(factOf);
    if (Math.min(a!.least, b!.least) < 0 || Math.max(a!.most, b!.most) >= 2 ** 16) return null;
    if (a!.most * b!.most >= (type === 'u32' ? 2 ** 32 : 2 ** 31)) return null;
    return both(factors, () => {
      if (unit.forProcessor) code.processor('i16x8.mulhi_u');
      else writeUpperHalves(code);
      if (shift > 0) code.i32(shift).op('i16x8.shr_u');
    });
  }
}

/** Pops two vectors and pushes the upper halves of their products. */
function writeUpperHalves(code: Code): void {
  code.withTemporaries((take) => {
    const [a, b] = [take('v128'), take('v128')];
    code.set(b).tee(a).get(b).engine('i32x4.extmul_low_i16x8_u');
    code.get(a).get(b).engine('i32x4.extmul_high_i16x8_u');
    code.shuffle(Array.from({ length: 16 }, (_, at) => 2 * at + 2 - (at % 2)));
  });
}
