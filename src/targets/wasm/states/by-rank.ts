// What follows from a thread's rank alone: built-in values, constants, and what is computed of
// them. It is known for every thread when the kernel is compiled.

import {
  binaryOperation,
  compareOperation,
  convertOperation,
  mathOperation,
  unaryOperation,
  type Value,
} from '../../../compiler/arithmetic.ts';
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
    const found = this.#find(expression);
    this.#known.set(expression, found);
    return found;
  }

  #find(expression: Expression): OfRank | null {
    switch (expression.kind) {
      case 'constant': {
        const { value } = expression;
        return () => value;
      }
      case 'builtin': {
        const number = this.#builtIn(expression.name);
        if (number === null || expression.type !== 'i64') return number;
        return (rank) => BigInt(number(rank));
      }
      case 'variable': {
        const definition = this.#definitions.get(expression.id);
        return definition === undefined ? null : this.of(definition);
      }
      case 'unary': {
        const operand = this.of(expression.operand);
        const operation = unaryOperation(expression.operator, expression.type);
        return operand && ((rank) => operation(operand(rank)));
      }
      case 'convert': {
        const operand = this.of(expression.operand);
        const operation = convertOperation(expression.operand.type, expression.type);
        return operand && ((rank) => operation(operand(rank)));
      }
      case 'binary':
        return this.#ofTwo(expression, binaryOperation(expression.operator, expression.type));
      case 'compare':
        return this.#ofTwo(expression, compareOperation(expression.operator));
      case 'conditional': {
        const test = this.of(expression.test);
        const then = this.of(expression.then);
        const otherwise = this.of(expression.otherwise);
        return test && then && otherwise && ((rank) => (test(rank) ? then(rank) : otherwise(rank)));
      }
      case 'math': {
        const operands = expression.operands.map((operand) => this.of(operand));
        const operation = mathOperation(expression.function, expression.type as 'f32' | 'f64');
        if (!operands.every((operand) => operand !== null)) return null;
        return (rank) => operation(...operands.map((operand) => operand(rank) as number));
      }
      case 'scalar':
      case 'length':
      case 'load':
        return null;
      default:
        return expression satisfies never;
    }
  }

  #ofTwo(
    { left, right }: { readonly left: Expression; readonly right: Expression },
    operation: (a: Value, b: Value) => Value,
  ): OfRank | null {
    const first = this.of(left);
    const second = this.of(right);
    return first && second && ((rank) => operation(first(rank), second(rank)));
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
