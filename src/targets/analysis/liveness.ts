// Which variables a later statement may still read.
//
// The usual backward analysis over the structured program: a set of live variables flows
// through every list from its end to its beginning, loops until nothing changes. Sets are bits
// of a bigint.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { assignedBy, expressionsOf, readBy } from './walk.ts';

/** A set of variables: bit i for variable i. */
export type VariableSet = bigint;

export const bit = (variable: number): VariableSet => 1n << BigInt(variable);
export const has = (set: VariableSet, variable: number): boolean => (set & bit(variable)) !== 0n;

export interface Liveness {
  /** At the beginning: what is read without having been assigned. */
  readonly atStart: VariableSet;
  before(statement: Statement): VariableSet;
  after(statement: Statement): VariableSet;
  /** At the beginning of a loop's `update`, where `continue` goes. */
  atUpdate(loop: Statement): VariableSet;
}

/** `atEnd`: what is read after these statements. */
export function analyseLiveness(body: readonly Statement[], atEnd: VariableSet = 0n): Liveness {
  const analysis = new Analysis();
  const atStart = analysis.list(body, atEnd);
  return {
    atStart,
    before: (statement) => analysis.before.get(statement) ?? 0n,
    after: (statement) => analysis.after.get(statement) ?? 0n,
    atUpdate: (loop) => analysis.updates.get(loop) ?? 0n,
  };
}

class Analysis {
  readonly before = new Map<Statement, VariableSet>();
  readonly after = new Map<Statement, VariableSet>();
  readonly updates = new Map<Statement, VariableSet>();
  /** What is live where `break` and `continue` go, by label. */
  readonly #exits = new Map<number, VariableSet>();
  readonly #continues = new Map<number, VariableSet>();
  readonly #reads = new Map<Expression, VariableSet>();

  list(statements: readonly Statement[], after: VariableSet): VariableSet {
    let live = after;
    for (let i = statements.length - 1; i >= 0; i -= 1) {
      const statement = statements[i]!;
      this.after.set(statement, live);
      live = this.#statement(statement, live);
      this.before.set(statement, live);
    }
    return live;
  }

  #statement(statement: Statement, after: VariableSet): VariableSet {
    switch (statement.kind) {
      case 'if':
        return (
          this.#readsOf(statement) | this.list(statement.then, after) | this.list(statement.otherwise, after)
        );
      case 'loop':
        return this.#loop(statement, after);
      case 'block':
        this.#exits.set(statement.label, after);
        return this.list(statement.body, after);
      case 'region':
        return this.list(statement.body, after);
      case 'break':
        return this.#exits.get(statement.label) ?? 0n;
      case 'continue':
        return this.#continues.get(statement.label) ?? 0n;
      case 'return':
        return 0n;
      default: {
        const variable = assignedBy(statement);
        const killed = variable === null ? after : after & ~bit(variable);
        return killed | this.#readsOf(statement);
      }
    }
  }

  #loop(loop: Extract<Statement, { kind: 'loop' }>, after: VariableSet): VariableSet {
    this.#exits.set(loop.label, after);
    // What is live at the test; grows until it is stable.
    let atTest = this.#readsOf(loop) | (loop.test === null ? 0n : after);
    for (;;) {
      const atUpdate = this.list(loop.update, atTest);
      this.#continues.set(loop.label, atUpdate);
      this.updates.set(loop, atUpdate);
      const atBody = this.list(loop.body, atUpdate);
      const grown = atTest | atBody;
      if (grown === atTest) return loop.testFirst ? atTest : atBody;
      atTest = grown;
    }
  }

  #readsOf(statement: Statement): VariableSet {
    let set = 0n;
    for (const expression of expressionsOf(statement)) {
      let reads = this.#reads.get(expression);
      if (reads === undefined) {
        reads = 0n;
        for (const variable of readBy(expression)) reads |= bit(variable);
        this.#reads.set(expression, reads);
      }
      set |= reads;
    }
    return set;
  }
}
