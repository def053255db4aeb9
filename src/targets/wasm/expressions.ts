// The code of an expression: pushes its value.

import type { BuiltIn, Expression } from '../../compiler/ir.ts';
import { mayFail } from '../analysis/failing.ts';
import type { Local } from './encoder/code.ts';
import { writeHalfConversion } from './half.ts';
import {
  pushElementAddress,
  pushWord,
  withIndex,
  writeBoundsCheck,
  writeCheck,
  writeLoad,
} from './memory.ts';
import { writeBinary, writeCompare, writeConversion, writeUnary } from './operators.ts';
import type { ThreadContext } from './thread-context.ts';
import { wasmType } from './types.ts';

/** Pushes an expression's value. */
export function pushExpression(context: ThreadContext, expression: Expression): void {
  const { code, unit, launch, frame } = context;
  const cached = frame.cached(expression);
  if (cached !== null) {
    code.get(cached);
    return;
  }
  switch (expression.kind) {
    case 'constant':
      pushConstant(context, expression);
      return;
    case 'variable':
      frame.readVariable(expression.id);
      return;
    case 'scalar':
      code.get(launch.scalar(expression.id));
      return;
    case 'builtin':
      pushBuiltIn(context, expression.name);
      if (expression.type === 'i64') code.op('i64.extend_i32_u');
      return;
    case 'length':
      launch.pushLength(expression.array);
      return;
    case 'load':
      pushLoad(context, expression);
      return;
    case 'unary':
      pushExpression(context, expression.operand);
      writeUnary(code, expression.operator, expression.type);
      return;
    case 'binary':
      if (mayFail(expression)) {
        pushDivision(context, expression);
        return;
      }
      pushExpression(context, expression.left);
      pushExpression(context, expression.right);
      writeBinary(unit, code, expression.operator, expression.type);
      return;
    case 'compare':
      pushExpression(context, expression.left);
      pushExpression(context, expression.right);
      writeCompare(code, expression.operator, expression.left.type);
      return;
    case 'convert':
      pushExpression(context, expression.operand);
      if (expression.format === undefined) {
        writeConversion(unit, code, expression.operand.type, expression.type);
      } else if (expression.format === 'bits') {
        code.op(reinterpretations[wasmType(expression.type)]);
      } else {
        writeHalfConversion(code, expression.format, expression.type);
      }
      return;
    case 'conditional':
      pushExpression(context, expression.test);
      code.if(
        () => pushExpression(context, expression.then),
        () => pushExpression(context, expression.otherwise),
        wasmType(expression.type),
      );
      return;
    case 'math':
      for (const operand of expression.operands) {
        pushExpression(context, operand);
        writeConversion(unit, code, operand.type, 'f64');
      }
      code.call(unit.math(expression.function, expression.operands.length));
      writeConversion(unit, code, 'f64', expression.type);
      return;
    default:
      expression satisfies never;
  }
}

function pushLoad(context: ThreadContext, expression: Expression & { readonly kind: 'load' }): void {
  const { array } = expression;
  if (context.unit.isCounts(array)) {
    const offset = pushWord(context, array, expression.index, pushExpression);
    writeLoad(context, expression, offset);
    return;
  }
  const location = context.frame.located?.(expression) ?? null;
  if (location !== null) {
    context.code.get(location.address);
    writeLoad(context, expression, location.offset);
    return;
  }
  const pushIndex = () => pushExpression(context, expression.index);
  withIndex(context, pushIndex, (index) => {
    writeBoundsCheck(context, expression, 'read', (each) => pushExpression(context, each));
    writeCheck(context, expression, index, 'read');
    pushElementAddress(context, array, index);
    writeLoad(context, expression);
  });
}

function pushConstant(
  { code }: ThreadContext,
  { value, type }: Expression & { readonly kind: 'constant' },
): void {
  switch (wasmType(type)) {
    case 'i32':
      code.i32(Number(value));
      return;
    case 'i64':
      code.i64(BigInt(value));
      return;
    case 'f32':
      code.f32(Number(value));
      return;
    case 'f64':
      code.f64(Number(value));
  }
}

