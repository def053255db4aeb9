// Copies that threads make one by one and that together are one.
//
// Threads that copy so many elements each, next to each other in both arrays, copy one part of the
// source to one part of the destination. An offset is taken apart into terms: one that is uniform
// is the same in all of the threads, whatever it is; of any other, each thread's value must be
// known from its rank. So the distance from one thread's part to the next one's is known, while
// where the first one begins is not.

import type { Call, Expression, Program } from '../../compiler/ir.ts';
import { isInteger } from '../../compiler/number-types.ts';
import { type FactOf, factsOf } from '../analysis/facts.ts';
import { mapExpression } from '../analysis/map.ts';

type Copy = Extract<Call, { intrinsic: 'memcpyAsync' }>;

export interface Together {
  /** The thread whose part is the first one. */
  readonly first: number;
  /** Elements of all; null: as many as the one thread copies. */
  readonly count: number | null;
  /** How many threads' parts, one behind the other. */
  readonly parts: number;
  /** Whether the parts lie in the order of their threads' ranks. */
  readonly inOrder: boolean;
}

/**
 * What the copies of these threads are together, or null where they are not known to be one. `factOf` says what
 * holds in the thread of a rank.
 */
export function together(
  copy: Copy,
  threads: readonly number[],
  program: Program,
  factOf: (rank: number) => FactOf,
): Together | null {
  const { group, destination, source, count, zeroFill } = copy;
  if (zeroFill !== null || (group.kind !== 'thread' && group.kind !== 'tile')) return null;
  const size = group.kind === 'tile' ? group.size : 1;
  const leaders = threads.filter((rank) => rank % size === 0);
  if (leaders.length * size !== threads.length) return null;
  const [only, another] = leaders;
  if (only === undefined) return null;
  if (another === undefined) return { first: only, count: null, parts: 1, inOrder: true };
  const { value } = factOf(only)(count);
  const each = Number(value);
  if (value === null || leaders.some((rank) => factOf(rank)(count).value !== value)) return null;

  const parts = leaders.map((rank) => ({
    rank,
    to: ownPart(destination.offset, program, factOf(rank)),
    from: ownPart(source.offset, program, factOf(rank)),
  }));
  parts.sort((a, b) => (a.to ?? 0) - (b.to ?? 0));
  const [{ rank: first, to, from }] = parts as [(typeof parts)[number]];
  if (to === null || from === null) return null;
  const areOne = parts.every(
    (part, n) =>
      part.to !== null && part.from !== null && part.to - to === n * each && part.from - from === n * each,
  );
  if (!areOne) return null;
  const inOrder = parts.every(({ rank }, n) => n === 0 || rank > parts[n - 1]!.rank);
  return { first, count: leaders.length * each, parts: parts.length, inOrder };
}

/** The sum of what differs from thread to thread in an integer; null where it is not known. */
function ownPart(expression: Expression, program: Program, factOf: FactOf): number | null {
  const facts = factsOf(program);
  const { isUniform } = facts.among('block');
  const part = (each: Expression): number | null => {
    if (!isInteger(each.type)) return null;
    if (isUniform(each)) return 0;
    if (each.kind === 'binary' && (each.operator === 'add' || each.operator === 'subtract')) {
      const [left, right] = [part(each.left), part(each.right)];
      if (left === null || right === null) return null;
      return each.operator === 'add' ? left + right : left - right;
    }
    const definition = each.kind === 'variable' ? facts.definitions.get(each.id) : undefined;
    if (definition !== undefined && definition.type === each.type) {
      const defined = part(definition);
      if (defined !== null) return defined;
    }
    const { least, most } = factOf(each);
    return least === most ? least : null;
  };
  return part(expression);
}

/**
 * An expression as the thread of a rank evaluates it, for whichever thread: what differs from thread to thread is
 * written as that one has it. Null where it is not known. Variables in `own` are assigned in the same way.
 */
export function asThread(
  expression: Expression,
  program: Program,
  factOf: FactOf,
  own: ReadonlySet<number> = new Set(),
): Expression | null {
  const { isUniform } = factsOf(program).among('block');
  let isKnown = true;
  const written = mapExpression(expression, {
    expression: (each) => {
      const isLeaf = each.kind === 'variable' || each.kind === 'builtin';
      if (!isLeaf || isUniform(each) || (each.kind === 'variable' && own.has(each.id))) return each;
      const { value } = factOf(each);
      isKnown &&= value !== null;
      return value === null ? each : { kind: 'constant', type: each.type, value, range: each.range };
    },
  });
  return isKnown ? written : null;
}
