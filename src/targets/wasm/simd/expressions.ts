// The code of an expression for four lanes: pushes a v128.
//
// A group is several vectors, so that independent chains of operations overlap.

import type { Expression, Statement, ValueType } from '../../../compiler/ir.ts';
import { partOf } from '../../../kernel/layout.ts';

import { integer } from '../../analysis/affine.ts';
import { constantOf } from '../../analysis/elements.ts';
import { keyOf } from '../../analysis/expression-key.ts';
import type { CopyCall } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { pushBuiltIn, pushExpression } from '../expressions.ts';
import { writeHalfLanes } from '../half.ts';
import { type LaneType, laneInstruction } from '../instructions.ts';
import { isDivision, isPowerOfTwoDivision } from './accesses.ts';
import { writeSplat } from './constants.ts';
import { pairsOf, pushOtherWidth, writeLaneConversion } from './conversions.ts';
import { pushDivisions } from './divisions.ts';
import { fillsLane, vectorBytes, writeLaneLoad, writeLaneStore } from './elements.ts';
import { type GroupContext, placeOf, type Shared, sharedLocal, vectorsIn } from './group.ts';
import { writeStridedStores } from './interleaved.ts';

import { vectorsOf, writeJoinedMasks, writeMaskOfPair } from './pairs.ts';
import { fusedOf, writeSelect } from './relaxed.ts';
import { type IndexParts, pushGather, writeScatter } from './separate.ts';
import { pushStrided, spansOf } from './strided.ts';

/** Pushes one vector of an expression; those of an f64 are counted in pairs. */
export function pushLanes(group: GroupContext, shared: Shared, expression: Expression, vector: number): void {
  const { code, lanes, constants, unit } = group;
  const push = (operand: Expression) => pushLanes(group, shared, operand, vector);
  if (lanes.isUniform(expression)) {
    pushUniform(group, shared, expression);
    return;
  }
  switch (expression.kind) {
    case 'variable':
      code.get(group.variable(expression.id, vector));
      return;
    case 'builtin':
      code.get(
        sharedLocal(shared, `lanes ${expression.name}`, 'v128', (local) => {
          pushBuiltIn(group.first, expression.name);
          code.op('i32x4.splat').set(local);
        }),
      );
      code.get(constants.counting(vector)).op('i32x4.add');
      return;
    case 'load': {
      const shape = lanes.shapeOf(expression);
      if (shape === 'strided') {
        pushStrided(group, shared, expression, vector);
        return;
      }
      if (shape !== 'contiguous') {
        pushGather(group, expression, vector, indexParts(group, shared, expression.index, vector));
        return;
      }
      const pushLoad = () => {
        const { address, offset } = placeOf(group, shared, expression);
        const element = group.unit.elementOf(expression.array);
        code.get(address);
        writeLaneLoad(code, element, offset + vectorBytes(element) * vector);
      };
      if (group.alike === undefined) pushLoad();
      else group.alike.push(code, shared, expression, vector, pushLoad);
      return;
    }
    case 'unary': {
      push(expression.operand);
      const instruction = laneInstruction(expression.operator, expression.type);
      if (instruction) code.op(instruction);
      return;
    }
    case 'binary':
      if (isPowerOfTwoDivision(expression)) {
        pushPowerOfTwoDivision(group, expression, push);
        return;
      }
      if (isDivision(expression)) {
        pushDivisions(group, expression, vector, {
          push,
          pushShared: (operand, write) => {
            const fill = (local: Local) => {
              write();
              code.set(local);
            };
            code.get(sharedLocal(shared, `divisor ${keyOf(operand)}`, 'v128', fill));
          },
        });
        return;
      }
      if (pushFused(group, expression, push) || pushTwice(group, expression, push)) return;
      push(expression.left);
      if (expression.operator === 'shiftLeft' || expression.operator === 'shiftRight') {
        pushExpression(group.first, expression.right);
      } else {
        push(expression.right);
      }
      code.op(laneInstruction(expression.operator, expression.type)!);
      return;
    case 'compare': {
      const { operator, left, right } = unit.does('unsigned') ? withEqual(expression) : expression;
      const instruction = laneInstruction(operator, left.type)!;
      if (left.type === 'f64') {
        for (const pair of pairsOf(vector)) {
          pushLanes(group, shared, left, pair);
          pushLanes(group, shared, right, pair);
          code.op(instruction);
        }
        writeJoinedMasks(code);
        return;
      }
      push(left);
      push(right);
      code.op(instruction);
      return;
    }
    case 'convert':
      if (vectorsOf(expression.type) !== vectorsOf(expression.operand.type)) {
        pushOtherWidth(group, expression, vector, (operand, at) => pushLanes(group, shared, operand, at));
        return;
      }
      push(expression.operand);
      if (expression.format === undefined) {
        writeLaneConversion(group, expression.operand.type as LaneType, expression.type as LaneType);
      } else if (expression.format !== 'bits') {
        writeHalfLanes(group.code, expression.format, expression.type);
      }
      return;
    case 'conditional':
      // && and || of masks.
      if (isLiteral(expression.otherwise, false)) {
        push(expression.test);
        push(expression.then);
        code.op('v128.and');
        return;
      }
      if (isLiteral(expression.then, true)) {
        push(expression.test);
        push(expression.otherwise);
        code.op('v128.or');
        return;
      }
      push(expression.then);
      push(expression.otherwise);
      if (expression.type === 'f64') {
        pushLanes(group, shared, expression.test, vector >> 1);
        writeMaskOfPair(code, vector);
      } else {
        push(expression.test);
      }
      writeSelect(code, group.unit);
      return;
    default:
      throw new Error(`lanes cannot compute a ${expression.kind}`);
  }
}

