// Whether each round of a loop finds nothing in shared memory but what the same round has left there.
//
// Then blocks that go through the loop abreast need no memory of their own (abreast.ts): what one has left is of no use to it
// any more when the next one comes. What threads write one after the other, from an index that they share on, is a span; what is read
// must lie in a span that all threads have written before the region begins. Indices are compared term by term, as they
// are with the block's variables replaced by what they were given in this round.

import type { ArrayReference, Expression, Program, Statement } from '../../../compiler/ir.ts';
import type { CoreCall } from '../../../compiler/ir-core.ts';
import type { Loop } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { keyOf } from '../../analysis/expression-key.ts';
import { type FactOf, factsOf } from '../../analysis/facts.ts';
import { analyseLiveness, has } from '../../analysis/liveness.ts';
import { mapExpression } from '../../analysis/map.ts';
import {
  anyExpression,
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  expressionsOf,
  forEachStatement,
} from '../../analysis/walk.ts';

/** What of an arena blocks may have in common from round to round: all, the shared arrays alone, or nothing. */
export type SharedByRounds = 'all' | 'arrays' | 'nothing';

/** `own`: the variables that a block has itself; those that threads have lie in its memory. */
export function sharesArena(program: Program, loop: Loop, own: ReadonlySet<number>): SharedByRounds {
  const others = program.body.filter((each) => each !== loop);
  const rest = [...others, ...loop.update];
  if (anyStatement(rest, touchesShared) || !new Round(program, loop).isFresh()) return 'nothing';
  if (program.localArrays.length > 0) return 'arrays';
  const { atStart, after } = analyseLiveness([loop, ...program.body.slice(program.body.indexOf(loop) + 1)]);
  const live = [...program.variables.keys()].filter((id) => has(atStart, id) || has(after(loop), id));
  return live.every((id) => own.has(id)) ? 'all' : 'arrays';
}

function touchesShared(statement: Statement): boolean {
  const isShared = (array: ArrayReference) => array.space === 'shared';
  if (
    expressionsOf(statement).some((each) =>
      anyOperand(each, (one) => one.kind === 'load' && isShared(one.array)),
    )
  )
    return true;
  if (statement.kind === 'store') return isShared(statement.array);
  // No call says more than a copy does of what it touches.
  return statement.kind === 'call' && statement.intrinsic !== 'mark';
}

/** Elements of a shared array from the sum of terms on, of which so many follow each other. */
interface Span {
  readonly array: number;
  readonly terms: readonly string[];
  readonly length: number;
}

/** Where a statement is: in a region of how many threads, if in one, and whether all of them come there. */
interface Place {
  readonly threads: number | null;
  readonly always: boolean;
}

class Round {
  readonly #body: readonly Statement[];
  readonly #block: Program['block'];
  readonly #size: number;
  readonly #factOf: FactOf;
  readonly #assigned: ReadonlySet<number>;
  /** Variables that one statement of the program assigns. */
  readonly #once = new Set<number>();
  readonly #values = new Map<number, Expression>();
  readonly #spans: Span[] = [];
  /** Of the region that is looked at. */
  #pending: Span[] = [];

  constructor(program: Program, loop: Loop) {
    const [x, y, z] = program.block;
    this.#body = loop.body;
    this.#block = program.block;
    this.#size = x * y * z;
    this.#factOf = factsOf(program).at(null);
    this.#assigned = assignedIn(loop.body);
    const seen = new Set<number>();
    forEachStatement(program.body, (each) => {
      const variable = assignedBy(each);
      if (variable === null) return;
      if (seen.has(variable)) this.#once.delete(variable);
      else this.#once.add(variable);
      seen.add(variable);
    });
  }

  isFresh(): boolean {
    return this.#list(this.#body, { threads: null, always: true });
  }

  #list(statements: readonly Statement[], place: Place): boolean {
    return statements.every((each) => this.#areFound(each) && this.#statement(each, place));
  }

  #statement(each: Statement, place: Place): boolean {
    const sometimes = { ...place, always: false };
    switch (each.kind) {
      case 'assign': {
        const value = place.always && this.#once.has(each.variable) ? this.#resolved(each.value) : null;
        if (value !== null) this.#values.set(each.variable, value);
        return true;
      }
      case 'store':
        if (each.component === undefined) this.#note(each.array, each.index, 1, place);
        return true;
      case 'region': {
        this.#pending = [];
        if (!this.#list(each.body, { threads: this.#size, always: place.always })) return false;
        this.#spans.push(...this.#pending);
        return true;
      }
      case 'if': {
        const members = place.always && place.threads !== null ? firstThreads(each.test) : null;
        const then = members === null ? sometimes : { ...place, threads: Math.min(members, place.threads!) };
        return this.#list(each.then, then) && this.#list(each.otherwise, sometimes);
      }
      case 'loop':
      case 'block':
        return (
          this.#list(each.body, sometimes) && (each.kind === 'block' || this.#list(each.update, sometimes))
        );
      case 'call':
        return each.intrinsic === 'mark' || (each.intrinsic === 'core' && this.#core(each, place));
      default:
        return false;
    }
  }

  #core({ operation }: CoreCall, place: Place): boolean {
    if (operation.kind === 'stuckAtStage' || operation.kind === 'pipelineMisused') return true;
    if (operation.kind !== 'copyNow' || operation.source.array.space === 'shared') return false;
    const { group, destination, count, zeroFill } = operation;
    const length = constantOf(count);
    if (length === null || zeroFill !== null) return true;
    const isOfBlock = group.kind === 'block' && place.threads === null;
    if (isOfBlock || (group.kind === 'thread' && length === 1))
      this.#note(destination.array, destination.offset, length, place);
    return true;
  }

