// The operators on values that are on the stack, to the bit as compiler/arithmetic.ts defines
// them.

import { bitFunctions } from '../../compiler/functions.ts';
import type { BinaryOperator, CompareOperator, UnaryOperator, ValueType } from '../../compiler/ir.ts';
import type { Code } from './encoder/code.ts';
import { instructionOf } from './instructions.ts';
import { wasmType } from './types.ts';
import type { Unit } from './unit.ts';

/** Compares two values of a type; leaves a bool. */
export function writeCompare(code: Code, operator: CompareOperator, type: ValueType): void {
  code.op(instructionOf(operator, type)!);
}

/**
 * Combines two values of a type. An integer `divide` or `remainder` is not done here when it may fail or
 * overflow: the divisor is neither 0 nor, for a signed `divide`, -1.
 */
export function writeBinary(unit: Unit, code: Code, operator: BinaryOperator, type: ValueType): void {
  const instruction = instructionOf(operator, type);
  if (instruction !== undefined) {
    code.op(instruction);
    return;
  }
  if (operator === 'remainder') {
    writeFloatRemainder(unit, code, type);
    return;
  }
  // What is left is min and max of integers.
  const wasm = wasmType(type);
  code.withTemporary(wasm, (right) => {
    code.withTemporary(wasm, (left) => {
      code.set(right).tee(left).get(right).get(left).get(right);
      writeCompare(code, operator === 'min' ? 'less' : 'greater', type);
      code.op('select');
    });
  });
}

/** JavaScript's %, which is exact; on f32 too, for the exact remainder of two f32 is one. */
function writeFloatRemainder(unit: Unit, code: Code, type: ValueType): void {
  const remainder = unit.host('exact', 'remainder');
  if (type === 'f64') {
    code.call(remainder);
    return;
  }
  code.withTemporary('f32', (right) => {
    code.set(right).op('f64.promote_f32').get(right).op('f64.promote_f32');
    code.call(remainder).op('f32.demote_f64');
  });
}

/** Changes the value on the stack. */
export function writeUnary(code: Code, operator: UnaryOperator, type: ValueType): void {
  const wasm = wasmType(type);
  if (wasm === 'f32' || wasm === 'f64') {
    code.op(instructionOf(operator, type)!);
    return;
  }
  const literal = (value: number) => (wasm === 'i32' ? code.i32(value) : code.i64(BigInt(value)));
  switch (operator) {
    case 'not':
      code.op('i32.eqz');
      return;
    case 'negate':
      code.withTemporary(wasm, (operand) => {
        code.set(operand);
        literal(0).get(operand).op(`${wasm}.sub`);
      });
      return;
    case 'complement':
      literal(-1).op(`${wasm}.xor`);
      return;
    case 'abs':
      // Through the sign spread over all bits, so that the smallest integer stays itself.
      if (type === 'u32' || type === 'u64') return;
      code.withTemporary(wasm, (operand) => {
        code.withTemporary(wasm, (sign) => {
          code.tee(operand).get(operand);
          literal(wasm === 'i32' ? 31 : 63).op(`${wasm}.shr_s`);
          code.tee(sign).op(`${wasm}.xor`).get(sign).op(`${wasm}.sub`);
        });
      });
      return;
    case 'sqrt':
    case 'floor':
    case 'ceil':
    case 'trunc':
      throw new TypeError(`${operator} is not defined on ${type}`);
    default:
      code.op(bitFunctions[operator].wasm);
  }
}

/** Converts the value on the stack. */
export function writeConversion(unit: Unit, code: Code, from: ValueType, to: ValueType): void {
  if (from === to) return;
  const source = wasmType(from);
  const target = wasmType(to);
  const sign = from === 'i32' || from === 'i64' ? 's' : 'u';
  if (to === 'bool') {
    // A NaN is not greater than zero.
    if (source === 'i32') code.i32(0).op('i32.ne');
    else if (source === 'i64') code.i64(0n).op('i64.ne');
    else if (source === 'f32') code.op('f32.abs').f32(0).op('f32.gt');
    else code.op('f64.abs').f64(0).op('f64.gt');
    return;
  }
  switch (source) {
    case 'i32':
      if (target === 'i64') code.op(`i64.extend_i32_${sign}`);
      else if (target !== 'i32') code.op(`${target}.convert_i32_${sign}`);
      return;
    case 'i64':
      if (target === 'i32') code.op('i32.wrap_i64');
      else if (target !== 'i64') code.op(`${target}.convert_i64_${sign}`);
      return;
    case 'f32':
      code.op('f64.promote_f32');
      if (target !== 'f64') writeTruncation(unit, code, target);
      return;
    case 'f64':
      if (target === 'f32') code.op('f32.demote_f64');
      else writeTruncation(unit, code, target);
      return;
    default:
      source satisfies never;
  }
}

/** f64 to an integer, modulo its width: one instruction in range, JavaScript beyond it. */
function writeTruncation(unit: Unit, code: Code, target: 'i32' | 'i64' | 'f32' | 'f64'): void {
  if (target !== 'i32' && target !== 'i64') throw new TypeError(`${target} is not an integer`);
  code.withTemporary('f64', (value) => {
    code
      .tee(value)
      .op('f64.abs')
      .f64(target === 'i32' ? 2 ** 31 : 2 ** 63);
    code.op('f64.lt').if(
      () => code.get(value).op(`${target}.trunc_sat_f64_s`),
      () => code.get(value).call(unit.host('exact', target === 'i32' ? 'toInt32' : 'toInt64')),
      target,
    );
  });
}