/** The same comparison of u32 by an operator that takes one instruction less: more than 1 is 2 or more. */
function withEqual(test: Expression & { readonly kind: 'compare' }): typeof test {
  const limit = test.left.type === 'u32' ? constantOf(test.right) : null;
  if (limit === null) return test;
  if (test.operator === 'greater' && limit < 2 ** 32 - 1)
    return { ...test, operator: 'greaterEqual', right: integer(test.right, limit + 1) };
  if (test.operator === 'less' && limit > 0)
    return { ...test, operator: 'lessEqual', right: integer(test.right, limit - 1) };
  return test;
}

/** Pushes a sum with a product in it by one instruction, if it may be rounded once. */
function pushFused(
  { code, unit }: GroupContext,
  expression: Expression,
  push: (operand: Expression) => void,
): boolean {
  const fused = fusedOf(unit, expression);
  if (fused === null) return false;
  for (const operand of fused.operands) push(operand);
  if (fused.negates) code.op('f32x4.neg');
  code.relaxed(fused.instruction);
  return true;
}

/** Pushes twice a float as a sum, which is the same and takes an engine less time. */
function pushTwice(
  { code }: GroupContext,
  { operator, type, left, right }: Expression & { readonly kind: 'binary' },
  push: (operand: Expression) => void,
): boolean {
  if (operator !== 'multiply' || (type !== 'f32' && type !== 'f64')) return false;
  const [factor, other] = left.kind === 'constant' ? [left, right] : [right, left];
  if (constantOf(factor) !== 2) return false;
  push(other);
  code.withTemporary('v128', (value) => void code.tee(value).get(value));
  code.op(type === 'f32' ? 'f32x4.add' : 'f64x2.add');
  return true;
}

function isLiteral(expression: Expression, value: boolean): boolean {
  return expression.kind === 'constant' && expression.value === value;
}

/** A value that all lanes share. */
function pushUniform(group: GroupContext, shared: Shared, expression: Expression): void {
  const constant = group.constants.of(expression);
  if (constant !== null) {
    group.code.get(constant);
    return;
  }
  // What has less than 4 bytes has to be widened before it is spread.
  const part =
    expression.kind === 'load' ? partOf(group.unit.elementOf(expression.array), expression.component) : null;
  const location = part !== null && fillsLane(part.element) ? group.locate(expression) : null;
  const local = sharedLocal(shared, `splat ${keyOf(expression)}`, 'v128', (filled) => {
    if (location === null) {
      pushExpression(group.first, expression);
      writeSplat(group.code, expression.type as LaneType);
    } else {
      group.code.get(location.address).memory('v128.load32_splat', location.offset + part!.offset);
    }
    group.code.set(filled);
  });
  group.code.get(local);
}

