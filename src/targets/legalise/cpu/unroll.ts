// Repeats the body of small loops whose turns are known.
//
// A loop from a literal to a literal becomes its turns one after the other, or, where that is long, fewer turns of several
// bodies. What a turn adds to an index is then a literal, so that accesses of all turns share an address and a check, and nothing
// is counted or tested in between. The counter has the same value behind the loop.

import { folded } from '../../../compiler/build.ts';
import type { Expression, Program, Statement } from '../../../compiler/ir.ts';
import { isInteger } from '../../../compiler/number-types.ts';
import { integer } from '../../analysis/affine.ts';
import { type Counter, conjunctsOf, counterOf, type Loop } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { mapStatements } from '../../analysis/map.ts';
import { anyStatement, forEachExpression, forEachStatement } from '../../analysis/walk.ts';

type List = readonly Statement[];

/** Operations of a loop that becomes its turns, and how many turns those are at most. */
const mostInAll = 400;
const mostTurns = 32;
/** Operations of a turn that is made of several. */
const mostInTurn = 160;

/** The program with its small loops of known length repeated. */
export function unrollLoops(program: Program): Program {
  return { ...program, body: unrolled(program.body) };
}

function unrolled(list: List): List {
  return list.flatMap((statement, position): List => {
    switch (statement.kind) {
      case 'if':
        return [{ ...statement, then: unrolled(statement.then), otherwise: unrolled(statement.otherwise) }];
      case 'block':
        return [{ ...statement, body: unrolled(statement.body) }];
      case 'loop':
        return unrolledLoop({ ...statement, body: unrolled(statement.body) }, list.slice(0, position));
      default:
        return [statement];
    }
  });
}

function unrolledLoop(loop: Loop, before: List): List {
  const counter = counterOf(loop, before);
  const turns = counter === null ? null : turnsOf(loop, counter);
  if (counter === null || turns === null || !isPlain(loop.body)) return [loop];
  const size = sizeOf(loop.body);
  const first = constantOf(counter.init!)!;
  if (turns <= mostTurns && turns * size <= mostInAll) {
    const { variable, step, limit } = counter;
    const at = (turn: number) => integer(limit, first + turn * step);
    const bodies = Array.from({ length: turns }, (_, turn) => repeated(loop.body, variable, () => at(turn)));
    return [...bodies.flat(), { kind: 'assign', variable, value: at(turns), range: loop.range }];
  }
  const several = [8, 4, 2].find((bodies) => turns % bodies === 0 && bodies * size <= mostInTurn);
  return [several === undefined ? loop : withBodies(loop, counter, several)];
}

/** The loop with so many bodies in each turn. The counter's limit is as much nearer, so that what it adds up to stays known. */
function withBodies(loop: Loop, { variable, step, limit }: Counter, bodies: number): Loop {
  const { range } = loop;
  const test = loop.test as Expression & { readonly kind: 'compare' };
  const add = (left: Expression, by: number): Expression => {
    if (by === 0) return left;
    return { kind: 'binary', operator: 'add', left, right: integer(limit, by), type: 'i32', range };
  };
  const self: Expression = { kind: 'variable', id: variable, type: 'i32', range };
  return {
    ...loop,
    test: { ...test, right: integer(limit, constantOf(limit)! - (bodies - 1) * step) },
    body: Array.from({ length: bodies }, (_, body) =>
      repeated(loop.body, variable, (each) => add(each, body * step)),
    ).flat(),
    update: [{ kind: 'assign', variable, value: add(self, bodies * step), range }],
  };
}

/** How often a loop goes round, where its test and update do nothing but count from one literal to another. */
function turnsOf({ test, update }: Loop, { step, init, limit, operator }: Counter): number | null {
  if (conjunctsOf(test!).length !== 1 || update.length !== 1 || init === null) return null;
  const [first, last] = [constantOf(init), constantOf(limit)];
  if (first === null || last === null) return null;
  const end = operator === 'less' ? last : last + 1;
  const turns = Math.max(Math.ceil((end - first) / step), 0);
  return first + turns * step < 2 ** 31 ? turns : null;
}

/** Whether statements can stand at several places: no jump, no name, and nothing at which threads meet. */
export function isPlain(list: List): boolean {
  return !anyStatement(list, (statement) => {
    if (statement.kind === 'call') return statement.intrinsic !== 'atomic';
    return !['assign', 'store', 'if'].includes(statement.kind);
  });
}

/** Statements of their own, with something else in the place of the counter. */
export function repeated(list: List, counter: number, replace: (counter: Expression) => Expression): List {
  const expression = (each: Expression) =>
    each.kind === 'variable' && each.id === counter ? replace(each) : withoutLiterals({ ...each });
  return mapStatements(list, { expression, statement: (mapped) => ({ ...mapped }) });
}

/** An integer computed from literals alone becomes one: so indices are seen to lie a known distance apart. */
function withoutLiterals(each: Expression): Expression {
  const computes = each.kind === 'unary' || each.kind === 'binary';
  return computes && isInteger(each.type) ? folded(each) : each;
}

export function sizeOf(list: List): number {
  let size = 0;
  forEachExpression(list, () => {
    size += 1;
  });
  forEachStatement(list, () => {
    size += 1;
  });
  return size;
}
