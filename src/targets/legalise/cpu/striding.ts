// Loops that stride over the grid, and whether a block may be put aside in one.
//
// A loop strides where its rounds access arrays of the launch at places that lie the grid's size apart. Blocks may take turns at
// it if nothing in the program tells them how far others have come: no operation of theirs orders or waits for
// what other blocks do, none prints or asks for the time, and none gives another result in another order, as sums of
// floats do. So results stay the same from launch to launch, however many blocks take turns.

import type { ArrayReference, AtomicOperator, Call, Expression, Program } from '../../../compiler/ir.ts';
import { isFloat } from '../../../compiler/number-types.ts';
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

type Atomic = Extract<Call, { intrinsic: 'atomic' }>;

/** Whether the rounds of a loop of a program's stride over the grid. */
export function stridesOverGrid(loop: Loop, { body }: Pick<Program, 'body'>): boolean {
  const turn = [...loop.body, ...loop.update];
  const assigned = assignedIn(turn);
  const striding = new Set<number>();
  const isSize = gridSizes(body);
  const strides = (expression: Expression) => {
    const read = [...readBy(expression)];
    if (read.some((id) => striding.has(id))) return true;
    return read.some((id) => assigned.has(id)) && anyOperand(expression, isSize);
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

/** Whether each turn of a loop goes on by the grid's size. */
export function stepsByGrid({ update }: Loop, { body }: Pick<Program, 'body'>): boolean {
  const isSize = gridSizes(body);
  return update.some((each) => each.kind === 'assign' && anyOperand(each.value, isSize));
}

/** What has the grid's size, or a multiple of it: variables too. */
function gridSizes(body: Program['body']): (expression: Expression) => boolean {
  const sizes = new Set<number>();
  forEachStatement(body, (each) => {
    if (each.kind === 'assign' && anyOperand(each.value, isGridDim)) sizes.add(each.variable);
  });
  return (each) => isGridDim(each) || (each.kind === 'variable' && sizes.has(each.id));
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
      return call.result === null && call.order === undefined && isInAnyOrder(call);
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

const anyOrder: ReadonlySet<AtomicOperator> = new Set(['add', 'sub', 'min', 'max', 'and', 'or', 'xor']);

/** Whether an atomic operation leaves the same, whichever block comes first. */
function isInAnyOrder(call: Atomic): boolean {
  return call.array.space !== 'global' || commutes(call);
}

/** Whether atomic operations of a kind leave the same in whatever order. */
export function commutes({ operator, value }: Pick<Atomic, 'operator' | 'value'>): boolean {
  return anyOrder.has(operator) && !isFloat(value.type);
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
    const add = (variable: number | null) => {
      if (variable === null || told.has(variable)) return;
      told.add(variable);
      found = true;
    };
    forEachStatement(body, (each) => {
      if (!expressionsOf(each).some(tells)) return;
      add(assignedBy(each));
      // What is assigned in a branch tells which one was taken.
      if (each.kind === 'if') for (const id of assignedIn([each])) add(id);
    });
  }
  return anyStatement(body, (each) => {
    if (each.kind === 'loop') return each.test !== null && tells(each.test);
    if (each.kind !== 'if' || !tells(each.test)) return false;
    const branches = [...each.then, ...each.otherwise];
    return leaves(branches) || anyStatement(branches, ({ kind }) => kind === 'return');
  });
}