/** What lanes that access elements one by one need of their indices. */
export function indexParts(
  group: GroupContext,
  shared: Shared,
  index: Expression,
  vector: number,
): IndexParts {
  return {
    push: () => pushLanes(group, shared, index, vector),
    pushOther: (expression) => pushLanes(group, shared, expression, vector),
    locate: (load) => placeOf(group, shared, load),
  };
}

/** Truncating division and remainder by 2^k, by shifts. */
function pushPowerOfTwoDivision(
  { code, constants }: GroupContext,
  expression: Expression & { readonly kind: 'binary' },
  push: (operand: Expression) => void,
): void {
  const divisor = constantOf(expression.right)!;
  const shift = Math.log2(divisor);
  const divides = expression.operator === 'divide';
  push(expression.left);
  if (expression.type === 'u32') {
    if (divides) code.i32(shift).op('i32x4.shr_u');
    else code.get(constants.integer(divisor - 1)).op('v128.and');
    return;
  }
  // A negative dividend is moved up by divisor - 1, so that shifting rounds towards zero.
  code.withTemporary('v128', (dividend) => {
    code.withTemporary('v128', (bias) => {
      code
        .tee(dividend)
        .i32(31)
        .op('i32x4.shr_s')
        .get(constants.integer(divisor - 1));
      code.op('v128.and').tee(bias).get(dividend).op('i32x4.add');
      if (divides) code.i32(shift).op('i32x4.shr_s');
      else
        code
          .get(constants.integer(divisor - 1))
          .op('v128.and')
          .get(bias)
          .op('i32x4.sub');
    });
  });
}

/** Stores a vector of a statement that all lanes carry out. */
export function writeVectorStore(
  group: GroupContext,
  shared: Shared,
  statement: Statement & { readonly kind: 'store' },
  vector: number,
): void {
  const { index, value } = statement;
  const shape = group.lanes.shapeOf(statement);
  if (shape === 'strided') {
    writeStridedStores(group, shared, [statement], vector, (each) => pushLanes(group, shared, each, vector));
    return;
  }
  if (shape !== 'contiguous') {
    writeScatter(group, statement, vector, indexParts(group, shared, index, vector), () =>
      pushLanes(group, shared, value, vector),
    );
    return;
  }
  const { address, offset } = placeOf(group, shared, statement);
  const element = group.unit.elementOf(statement.array);
  group.code.get(address);
  pushLanes(group, shared, value, vector);
  writeLaneStore(group.code, element, offset + vectorBytes(element) * vector);
}

/** Writes a vector of a copy in which each thread copies one element. */
export function writeVectorCopy(
  { code, locate }: GroupContext,
  { destination, source }: CopyCall,
  vector: number,
): void {
  const to = locate(destination)!;
  const from = locate(source)!;
  code
    .get(to.address)
    .get(from.address)
    .memory('v128.load', from.offset + 16 * vector, 4);
  code.memory('v128.store', to.offset + 16 * vector, 4);
}

/**
 * Writes statements for each vector of a group of a type's values; `shared` is what they share. All lanes compute all that
 * is said to be read.
 */
export function eachVectorSharing(
  group: GroupContext,
  reads: readonly Expression[],
  write: (vector: number, shared: Shared) => void,
  type: ValueType = 'i32',
): void {
  group.code.withTemporaries((take) => {
    const locals = new Map<string, Local>();
    const shared: Shared = { locals, take, spans: spansOf(group, { locals, take }, reads) };
    for (const vector of vectorsIn(group, vectorsOf(type))) {
      group.unit.mark(group.code);
      write(vector, shared);
    }
    group.unit.mark(group.code);
  });
}
