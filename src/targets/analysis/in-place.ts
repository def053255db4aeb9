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
import { isBigint } from '../../compiler/number-types.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { keyOf } from './expression-key.ts';
import { factsOf } from './facts.ts';
import { mapExpression } from './map.ts';
import { type Spread, spreadOf } from './spread.ts';
import { anyOperand, anyStatement, expressionsOf, forEachOperand, listsOf } from './walk.ts';

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
  const spread = spreadInGrid(program);
  const isOwn = (index: Expression): boolean => {
    const found = spread(index);
    if (found === null || found.multiples.length > 0) return false;
    return found.steps[0] === 1 && found.steps[1] === block[0];
  };
  const accesses = new Map<number, { readonly kinds: Set<Access['kind']>; readonly indices: Set<string> }>();
  const refused = new Set<number>();
  /** Of each output, the inputs that are loaded from when it may have been stored to. */
  const late = new Map<number, Set<number>>();
  const access = ({ kind, array: { space, id, as }, index }: Access): void => {
    if (space !== 'global') return;
    const { kinds, indices } = accesses.get(id) ?? { kinds: new Set(), indices: new Set() };
    accesses.set(id, { kinds: kinds.add(kind), indices: indices.add(keyOf(index)) });
    if (as !== undefined || !isOwn(index)) refused.add(id);
    if (kind === 'store') late.set(id, late.get(id) ?? new Set());
    else for (const inputs of late.values()) inputs.add(id);
  };
  const visit = (statement: Statement, isAgain: boolean): void => {
    for (const expression of expressionsOf(statement))
      forEachOperand(expression, (each) => {
        if (each.kind === 'load') access(each);
      });
    if (statement.kind === 'store') access(statement);
    for (const list of listsOf(statement)) for (const each of list) visit(each, isAgain);
    // What one turn stores is there when the next one loads; the second time that holds for loops inside it, too.
    if (statement.kind === 'loop' && !isAgain) visit(statement, true);
  };
  for (const statement of body) visit(statement, false);
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

/** How an index differs among the threads of a grid of one dimension: along x inside a block, along y from block to block. */
function spreadInGrid(program: Program): (index: Expression) => Spread | null {
  const { definitions } = factsOf(program);
  const known = new Map<number, Spread | null>();
  const ofVariable = (id: number): Spread | null => {
    // What is never reached may be defined by itself.
    if (!known.has(id)) known.set(id, null).set(id, of(definitions.get(id)));
    return known.get(id)!;
  };
  const of = (expression: Expression | undefined): Spread | null =>
    expression === undefined
      ? null
      : spreadOf(mapExpression(expression, { expression: inGrid }), program.block, isFixed, ofVariable);
  return of;
}

/** A thread's place in the grid as if it were one in a block. */
function inGrid(expression: Expression): Expression {
  if (expression.kind !== 'builtin') return expression;
  const { name, type, range } = expression;
  if (name === 'threadRank') return { ...expression, name: 'threadIdx.x' };
  if (name === 'blockIdx.x') return { ...expression, name: 'threadIdx.y' };
  const isZero = name === 'threadIdx.y' || name === 'threadIdx.z';
  return isZero ? { kind: 'constant', value: isBigint(type) ? 0n : 0, type, range } : expression;
}

/** Whether it is the same for all threads of the grid. */
function isFixed(expression: Expression): boolean {
  return !anyOperand(
    expression,
    (each) =>
      each.kind === 'variable' ||
      each.kind === 'load' ||
      (each.kind === 'builtin' && each.name.startsWith('threadIdx.')),
  );
}
