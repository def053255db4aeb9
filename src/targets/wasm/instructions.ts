// The instruction of an operator, for one value or for four lanes at once: WebAssembly calls both alike. What
// it has no instruction for has no name in its table of opcodes.
//
// In lanes, which are four i32, u32 or f32 in a v128, or two f64, a bool is a mask of all ones or all zeros. As unsigned numbers
// all ones are above all zeros, as true is above false. Shifts take one count for all lanes.

import type {
  BinaryOperator,
  CompareOperator,
  Expression,
  UnaryOperator,
  ValueType,
} from '../../compiler/ir.ts';
import { isFloat } from '../../compiler/number-types.ts';
import { type PlainInstruction, plainOpcodes } from './encoder/opcodes.ts';
import { wasmType } from './types.ts';

type Operator = UnaryOperator | BinaryOperator | CompareOperator;

const names: { readonly [O in Operator]?: string } = {
  add: 'add',
  subtract: 'sub',
  multiply: 'mul',
  divide: 'div',
  remainder: 'rem',
  min: 'min',
  max: 'max',
  and: 'and',
  or: 'or',
  xor: 'xor',
  shiftLeft: 'shl',
  shiftRight: 'shr',
  equal: 'eq',
  notEqual: 'ne',
  less: 'lt',
  lessEqual: 'le',
  greater: 'gt',
  greaterEqual: 'ge',
  not: 'not',
  complement: 'not',
  negate: 'neg',
  abs: 'abs',
  sqrt: 'sqrt',
  floor: 'floor',
  ceil: 'ceil',
  trunc: 'trunc',
};

/** Operators on integers that know whether they have a sign. */
const withSign: ReadonlySet<Operator> = new Set<Operator>([
  ...(['divide', 'remainder', 'min', 'max', 'shiftRight'] as const),
  ...(['less', 'lessEqual', 'greater', 'greaterEqual'] as const),
]);

function named(shape: string, operator: Operator, type: ValueType): PlainInstruction | undefined {
  const sign = type === 'i32' || type === 'i64' ? '_s' : '_u';
  const name = `${shape}.${names[operator]}${withSign.has(operator) && !isFloat(type) ? sign : ''}`;
  return Object.hasOwn(plainOpcodes, name) ? (name as PlainInstruction) : undefined;
}

/** The instruction for one value of a type. */
export function instructionOf(operator: Operator, type: ValueType): PlainInstruction | undefined {
  return named(wasmType(type), operator, type);
}

/** The types whose values fit a lane; two lanes are a vector of f64, four of the others. */
export type LaneType = 'bool' | 'i32' | 'u32' | 'f32' | 'f64';

export function isLaneType(type: ValueType): type is LaneType {
  return type === 'bool' || type === 'i32' || type === 'u32' || type === 'f32' || type === 'f64';
}

/** The instruction for the lanes of a vector, if there is one that gives the same bits. Null where nothing is to be done. */
export function laneInstruction(operator: Operator, type: ValueType): PlainInstruction | null | undefined {
  if (!isLaneType(type)) return undefined;
  if (operator === 'abs' && type === 'u32') return null;
  return (
    named('v128', operator, type) ?? named(`${wasmType(type)}x${type === 'f64' ? 2 : 4}`, operator, type)
  );
}

/** Whether the lanes of a vector can be converted at once. */
export function convertsInLanes({ operand, type }: Expression & { readonly kind: 'convert' }): boolean {
  if (operand.type === 'f64' && (type === 'i32' || type === 'u32')) return false;
  return isLaneType(operand.type) && isLaneType(type);
}
