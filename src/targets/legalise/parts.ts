// What is left of statements for threads that pass the same tests: their part of a program.

import type { Expression, Statement } from '../../compiler/ir.ts';
import {
  conjunctsOf,
  incrementOf,
  isInvariant,
  isVariable,
  type Loop,
  mayLeave,
} from '../analysis/counters.ts';
import { isSame } from '../analysis/expression-key.ts';
import { canFail } from '../analysis/failing.ts';
import { mapExpression } from '../analysis/map.ts';
import { expressionsOf, forEachOperand, forEachStatement } from '../analysis/walk.ts';
import { readsOf, startOf } from './lockstep.ts';
import { countersOf } from './rotate.ts';

/** The statements without the branches that these threads never take: `passes` says where a test is known. */
export function partOf(
  statements: readonly Statement[],
  passes: (test: Expression) => boolean | null,
): readonly Statement[] {
  const list = (inner: readonly Statement[]) => partOf(inner, passes);
  return statements.flatMap((statement): readonly Statement[] => {
    switch (statement.kind) {
      case 'if': {
        const known = passes(statement.test);
        if (known !== null) return list(known ? statement.then : statement.otherwise);
        return [{ ...statement, then: list(statement.then), otherwise: list(statement.otherwise) }];
      }
      case 'loop':
        return [{ ...statement, body: list(statement.body), update: list(statement.update) }];
      case 'block':
        return [{ ...statement, body: list(statement.body) }];
      default:
        return [statement];
    }
  });
}

/**
 * The statements without those whose only effect are values that nothing reads, there or `afterwards`. With `keepsFaults`, what
 * may fail stays.
 */
export function withoutDead(
  statements: readonly Statement[],
  { afterwards = [] as readonly Statement[], keepsFaults = false } = {},
): readonly Statement[] {
  let rest = statements;
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    rest = withoutUnread(rest, readersOf([...rest, ...afterwards]), keepsFaults);
    now = 0;
    forEachStatement(rest, () => {
      now += 1;
    });
  }
  return rest;
}

/** How often each variable is read, but for what an assignment reads of the variable that it assigns. */
function readersOf(statements: readonly Statement[]): ReadonlyMap<number, number> {
  const reads = new Map<number, number>();
  forEachStatement(statements, (statement) => {
    const own = statement.kind === 'assign' ? statement.variable : null;
    for (const expression of expressionsOf(statement)) {
      forEachOperand(expression, (each) => {
        if (each.kind === 'variable' && each.id !== own) reads.set(each.id, (reads.get(each.id) ?? 0) + 1);
      });
    }
  });
  return reads;
}

function withoutUnread(
  statements: readonly Statement[],
  reads: ReadonlyMap<number, number>,
  keepsFaults: boolean,
): readonly Statement[] {
  const list = (inner: readonly Statement[]) => withoutUnread(inner, reads, keepsFaults);
  return statements.flatMap((statement): readonly Statement[] => {
    switch (statement.kind) {
      case 'assign':
        return reads.has(statement.variable) || (keepsFaults && canFail(statement)) ? [statement] : [];
      case 'if': {
        const then = list(statement.then);
        const otherwise = list(statement.otherwise);
        const isEmpty = then.length + otherwise.length === 0;
        if (isEmpty && !(keepsFaults && canFail({ ...statement, then, otherwise }))) return [];
        return [{ ...statement, then, otherwise }];
      }
      case 'loop': {
        const loop = { ...statement, body: list(statement.body) };
        return isIdle(loop, reads) ? [] : [loop];
      }
      case 'block':
        return [{ ...statement, body: list(statement.body) }];
      default:
        return [statement];
    }
  });
}

/** Whether a loop does nothing but count, to an end that it reaches, for nobody. */
function isIdle(loop: Loop, reads: ReadonlyMap<number, number>): boolean {
  const counter = incrementOf(loop.update);
  if (loop.body.length > 0 || loop.test === null || counter === null) return false;
  if ((reads.get(counter) ?? 0) !== readsOf(counter, [{ ...loop, update: [] }])) return false;
  const assigned = new Set([counter]);
  return conjunctsOf(loop.test).some(
    (test) =>
      test.kind === 'compare' &&
      test.operator === 'less' &&
      isVariable(test.left, counter) &&
      isInvariant(test.right, assigned),
  );
}

/**
 * The statements with each loop of which nothing is left but to fill a pipeline as the loop that fills it:
 * `for (c; c < n; ++c) for (; f < n && f < c + S; ++f) fill` is `for (; f < n; ++f) fill` where c and f keep step
 * and nothing else reads c: turn by turn, f comes to the end with c.
 */
export function flattened(
  statements: readonly Statement[],
  before: readonly Statement[],
): readonly Statement[] {
  return statements.map((statement, position): Statement => {
    const [fill] = statement.kind === 'loop' && statement.body.length === 1 ? statement.body : [];
    if (statement.kind !== 'loop' || fill?.kind !== 'loop') return statement;
    const step = stepOf(statement, [...before, ...statements.slice(0, position)], { once: true });
    if (step === null) return statement;
    const isOwn =
      readsOf(step.used, statements) === readsOf(step.used, [statement]) && readsOf(step.used, [fill]) === 1;
    return isOwn ? { ...fill, test: step.bound } : statement;
  });
}

/** What two loops keep step by: `for (c; c < n; ++c) { for (; f < n && f < c + S; ++f) … }`, begun together. */
export interface Step {
  /** c. */
  readonly used: number;
  /** f < n. */
  readonly bound: Expression;
  /** S, one at least. */
  readonly capacity: number;
}

/** The step of a loop whose first statement is a loop that runs ahead; null where they may not keep it. */
export function stepOf(outer: Loop, before: readonly Statement[], given = { once: false }): Step | null {
  const [fill] = outer.body;
  if (fill?.kind !== 'loop' || mayLeave(outer)) return null;
  const counters = countersOf(outer, fill, given);
  if (counters === null) return null;
  const { used, filled, bounds, capacities } = counters;
  const [bound, secondBound] = bounds;
  const [capacity, secondCapacity] = capacities;
  if (bound === undefined || secondBound !== undefined || secondCapacity !== undefined) return null;
  if (capacity?.kind !== 'constant' || Number(capacity.value) < 1) return null;
  const start = startOf(used, before);
  if (start === null || start !== startOf(filled, before)) return null;
  if (!isSame(outer.test!, renamed(bound, filled, used))) return null;
  return { used, bound, capacity: Number(capacity.value) };
}

function renamed(expression: Expression, from: number, to: number): Expression {
  return mapExpression(expression, {
    expression: (mapped) =>
      mapped.kind === 'variable' && mapped.id === from ? { ...mapped, id: to } : mapped,
  });
}
