// Expressions, compiled once to closures that a thread evaluates.

import {
  binaryOperation,
  compareOperation,
  convertOperation,
  mathOperation,
  unaryOperation,
  type Value,
} from '../../compiler/arithmetic.ts';
import type { ArrayReference, BinaryOperator, BuiltIn, Expression, Program } from '../../compiler/ir.ts';
import { brokenRule, divisionByZero } from './fault.ts';
import { type Elements, readElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import type { Thread } from './thread.ts';

export type Evaluate = (thread: Thread) => Value;

export function compileExpression(program: ObservedProgram, expression: Expression): Evaluate {
  const compile = (operand: Expression) => compileExpression(program, operand);
  switch (expression.kind) {
    case 'constant': {
      const { value } = expression;
      return () => value;
    }
    case 'variable': {
      const { id, range } = expression;
      if (program.level !== 'block') return (thread) => thread.variables[id]!;
      return (thread) => {
        const value = thread.variables[id];
        if (value !== undefined) return value;
        throw brokenRule(thread, range, `\`${program.variables[id]!.name}\` is read and has no value here`);
      };
    }
    case 'scalar': {
      const { id } = expression;
      return (thread) => thread.block.launch.scalars[id]!;
    }
    case 'builtin':
      return ofIndexType(program, builtIn(expression.name));
    case 'length': {
      const array = arrayOf(expression.array);
      return ofIndexType(program, (thread) => array(thread).length);
    }
    case 'load': {
      const { range, component = 0 } = expression;
      const array = arrayOf(expression.array);
      const index = compileIndex(program, expression.index);
      const { observer } = program;
      if (observer === undefined) {
        return (thread) => readElement(thread, array(thread), index(thread), component, range);
      }
      return (thread) => {
        const position = index(thread);
        observer.read(thread, array(thread), position, range, component);
        return readElement(thread, array(thread), position, component, range);
      };
    }
    case 'unary': {
      const operation = unaryOperation(expression.operator, expression.type);
      const operand = compile(expression.operand);
      return (thread) => operation(operand(thread));
    }
    case 'binary':
      return compileBinary(program, expression);
    case 'compare': {
      const operation = compareOperation(expression.operator);
      const left = compile(expression.left);
      const right = compile(expression.right);
      return (thread) => operation(left(thread), right(thread));
    }
    case 'convert': {
      const operation = convertOperation(expression.operand.type, expression.type, expression.format);
      const operand = compile(expression.operand);
      return (thread) => operation(operand(thread));
    }
    case 'conditional': {
      const test = compile(expression.test);
      const then = compile(expression.then);
      const otherwise = compile(expression.otherwise);
      return (thread) => (test(thread) ? then(thread) : otherwise(thread));
    }
    case 'math': {
      const operation = mathOperation(expression.function, expression.type as 'f32' | 'f64');
      const operands = expression.operands.map(compile);
      return (thread) => operation(...operands.map((operand) => operand(thread) as number));
    }
    default:
      return expression satisfies never;
  }
}

function compileBinary(
  program: ObservedProgram,
  expression: Expression & { readonly kind: 'binary' },
): Evaluate {
  const { operator, type, range } = expression;
  const operation = binaryOperation(operator, type);
  const left = compileExpression(program, expression.left);
  const right = compileExpression(program, expression.right);
  const divides = (operator === 'divide' || operator === 'remainder') && type !== 'f32' && type !== 'f64';
  if (program.exact?.has(expression)) return compileExact(program, expression, left, right);
  if (!divides) return (thread) => operation(left(thread), right(thread));
  return (thread) => {
    const dividend = left(thread);
    const divisor = right(thread);
    if (!divisor) throw divisionByZero(thread, range);
    return operation(dividend, divisor);
  };
}

/** 32-bit arithmetic of which the observer hears when it has wrapped. */
function compileExact(
  { observer }: ObservedProgram,
  expression: Expression & { readonly kind: 'binary' },
  left: Evaluate,
  right: Evaluate,
): Evaluate {
  const operation = binaryOperation(expression.operator, expression.type);
  const exact = exactOperations[expression.operator];
  return (thread) => {
    const first = left(thread) as number;
    const second = right(thread) as number;
    const actual = operation(first, second) as number;
    const expected = exact?.(first, second) ?? actual;
    if (expected !== actual) observer?.wrapped(thread, expression, expected, actual);
    return actual;
  };
}

/** Of two integers of 32 bits: exact below 2^53, and beyond it never equal to an integer of 32 bits. */
const exactOperations: Readonly<Partial<Record<BinaryOperator, (left: number, right: number) => number>>> = {
  add: (left, right) => left + right,
  subtract: (left, right) => left - right,
  multiply: (left, right) => left * right,
  shiftLeft: (left, right) => left * 2 ** (right & 31),
};

/** A position or count, as a number whatever the index type. Beyond 2^53 it is not exact, and out of every range. */
export function compileIndex(program: ObservedProgram, expression: Expression): (thread: Thread) => number {
  const evaluate = compileExpression(program, expression);
  return program.indexType === 'i64'
    ? (thread) => Number(evaluate(thread))
    : (thread) => evaluate(thread) as number;
}

/** The array that a reference means for a thread. */
export function arrayOf({ space, id }: ArrayReference): (thread: Thread) => Elements {
  switch (space) {
    case 'global':
      return (thread) => thread.block.launch.arrays[id]!;
    case 'shared':
      return (thread) => thread.block.launch.sharedArrays[id]!;
    case 'local':
      return (thread) => thread.localArrays[id]!;
    default:
      return space satisfies never;
  }
}

function ofIndexType(program: Program, number: (thread: Thread) => number): Evaluate {
  return program.indexType === 'i64' ? (thread) => BigInt(number(thread)) : number;
}

function builtIn(name: BuiltIn): (thread: Thread) => number {
  switch (name) {
    case 'threadRank':
      return (thread) => thread.rank;
    case 'threadIdx.x':
      return (thread) => thread.index[0];
    case 'threadIdx.y':
      return (thread) => thread.index[1];
    case 'threadIdx.z':
      return (thread) => thread.index[2];
    case 'blockIdx.x':
      return (thread) => thread.block.index[0];
    case 'blockIdx.y':
      return (thread) => thread.block.index[1];
    case 'blockIdx.z':
      return (thread) => thread.block.index[2];
    case 'gridDim.x':
      return (thread) => thread.block.launch.grid[0];
    case 'gridDim.y':
      return (thread) => thread.block.launch.grid[1];
    case 'gridDim.z':
      return (thread) => thread.block.launch.grid[2];
    default:
      return name satisfies never;
  }
}
