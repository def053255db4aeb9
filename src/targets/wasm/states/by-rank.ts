// What follows from a thread's rank alone: built-in values, constants, and what is computed of
// them. It is known for every thread when the kernel is compiled.

import type { Value } from '../../../compiler/arithmetic.ts';
import { compileEvaluation, type Leaf } from '../../../compiler/evaluate.ts';
import type { BuiltIn, Expression, Program } from '../../../compiler/ir.ts';
import { assignedBy, forEachStatement } from '../../analysis/walk.ts';

/** A value for each thread. */
export type OfRank = (rank: number) => Value;

export class ByRank {
  readonly #program: Program;
  readonly #definitions: ReadonlyMap<number, Expression>;
  readonly #known = new Map<Expression, OfRank | null>();

  /** `definitions` says what variables hold, of those that always hold the same. */
  constructor(program: Program, definitions: ReadonlyMap<number, Expression>) {
    this.#program = program;
    this.#definitions = definitions;
  }

  /** What an expression is for each thread, if its rank says it. It throws where the expression fails. */
  of(expression: Expression): OfRank | null {
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    // A variable in its own definition is not known.
    this.#known.set(expression, null);
    const found = compileEvaluation<number>(expression, { leaf: (leaf) => this.#leaf(leaf) });
    this.#known.set(expression, found);
    return found;
  }

  #leaf(leaf: Leaf): OfRank | null {
    if (leaf.kind === 'variable') {
      const definition = this.#definitions.get(leaf.id);
      return definition === undefined ? null : this.of(definition);
    }
    if (leaf.kind !== 'builtin') return null;
    const number = this.#builtIn(leaf.name);
    return number === null || leaf.type !== 'i64' ? number : (rank) => BigInt(number(rank));
  }

  #builtIn(name: BuiltIn): ((rank: number) => number) | null {
    const [x, y] = this.#program.block;
    switch (name) {
      case 'threadRank':
        return (rank) => rank;
      case 'threadIdx.x':
        return (rank) => rank % x;
      case 'threadIdx.y':
        return (rank) => Math.floor(rank / x) % y;
      case 'threadIdx.z':
        return (rank) => Math.floor(rank / (x * y));
      default:
        return null;
    }
  }
}

/** The values of variables that are assigned at one place; a variable that may be read before is assigned its zero too. */
export function onlyDefinitions(program: Program): Map<number, Expression> {
  const definitions = new Map<number, Expression>();
  const assigned = new Set<number>();
  forEachStatement(program.body, (statement) => {
    const variable = assignedBy(statement);
    if (variable === null) return;
    if (statement.kind === 'assign' && !assigned.has(variable)) definitions.set(variable, statement.value);
    else definitions.delete(variable);
    assigned.add(variable);
  });
  return definitions;
}
