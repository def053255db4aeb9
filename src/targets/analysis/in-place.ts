// Which arrays of a kernel may lie in one place: an input, and an output that is written where the input was read.
//
// Who runs a kernel over pieces of files gives such a pair the same memory, and half of a cache is enough for them. Nobody can tell
// where each thread has an element of both for itself, and reads it before it writes it. So, in a grid and blocks of one
// dimension,
// - each access of either array has the same index, which grows by one from thread to thread, and by a block's threads from
//   block to block;
// - the output is only stored to and the input only loaded from, and neither is seen as elements of another type;
// - no load of the input comes behind a store to the output, whichever way a thread takes;
// - and the kernel computes, loads and stores, and does nothing else.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { isBigint, isInteger } from '../../compiler/number-types.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { constantOf } from './elements.ts';
import { keyOf } from './expression-key.ts';
import {
  anyStatement,
  assignedBy,
  expressionsOf,
  forEachOperand,
  forEachStatement,
  listsOf,
  operandsOf,
} from './walk.ts';

/** Positions among the parameters. */
export interface InPlace {
  readonly input: number;
  readonly output: number;
}

type Access = Extract<Expression | Statement, { kind: 'load' | 'store' }>;

/** The pairs. An array is in one place with one other at a time. */
export function inPlacePairs(program: Program): readonly InPlace[] {
  const { body, parameters, block } = program;
  if (block[1] * block[2] !== 1 || anyStatement(body, doesMore)) return [];
  const definitions = new Definitions(program);
  const accesses = new Map<number, { readonly kinds: Set<Access['kind']>; readonly indices: Set<string> }>();
  const refused = new Set<number>();
  /** Of each output, the inputs that are loaded from when it may have been stored to. */
  const late = new Map<number, Set<number>>();
  const access = ({ kind, array: { space, id, as }, index }: Access): void => {
    if (space !== 'global') return;
    const { kinds, indices } = accesses.get(id) ?? { kinds: new Set(), indices: new Set() };
    accesses.set(id, { kinds: kinds.add(kind), indices: indices.add(keyOf(index)) });
    const growth = definitions.growth(index);
    if (as !== undefined || growth?.thread !== 1 || growth.block !== block[0]) refused.add(id);
    if (kind === 'store') late.set(id, late.get(id) ?? new Set());
    else for (const inputs of late.values()) inputs.add(id);
  };
  const once = (statement: Statement): void => {
    for (const expression of expressionsOf(statement))
      forEachOperand(expression, (each) => {
        if (each.kind === 'load') access(each);
      });
    if (statement.kind === 'store') access(statement);
    for (const list of listsOf(statement)) list.forEach(visit);
  };
  const visit = (statement: Statement): void => {
    once(statement);
    // What one turn stores is there when the next one loads.
    if (statement.kind === 'loop') once(statement);
  };
  for (const statement of body) {
    visit(statement);
    definitions.add(statement);
  }
  const isPair = (input: number, output: number): boolean => {
    const [from, into] = [parameters[input]!, parameters[output]!];
    if (from.kind !== 'array' || into.kind !== 'array') return false;
    const [loads, stores] = [accesses.get(input), accesses.get(output)];
    if (loads === undefined || stores === undefined || refused.has(input) || refused.has(output))
      return false;
    return (
      bytesOf(from.element) === bytesOf(into.element) &&
      !loads.kinds.has('store') &&
      !stores.kinds.has('load') &&
      new Set([...loads.indices, ...stores.indices]).size === 1 &&
      !late.get(output)!.has(input)
    );
  };
  return parameters.flatMap((_, input) =>
    parameters.flatMap((_, output) => (isPair(input, output) ? [{ input, output }] : [])),
  );
}

/** Whether a statement by itself does more than to compute, load and store. */
function doesMore(statement: Statement): boolean {
  if (statement.kind !== 'call') return statement.kind === 'region';
  return statement.intrinsic !== 'print' && statement.intrinsic !== 'assert';
}

/** By how much an integer grows from thread to thread, and from block to block. */
interface Growth {
  readonly thread: number;
  readonly block: number;
}

const none: Growth = { thread: 0, block: 0 };

/** Values of variables that each thread gives a value once, before it goes on. */
class Definitions {
  readonly #times = new Map<number, number>();
  readonly #values = new Map<number, Expression>();

  constructor({ body }: Program) {
    forEachStatement(body, (statement) => {
      const variable = assignedBy(statement);
      if (variable !== null) this.#times.set(variable, (this.#times.get(variable) ?? 0) + 1);
    });
  }

  /** A statement of the body itself, which all threads that go on have done. */
  add(statement: Statement): void {
    if (statement.kind === 'assign' && this.#times.get(statement.variable) === 1)
      this.#values.set(statement.variable, statement.value);
  }

  /** Null where it is not even, or not known. Arithmetic wraps, and so does this. */
  growth(expression: Expression): Growth | null {
    if (!isInteger(expression.type)) return null;
    switch (expression.kind) {
      case 'variable': {
        const value = this.#values.get(expression.id);
        return value === undefined ? null : this.growth(value);
      }
      case 'builtin':
        if (expression.name === 'threadRank' || expression.name === 'threadIdx.x')
          return { thread: 1, block: 0 };
        return expression.name === 'blockIdx.x' ? { thread: 0, block: 1 } : none;
      case 'convert':
        if (
          isInteger(expression.operand.type) &&
          isBigint(expression.operand.type) === isBigint(expression.type)
        )
          return this.growth(expression.operand);
        break;
      case 'load':
        return null;
      case 'binary': {
        const [left, right] = [this.growth(expression.left), this.growth(expression.right)];
        if (left === null || right === null) return null;
        if (expression.operator === 'add') return sum(left, right);
        const [a, b] = [constantOf(expression.left), constantOf(expression.right)];
        if (expression.operator === 'multiply' && a !== null) return times(right, a);
        if (expression.operator === 'multiply' && b !== null) return times(left, b);
        break;
      }
      default:
    }
    const isFixed = operandsOf(expression).every((operand) => {
      const growth = this.growth(operand);
      return growth?.thread === 0 && growth.block === 0;
    });
    return isFixed ? none : null;
  }
}

function sum(left: Growth, right: Growth): Growth {
  return { thread: left.thread + right.thread, block: left.block + right.block };
}

function times({ thread, block }: Growth, factor: number): Growth {
  return { thread: thread * factor, block: block * factor };
}
