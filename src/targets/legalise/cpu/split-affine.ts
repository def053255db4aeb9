// Splits affine variables: a variable that is base + c * threadIdx.x wherever it is assigned,
// with one constant c, keeps the base alone, and its readers add the rest. Where c is 0 there is
// nothing to add, but the variable may be part of another's base.
//
// So an index like `blockIdx.x * blockDim.x + threadIdx.x` becomes uniform: it is computed once
// for all threads, need not be kept per thread from one region to the next, and what it indexes
// is seen to lie side by side. The counter of a grid-stride loop, too.

import type { Expression, Program } from '../../../compiler/ir.ts';
import { isInteger } from '../../../compiler/number-types.ts';
import { type Affine, AffineForms, integer } from '../../analysis/affine.ts';
import { mapExpression, mapStatements } from '../../analysis/map.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import { assignedBy, forEachStatement } from '../../analysis/walk.ts';

/**
 * `uniformity` says what is the same in a row. The result shares no statement or load between two places,
 * so that what is found out of one is not taken for the other's.
 */
export function splitAffine(program: Program, uniformity: Uniformity): Program {
  const coefficients = coefficientsOf(program, uniformity);
  const forms = formsWith(program, uniformity, coefficients);
  const restore = (expression: Expression): Expression => {
    const coefficient = expression.kind === 'variable' ? coefficients.get(expression.id) : undefined;
    return coefficient === undefined || coefficient === 0
      ? expression
      : plusThreads(program, expression, coefficient);
  };
  const body = mapStatements(program.body, {
    expression: restore,
    statement(mapped, original) {
      if (original.kind !== 'assign' || !coefficients.has(original.variable)) return mapped;
      const base = forms.of(original.value)!.base ?? integer(original.value, 0);
      return { ...original, value: mapExpression(base, { expression: (each) => each }) };
    },
  });
  return { ...program, body };
}

/** The variables that can be split, each with its coefficient. */
function coefficientsOf(program: Program, uniformity: Uniformity): Map<number, number> {
  const assignments = new Map<number, Expression[]>();
  const excluded = new Set<number>();
  forEachStatement(program.body, (statement) => {
    if (statement.kind === 'assign') {
      const values = assignments.get(statement.variable) ?? [];
      values.push(statement.value);
      assignments.set(statement.variable, values);
    } else {
      const variable = assignedBy(statement);
      if (variable !== null) excluded.add(variable);
    }
  });
  const candidates = [...assignments.keys()].filter(
    (id) => !excluded.has(id) && uniformity.varies(id) && isInteger(program.variables[id]!.type),
  );
  // Guess each coefficient from the assignments that show one, and drop what contradicts itself, until all
  // that is left agrees.
  const dropped = new Set<number>();
  for (;;) {
    const guesses = guess(program, uniformity, candidates, assignments, dropped);
    const forms = formsWith(program, uniformity, guesses);
    const wrong = [...guesses].filter(([id, coefficient]) =>
      assignments.get(id)!.some((value) => forms.of(value)?.coefficient !== coefficient),
    );
    if (wrong.length === 0) return guesses;
    for (const [id] of wrong) dropped.add(id);
  }
}

function guess(
  program: Program,
  uniformity: Uniformity,
  candidates: readonly number[],
  assignments: ReadonlyMap<number, readonly Expression[]>,
  dropped: ReadonlySet<number>,
): Map<number, number> {
  const guesses = new Map<number, number>();
  for (let found = true; found; ) {
    found = false;
    const forms = formsWith(program, uniformity, guesses);
    for (const id of candidates) {
      if (guesses.has(id) || dropped.has(id)) continue;
      const form = assignments
        .get(id)!
        .map((value) => forms.of(value))
        .find((each) => each !== null);
      if (form === undefined || form === null) continue;
      guesses.set(id, form.coefficient);
      found = true;
    }
  }
  return guesses;
}

function formsWith(
  program: Program,
  uniformity: Uniformity,
  coefficients: ReadonlyMap<number, number>,
): AffineForms {
  const formOf = (id: number): Affine | null => {
    const coefficient = coefficients.get(id);
    if (coefficient === undefined) return null;
    const { type } = program.variables[id]!;
    const range = program.body[0]!.range;
    return { base: { kind: 'variable', id, type, range }, coefficient };
  };
  return new AffineForms(program, (expression) => uniformity.isUniform(expression), formOf);
}

/** A variable's base with its share of the thread's index added. */
function plusThreads(program: Program, base: Expression, coefficient: number): Expression {
  const { type, range } = base;
  const [, y, z] = program.block;
  const name = y * z === 1 ? 'threadRank' : 'threadIdx.x';
  const index: Expression = { kind: 'builtin', name, type: program.indexType, range };
  const thread: Expression =
    type === program.indexType ? index : { kind: 'convert', operand: index, type, range };
  const right: Expression =
    coefficient === 1
      ? thread
      : {
          kind: 'binary',
          operator: 'multiply',
          left: thread,
          right: integer(base, coefficient),
          type,
          range,
        };
  return { kind: 'binary', operator: 'add', left: base, right, type, range };
}
