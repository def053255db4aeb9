// Quotients and remainders of integers in lanes.
//
// WebAssembly divides scalars alone, so lanes do so one by one, each with its own check. Code for a processor has an
// instruction for them all: who divides by zero is found before, by one test where lanes share their divisor (for all the
// vectors of a statement), else by one of each vector. Under a mask only divisions are written that cannot fail.

import type { Expression } from '../../../compiler/ir.ts';
import { mayFail } from '../../analysis/failing.ts';
import type { ProcessorInstruction } from '../encoder/opcodes.ts';
import { pushExpression, writeDivision, writeDivisorCheck } from '../expressions.ts';
import type { GroupContext } from './group.ts';
import { threadOf } from './separate.ts';

type Division = Expression & { readonly kind: 'binary' };

/** What pushes vectors of the operands. */
export interface DivisionParts {
  readonly push: (operand: Expression) => void;
  /** Pushes what all lanes share, which `write` pushes once for all vectors of a statement. */
  readonly pushShared: (operand: Expression, write: () => void) => void;
}

/** Pushes quotients or remainders of integers. */
export function pushDivisions(
  group: GroupContext,
  expression: Division,
  vector: number,
  { push, pushShared }: DivisionParts,
): void {
  const { code, first, lanes, unit } = group;
  const { left, right } = expression;
  if (!unit.forProcessor) {
    unit.tell('divisions', 'integers that lanes divide one by one');
    pushOneByOne(group, expression, vector, push);
    return;
  }
  push(left);
  const fails = mayFail(expression);
  if (!fails) {
    push(right);
  } else if (lanes.isUniform(right)) {
    pushShared(right, () =>
      code.withTemporary('i32', (divisor) => {
        pushExpression(first, right);
        code.set(divisor);
        writeDivisorCheck(first, expression, divisor);
        code.get(divisor).op('i32x4.splat');
      }),
    );
  } else {
    code.withTemporaries((take) => {
      const [divisors, divisor] = [take('v128'), take('i32')];
      push(right);
      code.tee(divisors).op('i32x4.all_true', 'i32.eqz');
      code.if(() => {
        for (let lane = 0; lane < 4; lane += 1) {
          code.get(divisors).lane('i32x4.extract_lane', lane).set(divisor);
          writeDivisorCheck(threadOf(group, vector, lane), expression, divisor);
        }
      });
      code.get(divisors);
    });
  }
  code.processor(instructionOf(expression));
}

function instructionOf({ operator, type }: Division): ProcessorInstruction {
  return `i32x4.${operator === 'divide' ? 'div' : 'rem'}_${type === 'u32' ? 'u' : 's'}`;
}

/** What divides scalars, for each lane. */
function pushOneByOne(
  group: GroupContext,
  expression: Expression & { readonly kind: 'binary' },
  vector: number,
  push: (operand: Expression) => void,
): void {
  const { code, first, lanes } = group;
  const { left, right } = expression;
  code.withTemporaries((take) => {
    const [dividends, result] = [take('v128'), take('v128')];
    const [dividend, divisor] = [take('i32'), take('i32')];
    push(left);
    code.set(dividends);
    const shares = lanes.isUniform(right);
    const divisors = shares ? null : take('v128');
    if (divisors === null) {
      pushExpression(first, right);
      code.set(divisor);
    } else {
      push(right);
      code.set(divisors);
    }
    for (let lane = 0; lane < 4; lane += 1) {
      code.get(dividends).lane('i32x4.extract_lane', lane).set(dividend);
      if (divisors !== null) code.get(divisors).lane('i32x4.extract_lane', lane).set(divisor);
      if (lane > 0) code.get(result);
      writeDivision(threadOf(group, vector, lane), expression, dividend, divisor);
      if (lane === 0) code.op('i32x4.splat');
      else code.lane('i32x4.replace_lane', lane);
      code.set(result);
    }
    code.get(result);
  });
}
