// Quotients and remainders of integers in lanes.
//
// WebAssembly divides scalars alone, so lanes do so as doubles: a quotient of 32 bits that is no integer lies further from the next
// integer than the last bit of a double, so that cutting off its fraction is exact. Code for a processor has an
// instruction for them all. Who divides by zero is found before, by one test where lanes share their divisor (for all the
// vectors of a statement), else by one of each vector. Under a mask only divisions are written that cannot fail.

import type { Expression } from '../../../compiler/ir.ts';
import { mayFail } from '../../analysis/failing.ts';
import type { Local } from '../encoder/code.ts';
import type { ProcessorInstruction } from '../encoder/opcodes.ts';
import { pushExpression, writeDivisorCheck } from '../expressions.ts';
import type { GroupContext } from './group.ts';
import { writeJoinedLanes } from './pairs.ts';
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
  const { code, unit } = group;
  push(expression.left);
  pushDivisors(group, expression, vector, { push, pushShared });
  if (unit.forProcessor) {
    code.processor(instructionOf(expression));
    return;
  }
  unit.tell('divisions', 'integers that lanes divide as doubles');
  writeByDoubles(group, expression);
}

/** Pushes what is divided by, none of which is zero. */
function pushDivisors(
  group: GroupContext,
  expression: Division,
  vector: number,
  { push, pushShared }: DivisionParts,
): void {
  const { code, first, lanes } = group;
  const { right } = expression;
  if (!mayFail(expression)) {
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
}

function instructionOf({ operator, type }: Division): ProcessorInstruction {
  return `i32x4.${operator === 'divide' ? 'div' : 'rem'}_${type === 'u32' ? 'u' : 's'}`;
}

/** Pops divisors and dividends, and pushes what doubles give. */
function writeByDoubles(group: GroupContext, expression: Division): void {
  const { code, constants } = group;
  const { operator, type, right, range } = expression;
  const sign = type === 'u32' ? 'u' : 's';
  const shared = constants.of({ kind: 'convert', type: 'f64', operand: right, range });
  code.withTemporaries((take) => {
    const [dividends, divisors] = [take('v128'), take('v128')];
    code.set(divisors).set(dividends);
    const pushDoubles = (lanes: Local, pair: number) => {
      code.get(lanes);
      // A swizzle, since an engine may do the same one once for a quotient and for its remainder; shuffles it does again.
      if (pair === 1) code.get(constants.upperHalf()).engine('i8x16.swizzle');
      code.op(`f64x2.convert_low_i32x4_${sign}`);
    };
    for (const pair of [0, 1]) {
      pushDoubles(dividends, pair);
      if (shared === null) pushDoubles(divisors, pair);
      else code.get(shared);
      code.op('f64x2.div').engine(`i32x4.trunc_sat_f64x2_${sign}_zero`);
    }
    writeJoinedLanes(code);
    if (type === 'i32' && mayFail(expression)) {
      // The least integer by -1 is not the greatest, as which the doubles' 2^31 comes out, but the one behind it: it wraps.
      code
        .get(dividends)
        .get(constants.integer(-(2 ** 31)))
        .op('i32x4.eq');
      code.get(divisors).get(constants.integer(-1)).op('i32x4.eq', 'v128.and', 'i32x4.sub');
    }
    if (operator === 'remainder') {
      const quotients = take('v128');
      code.set(quotients).get(dividends).get(quotients).get(divisors).op('i32x4.mul', 'i32x4.sub');
    }
  });
}