/** Pushes a built-in value as an i32. */
export function pushBuiltIn({ code, unit, launch, frame }: ThreadContext, name: BuiltIn): void {
  const [x, y, z] = unit.program.block;
  switch (name) {
    case 'threadRank':
      frame.pushRank();
      return;
    case 'threadIdx.x':
      if (x === 1) {
        code.i32(0);
        return;
      }
      frame.pushRank();
      if (y * z > 1) code.i32(x).op('i32.rem_u');
      return;
    case 'threadIdx.y':
      if (y === 1) {
        code.i32(0);
        return;
      }
      frame.pushRank();
      code.i32(x).op('i32.div_u');
      if (z > 1) code.i32(y).op('i32.rem_u');
      return;
    case 'threadIdx.z':
      if (z === 1) {
        code.i32(0);
        return;
      }
      frame.pushRank();
      code.i32(x * y).op('i32.div_u');
      return;
    case 'blockIdx.x':
      code.get(launch.blockIdx(0));
      return;
    case 'blockIdx.y':
      code.get(launch.blockIdx(1));
      return;
    case 'blockIdx.z':
      code.get(launch.blockIdx(2));
      return;
    case 'gridDim.x':
      code.get(launch.gridDim(0));
      return;
    case 'gridDim.y':
      code.get(launch.gridDim(1));
      return;
    case 'gridDim.z':
      code.get(launch.gridDim(2));
      return;
    default:
      name satisfies never;
  }
}

type Binary = Expression & { readonly kind: 'binary' };

function pushDivision(context: ThreadContext, expression: Binary): void {
  const { code } = context;
  const { type } = expression;
  const wasm = type === 'i64' || type === 'u64' ? 'i64' : 'i32';
  code.withTemporary(wasm, (dividend) => {
    code.withTemporary(wasm, (divisor) => {
      pushExpression(context, expression.left);
      code.set(dividend);
      pushExpression(context, expression.right);
      code.set(divisor);
      writeDivision(context, expression, dividend, divisor);
    });
  });
}

/** Pushes a quotient or remainder of integers that locals hold; a divisor of 0 stops the thread. */
export function writeDivision(
  context: ThreadContext,
  expression: Binary,
  dividend: Local,
  divisor: Local,
): void {
  const { code, unit } = context;
  const { operator, type } = expression;
  const wasm = type === 'i64' || type === 'u64' ? 'i64' : 'i32';
  const literal = (value: number) => (wasm === 'i32' ? code.i32(value) : code.i64(BigInt(value)));
  const divide = () => {
    code.get(dividend).get(divisor);
    writeBinary(unit, code, operator, type);
  };
  if (!mayFail(expression)) {
    divide();
    return;
  }
  writeDivisorCheck(context, expression, divisor);
  if (operator === 'divide' && (type === 'i32' || type === 'i64')) {
    // The smallest integer by -1 wraps to itself, where the instruction would trap.
    code.get(divisor);
    literal(-1).op(`${wasm}.eq`);
    code.if(() => literal(0).get(dividend).op(`${wasm}.sub`), divide, wasm);
  } else {
    divide();
  }
}

/** Writes what a thread does that divides by zero. */
export function writeDivisorCheck(
  { code, unit, launch, frame }: ThreadContext,
  { type, range }: Binary,
  divisor: Local,
): void {
  code
    .get(divisor)
    .op(type === 'i64' || type === 'u64' ? 'i64.eqz' : 'i32.eqz')
    .if(() => {
      code.i32(unit.site(range));
      frame.pushRank();
      code.get(launch.block).call(unit.host('fault', 'divisionByZero'));
      frame.fail();
    });
}

const reinterpretations = {
  i32: 'i32.reinterpret_f32',
  i64: 'i64.reinterpret_f64',
  f32: 'f32.reinterpret_i32',
  f64: 'f64.reinterpret_i64',
} as const;
