// Which integers are never negative, so that they round down as they round towards zero.

import type { Element } from '../../kernel/types.ts';
import type { ArrayReference, Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';

/** Whether an expression is never negative, as far as its text shows and unless it overflows. */
export function isNeverNegative(lowering: Lowering, expression: Expression): boolean {
  const defined = lowering.definition(expression);
  switch (defined.kind) {
    case 'constant':
      return Number(defined.value) >= 0;
    case 'builtin':
    case 'length':
      return true;
    case 'load':
      return defined.type === 'u32' || isUnsigned(elementOf(lowering, defined.array));
    case 'convert':
      // i64 holds every u32; an i32 made of one may be negative.
      return defined.operand.type === 'u32' && defined.type === 'i64';
    case 'binary': {
      const [left, right] = [defined.left, defined.right];
      switch (defined.operator) {
        case 'add':
        case 'multiply':
        case 'divide':
        case 'min':
        case 'or':
        case 'xor':
          return isNeverNegative(lowering, left) && isNeverNegative(lowering, right);
        case 'remainder':
        case 'shiftRight':
          return isNeverNegative(lowering, left);
        case 'and':
        case 'max':
          return isNeverNegative(lowering, left) || isNeverNegative(lowering, right);
        default:
          return false;
      }
    }
    case 'conditional':
      return isNeverNegative(lowering, defined.then) && isNeverNegative(lowering, defined.otherwise);
    default:
      return defined.type === 'u32';
  }
}

function elementOf(lowering: Lowering, { space, id, as }: ArrayReference): Element | null {
  if (as !== undefined) return as;
  if (space === 'shared') return lowering.sharedArrays[id]!.element;
  if (space === 'local') return lowering.localArrays[id]!.element;
  const parameter = lowering.parameters[id]!;
  return parameter.kind === 'array' ? parameter.element : null;
}

/** Whether an element is an i32 that is never negative. */
function isUnsigned(element: Element | null): boolean {
  return element === 'u8' || element === 'u16';
}
