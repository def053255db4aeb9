// What threads find again by computing it is not kept from region to region.
//
// A variable of threads that outlives a region has a place in memory for each of them. Where all that it ever gets is one value
// made of the thread's place, of what the launch says and of literals (`row = blockIdx.y * 16 + threadIdx.y`), a region that
// reads it has that value in its place, and nothing is kept: arenas are smaller, and regions that set such variables
// alone are gone.

import type { Expression, Program, Region, Statement } from '../../../compiler/ir.ts';
import { mayFail } from '../../analysis/failing.ts';
import { mapStatements } from '../../analysis/map.ts';
import { anyOperand, assignedBy, forEachOperand, forEachStatement, readIn } from '../../analysis/walk.ts';

type Assign = Extract<Statement, { kind: 'assign' }>;

/** Operations and operands of a value beyond which memory is faster. */
const longest = 9;

/** The program of regions in which threads keep no such variables. */
export function computeAnew(program: Program): Program {
  const values = anewIn(program);
  return values.size === 0 ? program : { ...program, body: listWithout(program.body, values) };
}

/** The variables that are computed again where they are read, with the one statement that gives each its value. */
function anewIn({ body }: Program): ReadonlyMap<number, Assign> {
  const found = new Map<number, Assign>();
  const others = new Set<number>();
  const kept = new Set<number>();
  forEachStatement(body, (each) => {
    if (each.kind === 'region') {
      for (const statement of each.body)
        if (statement.kind === 'assign' && isAlways(statement.value))
          found.set(statement.variable, statement);
      for (const id of each.stores) kept.add(id);
      for (const id of each.resets) others.add(id);
    }
  });
  // A variable that is assigned elsewhere too, or only in a branch, is none of them.
  forEachStatement(body, (each) => {
    const variable = assignedBy(each);
    if (variable !== null && found.get(variable) !== each) others.add(variable);
  });
  return new Map([...found].filter(([id]) => kept.has(id) && !others.has(id)));
}

/** Whether an expression has the same value wherever a thread computes it, cannot fail, and is short. */
function isAlways(value: Expression): boolean {
  let length = 0;
  forEachOperand(value, () => {
    length += 1;
  });
  return (
    length <= longest &&
    !anyOperand(
      value,
      (each) =>
        each.kind === 'load' ||
        each.kind === 'variable' ||
        each.kind === 'math' ||
        (each.kind === 'binary' && mayFail(each)),
    )
  );
}

function listWithout(list: readonly Statement[], values: ReadonlyMap<number, Assign>): Statement[] {
  const inner = (statements: readonly Statement[]) => listWithout(statements, values);
  return list.flatMap((statement): Statement[] => {
    switch (statement.kind) {
      case 'region':
        return regionWithout(statement, values);
      case 'if':
        return [{ ...statement, then: inner(statement.then), otherwise: inner(statement.otherwise) }];
      case 'loop':
        return [{ ...statement, body: inner(statement.body), update: inner(statement.update) }];
      case 'block':
        return [{ ...statement, body: inner(statement.body) }];
      default:
        return [statement];
    }
  });
}

function regionWithout(region: Region, values: ReadonlyMap<number, Assign>): Region[] {
  const isKept = (id: number) => !values.has(id);
  const found = new Set(region.loads.filter((id) => values.has(id)));
  const read = readIn(region.body);
  const needed = region.body.filter(
    (each) => each.kind !== 'assign' || values.get(each.variable) !== each || read.has(each.variable),
  );
  if (needed.length === 0) return [];
  // In the place of the variable, so that what is known of an index in front of the region stays known.
  const expression = (each: Expression) =>
    each.kind === 'variable' && found.has(each.id) ? values.get(each.id)!.value : each;
  const body = found.size === 0 ? needed : mapStatements(needed, { expression });
  return [{ ...region, body, loads: region.loads.filter(isKept), stores: region.stores.filter(isKept) }];
}
