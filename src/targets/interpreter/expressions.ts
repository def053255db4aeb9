// Expressions, compiled once to closures that a thread evaluates.

import type { Value } from '../../compiler/arithmetic.ts';
import {
  type Computation,
  compileEvaluation,
  type Evaluate as EvaluateIn,
  type Leaf,
  operationOf,
} from '../../compiler/evaluate.ts';
import type { ArrayReference, BinaryOperator, BuiltIn, Expression, Program } from '../../compiler/ir.ts';
import { brokenRule, divisionByZero, outOfRange } from './fault.ts';
import { type Elements, readElement, viewOf } from './memory.ts';
import type { ObservedProgram, Observer } from './observer.ts';
import type { Thread } from './thread.ts';

export type Evaluate = EvaluateIn<Thread>;

export function compileExpression(program: ObservedProgram, expression: Expression): Evaluate {
  // A running thread knows every leaf.
  return compileEvaluation<Thread>(expression, {
    leaf: (leaf) => compileLeaf(program, leaf),
    operation: (computation) => watched(program, computation),
  })!;
}

function compileLeaf(program: ObservedProgram, leaf: Leaf): Evaluate {
  switch (leaf.kind) {
    case 'variable': {
      const { id, range } = leaf;
      if (program.level === undefined) return (thread) => thread.variables[id]!;
      return (thread) => {
        const value = thread.variables[id];
        if (value !== undefined) return value;
        throw brokenRule(thread, range, `\`${program.variables[id]!.name}\` is read and has no value here`);
      };
    }
    case 'scalar': {
      const { id } = leaf;
      return (thread) => thread.block.launch.scalars[id]!;
    }
    case 'builtin':
      return ofIndexType(program, builtIn(program, leaf.name));
    case 'length': {
      const array = arrayOf(leaf.array);
      return ofIndexType(program, (thread) => array(thread).length);
    }
    case 'load': {
      const { range, component = 0 } = leaf;
      const array = arrayOf(leaf.array);
      const index = compileIndex(program, leaf.index);
      const observer = observerOf(program, leaf.array);
      const inside = compileBounds(program, leaf, 'read');
      if (observer === undefined && inside === null) {
        return (thread) => readElement(thread, array(thread), index(thread), component, range);
      }
      return (thread) => {
        inside?.(thread);
        const position = index(thread);
        observer?.read(thread, array(thread), position, range, component);
        return readElement(thread, array(thread), position, component, range);
      };
    }
    default:
      return leaf satisfies never;
  }
}

/** A computation of which the thread or the observer hears: an integer division, and what may not wrap. */
function watched(
  program: ObservedProgram,
  computation: Computation,
): ((thread: Thread, first: Value, second: Value) => Value) | null {
  if (computation.kind !== 'binary') return null;
  const { operator, type, range } = computation;
  const operation = operationOf(computation);
  if (program.exact?.has(computation)) return exactly(program, computation, operation);
  const divides = (operator === 'divide' || operator === 'remainder') && type !== 'f32' && type !== 'f64';
  if (!divides) return null;
  return (thread, dividend, divisor) => {
    if (!divisor) throw divisionByZero(thread, range);
    return operation(dividend, divisor);
  };
}

/** 32-bit arithmetic of which the observer hears when it has wrapped. */
function exactly(
  { observer }: ObservedProgram,
  computation: Computation & { readonly kind: 'binary' },
  operation: (...operands: Value[]) => Value,
): (thread: Thread, first: Value, second: Value) => Value {
  const exact = exactOperations[computation.operator];
  return (thread, first, second) => {
    const actual = operation(first, second) as number;
    const expected = exact?.(first as number, second as number) ?? actual;
    if (expected !== actual) observer?.wrapped(thread, computation, expected, actual);
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

/** Tests the dimensions of an access; null where it has none of its own. */
export function compileBounds(
  program: ObservedProgram,
  { array: reference, bounds, range }: Pick<Leaf & { kind: 'load' }, 'array' | 'bounds' | 'range'>,
  access: 'read' | 'write',
): ((thread: Thread) => void) | null {
  if (bounds === undefined) return null;
  const array = arrayOf(reference);
  const values = bounds.map((each) => compileIndex(program, each));
  return (thread) => {
    for (let at = 0; at < values.length; at += 2) {
      const [index, extent] = [values[at]!(thread), values[at + 1]!(thread)];
      if (index >= 0 && index < extent) continue;
      const { name } = array(thread);
      const dimension = at / 2 + 1;
      throw outOfRange(thread, { range, array: name, access, index, count: 1, length: extent, dimension });
    }
  };
}

/** Who is notified of accesses to an array: not of those to words in which threads count. */
export function observerOf(
  { observer, sharedArrays }: ObservedProgram,
  { space, id }: ArrayReference,
): Observer | undefined {
  return space === 'shared' && sharedArrays[id]!.counts ? undefined : observer;
}

/** The array that a reference means for a thread. */
export function arrayOf({ space, id, as }: ArrayReference): (thread: Thread) => Elements {
  if (as !== undefined) {
    const whole = arrayOf({ space, id });
    return (thread) => viewOf(whole(thread), as);
  }
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

function builtIn({ ranks }: ObservedProgram, name: BuiltIn): (thread: Thread) => number {
  switch (name) {
    case 'threadRank':
      if (ranks !== undefined) return (thread) => (thread.rank - ranks.first) / ranks.stride;
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
