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

type Binary = Extract<Expression, { kind: 'binary' }>;
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
  const { code, lanes, unit } = group;
  const halves = vectorsIn(group).length / 2;
  if (!unit.does('halves') || !Number.isInteger(halves)) return 0;
  const own: Own = new Map();
  const before: Statement[] = [];
  const writes: Write[] = [];
  for (const [at, statement] of list.slice(position).entries()) {
    const planner = new Planner(group, own, unit.factsAt(statement));
    if (statement.kind === 'assign' && !lanes.varies(statement.variable)) {
      // What unrolled loops leave of their counters.
      if (at === 0 || constantOf(statement.value) === null) return 0;
      before.push(statement);
      continue;
    }
    const write =
      statement.kind === 'assign' || statement.kind === 'store' ? planner.plan(statement.value) : null;
    if (write === null) return 0;
    if (statement.kind === 'assign') {
      const place = own.get(statement.variable) ?? {};
      own.set(statement.variable, place);
      writes.push((half) => {
        write(half);
        code.set(place.local!);
      });
      continue;
    }
    const store = planner.store(statement as Indexed & { kind: 'store' }, write);
    if (store === null || [...own.keys()].some((id) => has(liveness.after(statement), id))) return 0;
    unit.tell('halves', 'integers of 16 bits, eight in a vector');
    for (const place of own.values()) place.local = code.local('v128');
    for (const each of before) writeStatement(group.first, each);
    for (let half = 0; half < halves; half += 1) {
      unit.mark(code);
      for (const each of [...writes, store]) each(half);
    }
    unit.mark(code);
    return at + 1;
  }
  return 0;
}

/** Plans how a statement's values are computed; null where they cannot be. */
class Planner {
  readonly #group: GroupContext;
  readonly #own: Own;
  readonly #of: FactOf;

  constructor(group: GroupContext, own: Own, of: FactOf) {
    this.#group = group;
    this.#own = own;
    this.#of = of;
  }

  plan(expression: Expression): Write | null {
    const { code, constants } = this.#group;
    const { kind, type } = expression;
    if (type !== 'i32' && type !== 'u32') return null;
    switch (kind) {
      case 'constant': {
        const low = constantOf(expression)! & 0xffff;
        return () => code.get(constants.integer(low | (low << 16)));
      }
      case 'variable': {
        const place = this.#own.get(expression.id);
        return place ? () => code.get(place.local!) : null;
      }
      case 'load': {
        const place = this.#place(expression);
        if (place === null) return null;
        const { address, offset, bytes, sign } = place;
        return (half) => {
          code.get(address);
          if (bytes === 1) code.memory(`v128.load8x8_${sign}`, offset + 8 * half, 1);
          else code.memory('v128.load', offset + 16 * half, 2);
        };
      }
      case 'convert':
        return expression.format === undefined ? this.plan(expression.operand) : null;
      case 'binary':
        return this.#binary(expression);
      default:
        return null;
    }
  }

  store(statement: Indexed & { readonly kind: 'store' }, push: Write): Write | null {
    const { code } = this.#group;
    const place = this.#place(statement);
    if (place === null) return null;
    const { address, offset, bytes } = place;
    return (half) => {
      code.get(address);
      push(half);
      if (bytes === 2) {
        code.memory('v128.store', offset + 16 * half, 2);
        return;
      }
      // The low bytes of all halves to the front.
      const order = Array.from({ length: 16 }, (_, at) => 2 * (at % 8));
      code.withTemporary('v128', (value) => code.tee(value).get(value).shuffle(order));
      code.memoryLane('v128.store64_lane', 0, offset + 8 * half, 1);
    };
  }

  /** Where elements of 8 or 16 bits lie side by side. */
  #place(access: Indexed) {
    const { unit, lanes, locate } = this.#group;
    const element = unit.elementOf(access.array);
    const bytes = bytesOf(element);
    if (!isNumberElement(element) || bytes > 2 || lanes.shapeOf(access) !== 'contiguous') return null;
    const found = locate(access);
    return found && { ...found, bytes, sign: element === 'i8' ? ('s' as const) : ('u' as const) };
  }

  #binary(expression: Binary): Write | null {
    const { code } = this.#group;
    const { operator, left, right, type } = expression;
    const shift = constantOf(right)! & 31;
    switch (operator) {
      case 'add':
      case 'subtract':
      case 'multiply':
      case 'and':
      case 'or':
      case 'xor':
        return this.#both([left, right], () => code.op(operations[operator]));
      case 'shiftLeft':
      case 'shiftRight': {
        if (constantOf(right) === null) return null;
        if (operator === 'shiftRight' && shift >= 16) return this.#upper(left, shift - 16, type);
        if (shift >= 16) return null;
        const { least, most } = this.#of(left);
        const isNatural = least >= 0 && most < 2 ** 16;
        if (operator === 'shiftRight' && !isNatural && (least < -(2 ** 15) || most >= 2 ** 15)) return null;
        const instruction =
          operator === 'shiftLeft' ? 'i16x8.shl' : isNatural ? 'i16x8.shr_u' : 'i16x8.shr_s';
        return this.#both([left], () => code.i32(shift).op(instruction));
      }
      default:
        return null;
    }
  }

  /** The upper half of a product that has 32 bits, or 31 where the next one is a sign, shifted on. */
  #upper(product: Expression, shift: number, type: Expression['type']): Write | null {
    const { code, unit } = this.#group;
    if (product.kind === 'convert' && product.format === undefined)
      return this.#upper(product.operand, shift, type);
    if (product.kind !== 'binary' || product.operator !== 'multiply') return null;
    const factors = [product.left, product.right];
    const [a, b] = factors.map(this.#of) as [ReturnType<FactOf>, ReturnType<FactOf>];
    if (a.least < 0 || b.least < 0 || a.most >= 2 ** 16 || b.most >= 2 ** 16) return null;
    if (a.most * b.most >= (type === 'u32' ? 2 ** 32 : 2 ** 31)) return null;
    return this.#both(factors, () => {
      if (unit.forProcessor) code.processor('i16x8.mulhi_u');
      else writeUpperHalves(code);
      if (shift > 0) code.i32(shift).op('i16x8.shr_u');
    });
  }

  #both(operands: readonly Expression[], finish: () => void): Write | null {
    const writes = operands.map((each) => this.plan(each));
    if (writes.includes(null)) return null;
    return (half) => {
      for (const write of writes) write!(half);
      finish();
    };
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
