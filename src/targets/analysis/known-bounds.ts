// Indices of arrays of several dimensions that need no test of their own: their facts say that they lie inside.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { mapExpressions } from '../../compiler/operands.ts';
import { type FactOf, factsOf } from './facts.ts';
import { mapExpression, mapStatements } from './map.ts';
import { anyExpression, anyStatement } from './walk.ts';

/** Whether an index is known to be one of a dimension's places. */
export function isKnownInside(factOf: FactOf, index: Expression, extent: Expression): boolean {
  return factOf(index).least >= 0 && factOf(index).most < factOf(extent).least;
}

/** The same program, in which no access tests what is known of it. */
export function withoutKnownBounds(program: Program): Program {
  if (!hasBounds(program)) return program;
  const facts = factsOf(program);
  const body = mapStatements(program.body, {
    expression: (expression) => expression,
    statement: (mapped, original) => {
      const factOf = facts.at(original);
      const own = mapExpressions(mapped, (each) =>
        mapExpression(each, {
          expression: (one) => (one.kind === 'load' ? withoutKnown(one, factOf) : one),
        }),
      );
      return own.kind === 'store' ? withoutKnown(own, factOf) : own;
    },
  });
  return { ...program, body };
}

type Bounded = Extract<Expression, { kind: 'load' }> | Extract<Statement, { kind: 'store' }>;

function hasBounds({ body }: Program): boolean {
  return (
    anyStatement(body, (each) => each.kind === 'store' && each.bounds !== undefined) ||
    anyExpression(body, (each) => each.kind === 'load' && each.bounds !== undefined)
  );
}

/** An access without the dimensions that need no test. A test that stays keeps its number, so all stay or none. */
function withoutKnown<Access extends Bounded>(access: Access, factOf: FactOf): Access {
  const { bounds } = access;
  if (bounds === undefined) return access;
  const isKnown = bounds.every(
    (extent, position) => position % 2 === 0 || isKnownInside(factOf, bounds[position - 1]!, extent),
  );
  if (!isKnown) return access;
  const { bounds: _, ...rest } = access;
  return rest as Access;
}
