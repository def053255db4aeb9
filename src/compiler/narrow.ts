// Values of types that only memory has: integers of 8 and 16 bits, and floats of 16. They are
// computed with as i32 and f32, and here made what memory would make of them.

import type { Node } from 'acorn';
import type { Range } from '../diagnostics/source.ts';
import type { ScalarValue } from '../kernel/parameters.ts';
import type { ScalarType } from '../kernel/types.ts';
import { binary, constant, numberConstant, recode } from './build.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { computedType } from './number-types.ts';
import { type NumberValue, number } from './values.ts';

/** An expression of the type's computed type, cut or rounded to a value of the type itself. */
export function narrowed(
  lowering: Lowering,
  expression: Expression,
  type: ScalarType,
  node: Node,
): Expression {
  return narrowedAt(expression, type, lowering.range(node));
}

/** A value that the host gave for a constant of the type, as the kernel sees it. */
export function constantValue(
  lowering: Lowering,
  type: ScalarType,
  value: ScalarValue,
  range: Range,
): NumberValue {
  const computed = computedType(type);
  const valueType = lowering.valueType(computed);
  const whole =
    typeof value === 'bigint'
      ? constant(valueType, value, range)
      : numberConstant(valueType, Number(value), range);
  return number(computed, narrowedAt(whole, type, range));
}

function narrowedAt(expression: Expression, type: ScalarType, range: Range): Expression {
  switch (type) {
    case 'i8':
    case 'i16': {
      const places = numberConstant('i32', type === 'i8' ? 24 : 16, range);
      return binary('shiftRight', binary('shiftLeft', expression, places, range), places, range);
    }
    case 'u8':
    case 'u16': {
      const mask = numberConstant('i32', type === 'u8' ? 0xff : 0xffff, range);
      return binary('and', expression, mask, range);
    }
    case 'f16':
    case 'bf16':
      return recode(recode(expression, 'u32', type, range), 'f32', type, range);
    default:
      return expression;
  }
}
