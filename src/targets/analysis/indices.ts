// What can be said of an index before the statements that it stands in are carried out.
//
// An index is known at a point if none of its variables is assigned from there on, or if those
// that are follow from what is known. Its bounds are known if moreover it grows evenly with the
// counters of the loops around it, whose first and last values are known: then every value it
// takes lies between those at the ends.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { integer } from './affine.ts';
import { type Counter, counterOf, type Loop, stepOf } from './counters.ts';
import { constantOf } from './elements.ts';
import { mayFail } from './failing.ts';
import { mapExpression } from './map.ts';
import { assignedBy, assignedIn, forEachStatement, listsOf, readBy } from './walk.ts';

type List = readonly Statement[];

/** The counter of a loop, and what is assigned in each of its turns while it stays as it is. */
interface Counting extends Counter {
  readonly inTurn: ReadonlySet<number>;
}

/** How far an index moves from its start while a counter goes through its values. */
export interface Range {
  /** By how much for each one that the counter grows. */
  readonly factor: Expression;
  /** The counter's first value, and one that it never exceeds. */
  readonly from: Expression;
  readonly to: Expression;
  /** Were `to` larger, the counter could wrap around. */
  readonly largest: number;
  /** Were `from` larger, the first values of other threads could: where one check is for them all. */
  readonly highest?: number;
}

export interface Bounds {
  /** The index with every counter at its first value. */
  readonly start: Expression;
  readonly ranges: readonly Range[];
}

/** How an index grows: by so much for each one that a variable grows by, and how much that is in a turn. */
export interface Growth {
  readonly factor: Expression;
  readonly step: number;
}

/** By how much an index grows in each turn of a loop, if that is always the same; null if not, or if nothing moves it. */
export function growthIn({ body, update }: Loop, index: Expression): Growth | null {
  const assigned = assignedIn([...body, ...update]);
  const [variable, ...others] = [...readBy(index)].filter((each) => assigned.has(each));
  if (variable === undefined || others.length > 0 || assignedIn(body).has(variable)) return null;
  const steps = update.map(stepOf).filter((step) => step?.variable === variable);
  if (steps.length !== 1 || assignmentsIn(update, variable) !== 1) return null;
  const factor = factorOf(index, variable);
  if (factor === null || [...readBy(factor)].some((each) => assigned.has(each))) return null;
  return { factor, step: steps[0]!.by };
}

export class Indices {
  readonly #definitions: ReadonlyMap<number, Expression>;
  readonly #counters = new Map<Loop, Counting>();

  /** `definitions`: the values of variables that are assigned at one place only. */
  constructor(body: List, definitions: ReadonlyMap<number, Expression>) {
    this.#definitions = definitions;
    this.#findCounters(body);
  }

  /** An expression that has the index's value before a list, or null. */
  knownBefore(index: Expression, assigned: ReadonlySet<number>): Expression | null {
    return this.#resolve(index, assigned, new Map());
  }

  /** The index's bounds before a list, `loops` being those inside the list that the index stands in. */
  boundsBefore(
    index: Expression,
    list: List,
    assigned: ReadonlySet<number>,
    loops: readonly Loop[],
  ): Bounds | null {
    const known = this.knownBefore(index, assigned);
    if (known !== null) return { start: known, ranges: [] };
    const counters = new Map<number, Counting>();
    for (const loop of loops) {
      const counter = this.#counters.get(loop);
      if (counter !== undefined) counters.set(counter.variable, counter);
    }
    const resolved = this.#resolve(index, assigned, counters);
    if (resolved === null) return null;
    const ranges: Range[] = [];
    let start = resolved;
    for (const variable of readBy(resolved)) {
      const counter = counters.get(variable);
      if (counter === undefined || !assigned.has(variable)) continue;
      const range = this.#rangeOf(resolved, counter, list, assigned);
      if (range === null) return null;
      ranges.push(range);
      start = mapExpression(start, {
        expression: (each) => (each.kind === 'variable' && each.id === variable ? range.from : each),
      });
    }
    return { start, ranges };
  }

