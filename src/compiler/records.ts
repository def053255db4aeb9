// Objects and lists that change: a variable that holds one, and one whose members are assigned.
//
// Either has a variable for each of its parts. An object of JavaScript is one thing, however many names it has, and
// a kernel has no pointers to it. So a name of a changing object means its variables, also in functions that it is
// passed to; but where a variable that is assigned anew would have to point to one that others change, or change one
// that others see, it is refused. Which objects' members are assigned is found by passes, as types are.

import type { Node } from 'acorn';
import type { Cell } from './frame.ts';
import type { Lowering } from './lowering.ts';
import { describe, type ListValue, type ObjectValue, type Value } from './values.ts';

/** Gives each part of what a variable holds its new value; everything is read before anything is written. */
export function assignParts(
  lowering: Lowering,
  cell: Cell,
  given: ObjectValue | ListValue,
  node: Node,
  { part, assign }: { part: (name: string) => Cell; assign: (cell: Cell, value: Value) => void },
): void {
  refuseSecondName(lowering, cell, given, node);
  const value = lowering.settle(given, cell.name);
  const names = namesOf(value);
  cell.parts ??= new Map(names.map((name) => [name, part(name)]));
  if (names.length !== cell.parts.size || names.some((name) => !cell.parts!.has(name))) {
    refuseShape(lowering, cell, value, node);
  }
  for (const [name, item] of partsOf(value)) assign(cell.parts.get(name)!, item);
}

/** What a variable of parts holds. */
export function readParts(
  lowering: Lowering,
  cell: Cell,
  read: (cell: Cell) => Value,
): ObjectValue | ListValue {
  if (cell.parts === null) lowering.broken();
  const parts = [...cell.parts].map(([name, part]) => [name, read(part)] as const);
  if (cell.holds === 'list') return { kind: 'list', items: parts.map(([, value]) => value), named: true };
  const isAssigned = lowering.inference.assignedMembers(cell.key).length > 0;
  return {
    kind: 'object',
    name: `'${cell.name}'`,
    members: new Map(parts),
    key: cell.key,
    named: true,
    ...(isAssigned && { cells: cell.parts, moves: cell.stays !== true }),
  };
}

/** Whether a member of what a variable holds is one object for ever: it belongs to one that stays, and is not assigned. */
export function staysPart(lowering: Lowering, { key, stays, holds }: Cell, name: string): boolean {
  return stays === true && holds === 'object' && !lowering.inference.assignedMembers(key).includes(name);
}

/** The variable of a member that is assigned. */
export function memberCell(lowering: Lowering, object: ObjectValue, name: string, node: Node): Cell {
  if (object.members.has(name) && object.key !== undefined) {
    // Another pass follows, which makes the object of variables.
    if (!lowering.inference.assigns(object.key, name)) lowering.broken();
    const cell = object.cells?.get(name);
    return cell ?? lowering.broken();
  }
  return lowering.fail(
    node,
    'WS1012',
    `'${name}' of ${object.name} cannot be assigned`,
    object.key === undefined
      ? 'assign it in each branch of an if statement'
      : `name it where the object is made: { …, ${name}: 0 }`,
  );
}

/** A value under a name, or as a part of something: another name for it would be a second one. */
export function named<T extends Value>(value: T, name?: string): T {
  if (value.kind !== 'object' && value.kind !== 'list') return value;
  const isOwn = value.kind === 'object' && value.key !== undefined && name !== undefined;
  return { ...value, named: true, ...(isOwn && { name: `'${name}'` }) };
}

/** What becomes known under a second name, or as a part of something, cannot be a variable that moves to other objects. */
export function refuseMoving(lowering: Lowering, value: Value, node: Node): void {
  if (value.kind === 'object' && value.moves === true && value.cells !== undefined) {
    refuseName(lowering, `${value.name} is assigned other objects`, value, node);
  }
}

/** One of two objects, as a condition says, would be a second name for either. */
export function refuseAssigned(lowering: Lowering, value: ObjectValue, node: Node): void {
  if (value.cells !== undefined) refuseName(lowering, 'a condition chooses it', value, node);
}

function partsOf(value: ObjectValue | ListValue): readonly (readonly [string, Value])[] {
  return value.kind === 'object'
    ? [...value.members]
    : value.items.map((item, position) => [String(position), item]);
}

function namesOf(value: ObjectValue | ListValue): readonly string[] {
  return partsOf(value).map(([name]) => name);
}

function refuseShape(lowering: Lowering, cell: Cell, value: ObjectValue | ListValue, node: Node): never {
  const held = [...cell.parts!.keys()];
  const [before, now] =
    value.kind === 'list'
      ? [`a list of ${held.length}`, describe(value)]
      : [`an object of ${held.join(', ')}`, `one of ${namesOf(value).join(', ')}`];
  return lowering.fail(
    node,
    'WS1006',
    `'${cell.name}' holds ${before}, and is assigned ${now}`,
    'a variable that changes keeps to the members of the first that it is given',
  );
}

/** A variable that is assigned an object takes over its parts, which is the same as long as no part of either changes. */
function refuseSecondName(lowering: Lowering, cell: Cell, value: ObjectValue | ListValue, node: Node): void {
  if (value.kind === 'list' || value.named !== true) return;
  const { inference } = lowering;
  const changing = [cell.key, value.key ?? ''].some((key) => inference.assignedMembers(key).length > 0);
  if (!changing) return;
  const why = cell.stays
    ? `'${cell.name}' is a part of an object that keeps its members in variables of its own`
    : `'${cell.name}' is assigned other objects`;
  refuseName(lowering, why, value, node);
}

function refuseName(lowering: Lowering, why: string, { name }: ObjectValue, node: Node): never {
  const text = name.startsWith("'") ? name.slice(1, -1) : '…';
  return lowering.fail(
    node,
    'WS1006',
    `this would be a second name for ${name}: ${why}, and members are assigned`,
    text === '…'
      ? 'make a new one: { name: value }'
      : `kernels have no pointers to objects: copy it, { ...${text} }`,
  );
}
