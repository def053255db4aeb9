// Overflow of index arithmetic.
//
// Signed 32-bit arithmetic wraps here, and an index that has wrapped is one that the author did not
// mean (in C++ it is undefined at all). The arithmetic that makes up an index or a count is found
// in the program's text: from the index back through sums, products and variables. It ends where a
// program reduces a number on purpose, by `%`, a mask or a shift: hashes may wrap.

import type { BinaryOperator, Expression, Program, Statement } from '../../compiler/ir.ts';
import { assignedBy, forEachExpression, forEachStatement } from '../analysis/walk.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import type { Thread } from '../interpreter/thread.ts';
import type { Findings } from './finding.ts';

/** What may wrap. */
const wrapping: readonly BinaryOperator[] = ['add', 'subtract', 'multiply', 'shiftLeft'];
/** What an index is still made of. */
const passing: readonly BinaryOperator[] = ['add', 'subtract', 'multiply', 'divide', 'min', 'max'];

/** The arithmetic of a program that may not wrap. */
export function exactArithmetic(program: Program): ReadonlySet<Expression> {
  const exact = new Set<Expression>();
  const variables = new Set<number>();
  const values = valuesByVariable(program);

  const follow = (expression: Expression): void => {
    switch (expression.kind) {
      case 'variable':
        if (variables.has(expression.id)) return;
        variables.add(expression.id);
        for (const value of values.get(expression.id) ?? []) follow(value);
        return;
      case 'binary': {
        const { operator, type, left, right } = expression;
        const passes = passing.includes(operator);
        if (!passes && operator !== 'shiftLeft') return;
        if (type === 'i32' && wrapping.includes(operator)) exact.add(expression);
        follow(left);
        if (passes) follow(right);
        return;
      }
      case 'unary':
        if (expression.operator === 'negate') follow(expression.operand);
        return;
      case 'convert':
        if (isSigned(expression.type) && isSigned(expression.operand.type)) follow(expression.operand);
        return;
      case 'conditional':
        follow(expression.then);
        follow(expression.otherwise);
        return;
      default:
        return;
    }
  };

  forEachExpression(program.body, (expression) => {
    if (expression.kind === 'load') follow(expression.index);
  });
  forEachStatement(program.body, (statement) => {
    for (const root of indicesOf(statement)) follow(root);
  });
  return exact;
}

const isSigned = (type: Expression['type']) => type === 'i32' || type === 'i64';

/** The values that a program gives each variable. */
function valuesByVariable(program: Program): Map<number, Expression[]> {
  const values = new Map<number, Expression[]>();
  forEachStatement(program.body, (statement) => {
    const variable = assignedBy(statement);
    if (variable === null || statement.kind !== 'assign') return;
    const known = values.get(variable);
    if (known === undefined) values.set(variable, [statement.value]);
    else known.push(statement.value);
  });
  return values;
}

/** What a statement takes as positions and counts. */
function indicesOf(statement: Statement): readonly Expression[] {
  if (statement.kind === 'store') return [statement.index];
  if (statement.kind !== 'call') return [];
  const indices: Expression[] = [];
  if ('index' in statement) indices.push(statement.index);
  if ('destination' in statement) indices.push(statement.destination.offset);
  if ('source' in statement) indices.push(statement.source.offset);
  if ('count' in statement && statement.count !== null) indices.push(statement.count);
  return indices;
}

export class IndexArithmetic implements PartialObserver {
  readonly #findings: Findings;
  /** Places reported already. */
  readonly #reported = new Set<Expression>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  wrapped(thread: Thread, expression: Expression, exact: number | bigint, actual: number | bigint): void {
    if (this.#reported.has(expression)) return;
    this.#reported.add(expression);
    this.#findings.report({
      code: 'WS7006',
      severity: 'error',
      message: `an index is computed as ${exact}, which 32 bits do not hold: it becomes ${actual}`,
      place: { range: expression.range, threads: [thread.rank], block: thread.block.index },
      related: [],
      mend: 'Compute it from parameters of type `index`, which are as wide as the launch needs, or test the operands first; make a `u32` of what is meant to wrap.',
    });
  }
}
