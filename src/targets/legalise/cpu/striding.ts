// Loops that stride over the grid, and whether a block may be put aside in one.
//
// A loop strides where its rounds access arrays of the launch at places that lie the grid's size apart. Blocks may take turns at
// it if nothing in the program tells them how far others have come: no operation of theirs orders or waits for
// what other blocks do, and none prints or asks for the time. What a CPU promises beside CUDA is kept so: a block finds
// what those before it have left, if it looks for it in a way that CUDA allows.

import type { ArrayReference, Call, Expression, Program } from '../../../compiler/ir.ts';
import type { Loop } from '../../analysis/counters.ts';
import {
  anyExpression,
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  expressionsOf,
  forEachStatement,
  leaves,
  readBy,
} from '../../analysis/walk.ts';

export function stridesOverGrid(loop: Loop): boolean {
  const turn = [...loop.body, ...loop.update];
  const assigned = assignedIn(turn);
  const striding = new Set<number>();
  const strides = (expression: Expression) => {
    const read = [...readBy(expression)];
    if (read.some((id) => striding.has(id))) return true;
    return read.some((id) => assigned.has(id)) && anyOperand(expression, isGridDim);
  };
  for (let found = true; found; ) {
    found = false;
    forEachStatement(turn, (each) => {
      if (each.kind !== 'assign' || striding.has(each.variable) || !strides(each.value)) return;
      striding.add(each.variable);
      found = true;
    });
  }
  const isStriding = ({ array, index }: { array: ArrayReference; index: Expression }) =>
    array.space === 'global' && strides(index);
  return (
    anyExpression(turn, (each) => each.kind === 'load' && isStriding(each)) ||
    anyStatement(turn, (each) => {
      if (each.kind === 'store') return isStriding(each);
      if (each.kind !== 'call' || each.intrinsic !== 'core' || each.operation.kind !== 'copyNow')
        return false;
      const { source, destination } = each.operation;
      return [source, destination].some(({ array, offset }) => isStriding({ array, index: offset }));
    })
  );
}

function isGridDim(expression: Expression): boolean {
  return expression.kind === 'builtin' && expression.name.startsWith('gridDim');
}

/** Whether nothing in a program depends on, or shows, how far other blocks have come. */
export function isOblivious(program: Program): boolean {
  if (anyStatement(program.body, (each) => each.kind === 'call' && !isOwnBusiness(each))) return false;
  return !waitsForMemory(program);
}

function isOwnBusiness(call: Call): boolean {
  switch (call.intrinsic) {
    case 'sync':
      return call.group.kind !== 'grid';
    case 'atomic':
      return call.result === null && call.operator !== 'store' && call.order === undefined;
    case 'core':
      return call.operation.kind !== 'fence';
    case 'print':
    case 'assert':
    case 'mark':
    case 'globaltimer':
    case 'clock64':
    case 'nanosleep':
      return false;
    default:
      return true;
  }
}

/** Whether how long a loop goes on follows from what blocks write. */
function waitsForMemory({ body, parameters }: Program): boolean {
  const told = new Set<number>();
  const isWritten = ({ space, id }: ArrayReference) => {
    const parameter = parameters[id];
    return space === 'global' && parameter?.kind === 'array' && !parameter.readonly;
  };
  const tells = (expression: Expression) =>
    anyOperand(
      expression,
      (each) =>
        (each.kind === 'load' && isWritten(each.array)) || (each.kind === 'variable' && told.has(each.id)),
    );
  for (let found = true; found; ) {
    found = false;
    forEachStatement(body, (each) => {
      const variable = assignedBy(each);
      if (variable === null || told.has(variable) || !expressionsOf(each).some(tells)) return;
      told.add(variable);
      found = true;
    });
  }
  return anyStatement(body, (each) => {
    if (each.kind === 'loop') return each.test !== null && tells(each.test);
    if (each.kind !== 'if' || !tells(each.test)) return false;
    const branches = [...each.then, ...each.otherwise];
    return leaves(branches) || anyStatement(branches, ({ kind }) => kind === 'return');
  });
}