  /** Notes what is written: by each thread an element behind that of the one before, or so many by the block. */
  #note(
    { space, id, as }: ArrayReference,
    index: Expression,
    length: number,
    { threads, always }: Place,
  ): void {
    const resolved = space === 'shared' && as === undefined && always ? this.#resolved(index) : null;
    if (resolved === null) return;
    const terms = termsOf(resolved);
    if (threads === null) {
      this.#spans.push({ array: id, terms: terms.map(keyOf), length });
      return;
    }
    const base = withoutRank(terms, this.#block);
    if (base === null || base.some((each) => anyOperand(each, dependsOnThread))) return;
    this.#pending.push({ array: id, terms: base.map(keyOf), length: threads });
  }

  /** Whether all that a statement itself reads of shared memory was left there in this round. */
  #areFound(statement: Statement): boolean {
    return expressionsOf(statement).every(
      (each) => !anyOperand(each, (one) => one.kind === 'load' && !this.#isFound(one)),
    );
  }

  #isFound({ array, index }: Extract<Expression, { kind: 'load' }>): boolean {
    if (array.space !== 'shared') return true;
    const resolved = array.as === undefined ? this.#resolved(index) : null;
    if (resolved === null) return false;
    const terms = termsOf(resolved);
    return this.#spans.some((span) => span.array === array.id && this.#isIn(terms, span));
  }

  #isIn(index: readonly Expression[], { terms, length }: Span): boolean {
    const rest = [...index];
    for (const term of terms) {
      const at = rest.findIndex((each) => keyOf(each) === term);
      if (at < 0) return false;
      rest.splice(at, 1);
    }
    const facts = rest.map(this.#factOf);
    const least = facts.reduce((sum, fact) => sum + fact.least, 0);
    const most = facts.reduce((sum, fact) => sum + fact.most, 0);
    return least >= 0 && most < length;
  }

  /** An expression of what stays the same during the round; null where it is made of something else. */
  #resolved(expression: Expression): Expression | null {
    let isKnown = !anyExpression(
      [{ kind: 'assign', variable: 0, value: expression, range: expression.range }],
      (each) => each.kind === 'load',
    );
    const resolved = mapExpression(expression, {
      expression: (each) => {
        if (each.kind !== 'variable' || !this.#assigned.has(each.id)) return each;
        const value = this.#values.get(each.id);
        if (value === undefined) isKnown = false;
        return value ?? each;
      },
    });
    return isKnown ? resolved : null;
  }
}

/** How many threads come behind a test that asks for the first of them; null for another test. */
function firstThreads(test: Expression): number | null {
  if (test.kind !== 'compare' || test.operator !== 'less' || !isRank(test.left)) return null;
  return constantOf(test.right);
}

function termsOf(sum: Expression): readonly Expression[] {
  if (sum.kind === 'binary' && sum.operator === 'add') return [...termsOf(sum.left), ...termsOf(sum.right)];
  return constantOf(sum) === 0 ? [] : [sum];
}

/** The other terms of a sum in which a thread's rank is one, or its places in the dimensions of the block; null of another. */
function withoutRank(
  terms: readonly Expression[],
  [x, y, z]: Program['block'],
): readonly Expression[] | null {
  const rank = terms.findIndex(isRank);
  if (rank >= 0) return terms.toSpliced(rank, 1);
  const rest = [...terms];
  const places = [
    ['threadIdx.x', 1, x],
    ['threadIdx.y', x, y],
    ['threadIdx.z', x * y, z],
  ] as const;
  for (const [name, by, threads] of places) {
    const at = rest.findIndex((each) => isTimes(each, name, by));
    if (at >= 0) rest.splice(at, 1);
    else if (threads > 1) return null;
  }
  return rest;
}

/** Whether a term is so many times a thread's place. */
function isTimes(term: Expression, name: string, by: number): boolean {
  if (term.kind === 'builtin') return term.name === name && by === 1;
  if (term.kind !== 'binary' || term.operator !== 'multiply') return false;
  const { left, right } = term;
  return left.kind === 'builtin' && left.name === name && constantOf(right) === by;
}

function isRank(expression: Expression): boolean {
  return expression.kind === 'builtin' && expression.name === 'threadRank';
}

function dependsOnThread(expression: Expression): boolean {
  return expression.kind === 'builtin' && expression.name.startsWith('thread');
}
