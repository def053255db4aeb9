// Rotates the loop that keeps a pipeline full, so that its steady state has no inner loop.
//
//   for (; c < n; ++c) {                         if (c < n) {
//     for (; f < n && f < c + S; ++f) fill;        for (; f < n && f < c + S; ++f) fill;
//     use;                                   →     for (;;) {
//   }                                                use; ++c;
//                                                    if (!(c < n)) break;
//                                                    if (f < n && f < c + S) { fill; ++f; }
//                                                  }
//                                                }
//
// The operations and their order are the same. It may be done because the inner loop runs at most
// once in every turn after the first: it ended with f >= c + S or with another of its conditions
// false, which stays false as f only grows; c grows by one, so one more fill makes f >= c + S again.
// On an H200 this alone takes a light kernel from 0.83 of the device copy to 0.94.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import {
  type Comparison,
  conjunctsOf,
  incrementOf,
  isBound,
  isInvariant,
  isVariable,
  type Loop,
  mayLeave,
} from '../analysis/counters.ts';
import { assignedBy, forEachStatement } from '../analysis/walk.ts';
import type { Lowering } from './decisions.ts';
import { stepTogether } from './lockstep.ts';
import { copyStatements, type LoopSchedule, newLabels } from './loop-schedule.ts';
import { negation } from './loops.ts';

/** What the rotation of one loop depends on beside the loop. */
export interface Surroundings {
  readonly program: Program;
  readonly schedule: LoopSchedule;
  readonly lowerings: readonly Lowering[];
  /** Whether it is proven that copies are all that needs to be ordered (only-copies.ts). */
  readonly onlyCopiesMeet: () => boolean;
  readonly newLabel: () => number;
  /** Whether the statements stand in a loop. */
  readonly repeated: boolean;
}

/** The two counters of an outer loop and the loop inside it that runs ahead. */
export interface Counters {
  /** The variable that counts what is used, and the one that counts what is filled. */
  readonly used: number;
  readonly filled: number;
  /** The inner loop's conditions that do not change while the outer loop runs. */
  readonly bounds: readonly Comparison[];
  /** How far the one may be ahead of the other, for each condition that says so. */
  readonly capacities: readonly Expression[];
}

/** The program with every such loop rotated; what becomes known of its pipelines is added to `schedule`. */
export function rotateFillLoops(
  program: Program,
  lowerings: readonly Lowering[],
  schedule: LoopSchedule,
  onlyCopiesMeet: () => boolean,
): Program {
  const around = {
    program,
    schedule,
    lowerings,
    onlyCopiesMeet,
    newLabel: newLabels(program.body),
    repeated: false,
  };
  return { ...program, body: rotateAll(program.body, around) };
}

function rotateAll(statements: readonly Statement[], around: Surroundings): readonly Statement[] {
  return statements.map((statement, position): Statement => {
    switch (statement.kind) {
      case 'if': {
        const then = rotateAll(statement.then, around);
        return { ...statement, then, otherwise: rotateAll(statement.otherwise, around) };
      }
      case 'block':
        return { ...statement, body: rotateAll(statement.body, around) };
      case 'loop': {
        const body = rotateAll(statement.body, { ...around, repeated: true });
        return rotate({ ...statement, body }, statements.slice(0, position), around);
      }
      default:
        return statement;
    }
  });
}

function rotate(outer: Loop, before: readonly Statement[], around: Surroundings): Statement {
  const [fill, ...use] = outer.body;
  if (fill?.kind !== 'loop') return outer;
  const counters = countersOf(outer, fill);
  if (counters === null) return outer;
  const { range, label, test } = outer;
  const lockstep = stepTogether(outer, fill, counters, before, around);
  const refill: Statement = lockstep?.refill ?? {
    kind: 'if',
    test: fill.test!,
    then: copyStatements([...fill.body, ...fill.update], around.schedule, around.newLabel),
    otherwise: [],
    range: fill.range,
  };
  const leave: Statement = { kind: 'break', label, range };
  const turn: Statement[] = [
    ...use,
    ...outer.update,
    { kind: 'if', test: negation(test!), then: [leave], otherwise: [], range },
    refill,
  ];
  const mainLoop: Loop = { kind: 'loop', label, test: null, testFirst: true, body: turn, update: [], range };
  if (lockstep !== null) around.schedule.finished.add(mainLoop);
  const then = [lockstep?.first ?? fill, ...(lockstep?.rounds ?? []), mainLoop];
  return { kind: 'if', test: test!, then, otherwise: [], range };
}

/**
 * The counters of two loops whose inner one runs at most once in every turn after the first; null otherwise. `once`: what fills
 * will not be written more than once.
 */
export function countersOf(outer: Loop, fill: Loop, { once = false } = {}): Counters | null {
  if (outer.test === null || fill.test === null || !outer.testFirst || !fill.testFirst) return null;
  // What is written more than once may hold no labels; nothing may skip the update.
  const isFit = once ? !mayLeave(fill) && !continues(fill.body, fill.label) : fill.body.every(isStraight);
  if (!isFit || continues(outer.body, outer.label)) return null;
  const used = incrementOf(outer.update);
  const filled = incrementOf(fill.update);
  if (used === null || filled === null) return null;

  const assigned = new Map<number, number>();
  forEachStatement([outer], (statement) => {
    const variable = assignedBy(statement);
    if (variable !== null) assigned.set(variable, (assigned.get(variable) ?? 0) + 1);
  });
  if (assigned.get(used) !== 1 || assigned.get(filled) !== 1) return null;
  const capacityOf = (limit: Expression): Expression | null => {
    if (limit.kind !== 'binary' || limit.operator !== 'add') return null;
    if (isVariable(limit.left, used) && isInvariant(limit.right, assigned)) return limit.right;
    return isVariable(limit.right, used) && isInvariant(limit.left, assigned) ? limit.left : null;
  };

  const bounds: Comparison[] = [];
  const capacities: Expression[] = [];
  for (const test of conjunctsOf(fill.test)) {
    const isLess = test.kind === 'compare' && test.operator === 'less' && isVariable(test.left, filled);
    const capacity = isLess ? capacityOf(test.right) : null;
    if (capacity !== null) capacities.push(capacity);
    else if (isBound(test, filled, assigned)) bounds.push(test);
    else return null;
  }
  return capacities.length > 0 ? { used, filled, bounds, capacities } : null;
}

function isStraight(statement: Statement): boolean {
  if (statement.kind === 'if') return [...statement.then, ...statement.otherwise].every(isStraight);
  return statement.kind === 'assign' || statement.kind === 'store' || statement.kind === 'call';
}

function continues(statements: readonly Statement[], label: number): boolean {
  return statements.some((statement) => {
    if (statement.kind === 'continue') return statement.label === label;
    if (statement.kind === 'if')
      return continues(statement.then, label) || continues(statement.otherwise, label);
    return (statement.kind === 'loop' || statement.kind === 'block') && continues(statement.body, label);
  });
}