  #rangeOf(index: Expression, counter: Counter, list: List, assigned: ReadonlySet<number>): Range | null {
    const { variable, step, init } = counter;
    const to = lastOf(counter);
    const factor = factorOf(index, variable);
    const last = this.knownBefore(to, assigned);
    if (factor === null || last === null) return null;
    for (const each of readBy(factor)) if (assigned.has(each)) return null;
    // Without a first value in the list the counter starts, or goes on, from the one that it has now.
    const times = assignmentsIn(list, variable);
    if (times > 2 || (times === 2 && init === null)) return null;
    const self: Expression = { kind: 'variable', id: variable, type: to.type, range: to.range };
    const from = times === 1 ? self : this.knownBefore(init!, assigned);
    return from === null ? null : { factor, from, to: last, largest: 2 ** 31 - 1 - step };
  }

  /**
   * Puts definitions in the place of variables that are assigned; null where that is not enough. A counter may stay,
   * but in a definition only where that is made anew in each turn: another holds what the counter was before.
   */
  #resolve(
    expression: Expression,
    assigned: ReadonlySet<number>,
    counters: ReadonlyMap<number, Counting>,
  ): Expression | null {
    let known = true;
    const within =
      (counting: ReadonlyMap<number, Counting>) =>
      (each: Expression): Expression => {
        if (each.kind === 'load' || (each.kind === 'binary' && mayFail(each))) known = false;
        if (each.kind !== 'variable' || !assigned.has(each.id) || counting.has(each.id)) return each;
        const definition = this.#definitions.get(each.id);
        if (definition === undefined || !known) {
          known = false;
          return each;
        }
        const anew = new Map([...counting].filter(([, { inTurn }]) => inTurn.has(each.id)));
        return mapExpression(definition, { expression: within(anew) });
      };
    const resolved = mapExpression(expression, { expression: within(counters) });
    return known ? resolved : null;
  }

  #findCounters(list: List): void {
    list.forEach((statement, position) => {
      if (statement.kind === 'loop') {
        const counter = counterOf(statement, list.slice(0, position));
        if (counter !== null)
          this.#counters.set(statement, { ...counter, inTurn: assignedIn(statement.body) });
      }
      for (const inner of listsOf(statement)) this.#findCounters(inner);
    });
  }
}

/** A value that a counter never exceeds in a turn. */
function lastOf({ limit, operator }: Counter): Expression {
  if (operator === 'lessEqual') return limit;
  const literal = constantOf(limit);
  if (literal !== null) return integer(limit, literal - 1);
  const { type, range } = limit;
  return { kind: 'binary', operator: 'subtract', left: limit, right: integer(limit, 1), type, range };
}

/** What an i32 changes by when a variable grows by one, if that is the same everywhere; null if not, or 0. */
function factorOf(expression: Expression, variable: number): Expression | null {
  if (!readBy(expression).has(variable)) return null;
  switch (expression.kind) {
    case 'variable':
      return integer(expression, 1);
    case 'binary': {
      const { operator, left, right } = expression;
      const inLeft = factorOf(left, variable);
      const inRight = factorOf(right, variable);
      const both = readBy(left).has(variable) && readBy(right).has(variable);
      if (both || (inLeft === null && inRight === null)) return null;
      switch (operator) {
        case 'add':
          return inLeft ?? inRight;
        case 'subtract':
          return inLeft ?? { ...expression, left: integer(expression, 0), right: inRight! };
        case 'multiply':
          return inLeft === null ? product(expression, left, inRight!) : product(expression, inLeft, right);
        case 'shiftLeft':
          return inLeft === null ? null : { ...expression, left: inLeft, right };
        default:
          return null;
      }
    }
    default:
      return null;
  }
}

/** A product of i32, written as plainly as it can be. */
function product(
  expression: Extract<Expression, { kind: 'binary' }>,
  left: Expression,
  right: Expression,
): Expression {
  const [a, b] = [constantOf(left), constantOf(right)];
  if (a !== null && b !== null) return integer(expression, Math.imul(a, b));
  if (a === 1) return right;
  return b === 1 ? left : { ...expression, left, right };
}

function assignmentsIn(list: List, variable: number): number {
  let times = 0;
  forEachStatement(list, (statement) => {
    if (assignedBy(statement) === variable) times += 1;
  });
  return times;
}
