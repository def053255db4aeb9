// Variables that change: what they hold, and how it is read and assigned.

import type { Identifier, Node } from 'acorn';
import { componentNames } from '../kernel/types.ts';
import { castAdvice, replacementAdvice } from './advice.ts';
import { codeAmong, ofArray, optionsOf, partsOf, refuseOtherElements } from './array-choice.ts';
import { variable } from './build.ts';
import { textCode } from './comparisons.ts';
import type { Cell } from './frame.ts';
import type { Expression, ValueType } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { isBigint, isFloat, isInteger, join, type NumberType } from './number-types.ts';
import { isBigintValue, numeric, rounded, toType } from './numbers.ts';
import { dividedFor } from './quotients.ts';
import { assignParts, named, readParts, refuseMoving, staysPart } from './records.ts';
import type { Declaration } from './resolve.ts';
import {
  type ArrayChoiceValue,
  describe,
  isArray,
  isNumeric,
  type Numeric,
  number,
  type ObjectValue,
  type QuotientValue,
  type TokenValue,
  type Value,
  type VectorValue,
  type ViewValue,
} from './values.ts';
import { componentsOf, toComponent } from './vectors.ts';
import { refuseWindow, viewLength } from './views.ts';

export function newCell(lowering: Lowering, name: string, node: Node, role = ''): Cell {
  const key = `${lowering.key(node)}${role}`;
  return { name, key, node, holds: 'nothing', variable: null, value: null, parts: null };
}

/** What a declared name means: the value itself, or a variable if it changes. */
export function declare(
  lowering: Lowering,
  identifier: Identifier,
  value: Value | null,
  from: Node = identifier,
): void {
  const declaration = declarationOf(lowering, identifier);
  const { frame } = lowering;
  const isCell = declaration.changes || (declaration.hasParts && value?.kind === 'vector');
  if (!isCell) {
    if (value !== null && declaration.kind !== 'parameter') refuseMoving(lowering, value, identifier);
    const kept = named(settled(lowering, value, declaration), declaration.name);
    frame.bind(declaration, { kind: 'value', value: kept });
    return;
  }
  // A `var` may be declared again, and then goes on as the variable it is.
  const known = declaration.kind === 'var' ? frame.lookUp(declaration) : undefined;
  const cell = known?.kind === 'cell' ? known.cell : newCell(lowering, declaration.name, declaration.node);
  frame.bind(declaration, { kind: 'cell', cell });
  if (value === null || value.kind === 'undefined') return;
  if (known === undefined && value.kind === 'number') lowering.inference.starts(cell.key, value.type);
  assign(lowering, cell, value, from);
}

function settled(lowering: Lowering, value: Value | null, declaration: Declaration): Value {
  if (value === null) return { kind: 'undefined' };
  return lowering.settle(rounded(lowering, value), declaration.name);
}

/** What a name means; undefined for one of JavaScript's globals. */
export function meaningOf(lowering: Lowering, identifier: Identifier): Declaration | undefined {
  return lowering.frame.parsed.resolution.declarations.get(identifier);
}

/** The declaration that an identifier stands in. */
export function declarationOf(lowering: Lowering, identifier: Identifier): Declaration {
  return meaningOf(lowering, identifier)!;
}

/** What a variable holds now. */
export function read(lowering: Lowering, cell: Cell, node: Node): Value {
  const range = lowering.range(node);
  switch (cell.holds) {
    case 'text':
      return { kind: 'choice', code: variable(cell.variable!, 'i32', range) };
    case 'view': {
      const view = cell.value as ViewValue | ArrayChoiceValue | null;
      if (view === null) return lowering.broken();
      if (view.kind === 'arrayChoice') return view;
      return { ...view, offset: variable(cell.variable!, lowering.indexType, range) };
    }
    case 'token': {
      const token = cell.value as TokenValue;
      return { ...token, phase: variable(cell.variable!, token.phase.type, range) };
    }
    case 'object':
    case 'list':
      return readParts(lowering, cell, (part) => read(lowering, part, node));
    case 'vector':
    case 'other':
      return cell.value!;
    default: {
      // A variable that is read before it is given anything is taken for a number.
      const type = lowering.inference.typeOf(cell.key);
      if (type === undefined) return { kind: 'open', cells: [cell.key], fractional: false };
      return number(type, variable(numberVariable(lowering, cell, type), lowering.valueType(type), range));
    }
  }
}

function numberVariable(lowering: Lowering, cell: Cell, type: NumberType): number {
  cell.variable ??= lowering.newVariable(cell.name, lowering.valueType(type));
  return cell.variable;
}

/** Gives a variable a value. */
export function assign(lowering: Lowering, cell: Cell, value: Value, node: Node): void {
  if (value.kind === 'broken') lowering.broken();
  if (isArray(value)) {
    hold(lowering, cell, 'view', value, node);
    assignArray(lowering, cell, value, node);
  } else if (value.kind === 'vector') {
    hold(lowering, cell, 'vector', value, node);
    assignVector(lowering, cell, value, node);
  } else if (isNumeric(value) || value.kind === 'quotient') {
    hold(lowering, cell, 'number', value, node);
    assignNumber(lowering, cell, value, node);
  } else if (value.kind === 'text' || value.kind === 'choice') {
    hold(lowering, cell, 'text', value, node);
    cell.variable ??= lowering.newVariable(cell.name, 'i32');
    emit(lowering, cell.variable, textCode(lowering, value, node), node);
  } else if (value.kind === 'token') {
    hold(lowering, cell, 'token', value, node);
    assignToken(lowering, cell, value, node);
  } else if (value.kind === 'object' || value.kind === 'list') {
    hold(lowering, cell, value.kind, value, node);
    assignParts(lowering, cell, value, node, {
      part: (name) => ({
        ...newCell(lowering, `${cell.name}.${name}`, cell.node),
        key: `${cell.key}.${name}`,
        stays: staysPart(lowering, cell, name),
      }),
      assign: (part, item) => assign(lowering, part, item, node),
    });
  } else {
    // A group or a function may be assigned once, apart from its declaration.
    hold(lowering, cell, 'other', value, node);
    if (cell.value !== null) refuse(lowering, cell, value, node);
    cell.value = value;
  }
}

/** An object that nothing else names: of variables if a member of it is assigned. */
export function ownObject(lowering: Lowering, made: ObjectValue, node: Node): Value {
  const cell = { ...newCell(lowering, lowering.nameOf(node, 'object'), node, '{}'), stays: true };
  const object = { ...made, key: cell.key };
  if (lowering.inference.assignedMembers(cell.key).length === 0) return object;
  assign(lowering, cell, object, node);
  return { ...read(lowering, cell, node), named: false } as Value;
}

/** A variable keeps to the kind of the first value that it is given. */
function hold(lowering: Lowering, cell: Cell, what: Cell['holds'], value: Value, node: Node): void {
  if (cell.holds === 'nothing') cell.holds = what;
  if (cell.holds !== what) refuse(lowering, cell, value, node);
}

/** Everything is read before anything is written: a vector may be made of what it replaces. */
function assignVector(lowering: Lowering, cell: Cell, value: VectorValue, node: Node): void {
  const range = lowering.range(node);
  const { components } = lowering.settle(value, cell.name);
  if (cell.value === null) {
    const variables = components.map(({ type }, component) =>
      variable(lowering.newVariable(`${cell.name}.${componentNames[component]}`, type), type, range),
    );
    cell.value = { ...value, components: variables };
  }
  const held = cell.value as VectorValue;
  if (held.type !== value.type) refuseVector(lowering, cell, held, value, node);
  held.components.forEach((target, component) => {
    if (target.kind === 'variable') emit(lowering, target.id, components[component]!, node);
  });
}

function refuseVector(
  lowering: Lowering,
  cell: Cell,
  held: VectorValue,
  value: VectorValue,
  node: Node,
): never {
  return lowering.fail(
    node,
    'WS1004',
    `'${cell.name}' is a vector (${held.type}), and is assigned ${describe(value)}`,
    `make one: cuda.${held.type}(${componentsOf(held.type).join(', ')})`,
  );
}

/** Gives one component of a variable that holds a vector a value. */
export function assignComponent(
  lowering: Lowering,
  cell: Cell,
  component: number,
  value: Value,
  node: Node,
): void {
  const { type, components } = cell.value as VectorValue;
  const target = components[component]!;
  const given = toComponent(lowering, value, type, component, node);
  if (target.kind === 'variable') emit(lowering, target.id, given, node);
}

function assignNumber(lowering: Lowering, cell: Cell, assigned: Numeric | QuotientValue, node: Node): void {
  const { inference } = lowering;
  inference.receives(cell.key, assigned);
  const type = inference.typeOf(cell.key);
  if (type === undefined) return;
  const wanted = isInteger(type) ? 'integer' : 'any';
  const value = numeric(lowering, dividedFor(lowering, assigned, type), node, 'this', wanted);
  inference.meets(value, type);
  const given = value.kind === 'number' ? value.type : null;
  const isOtherKind = value.kind !== 'open' && isBigintValue(value) !== isBigint(type);
  if (isOtherKind || (given !== null && !isAssignable(given, type))) {
    lowering.fail(
      node,
      'WS1004',
      `'${cell.name}' is ${type}, and is assigned ${describe(value)}`,
      isOtherKind && value.kind === 'literal' && Number.isInteger(value.value)
        ? replacementAdvice(lowering, node, `${value.value}n`)
        : isInteger(type) && given !== null && isFloat(given)
          ? castAdvice(lowering, node, type, `, or let '${cell.name}' start as ${given}`, 'cast the value')
          : castAdvice(lowering, node, type, '', 'cast the value'),
    );
  }
  emit(lowering, numberVariable(lowering, cell, type), toType(lowering, value, type, node), node);
}

/** Whether a variable of type `to` takes a value of type `from` as it is. */
function isAssignable(from: NumberType, to: NumberType): boolean {
  if (to === 'bool') return from === 'bool';
  return join(from, to) === to;
}

/**
 * A variable of parts of one array has their offset, and their length where they have an end of their own. One of
 * several arrays, which former passes have found, has always a length, and a number that says which it is.
 */
function assignArray(lowering: Lowering, cell: Cell, given: ViewValue | ArrayChoiceValue, node: Node): void {
  const value = partsOf(lowering, given, node);
  for (const view of optionsOf(value)) refuseWindow(lowering, view, node);
  const { inference } = lowering;
  const first = inference.firstArrayOf(cell.key);
  refuseOtherElements(lowering, first === undefined ? optionsOf(value) : [first, ...optionsOf(value)], node);
  // Another pass follows, which knows them.
  if (!inference.mayBe(cell.key, optionsOf(value))) lowering.broken();
  const arrays = inference.arraysOf(cell.key);
  if (arrays.length > 1) assignChoice(lowering, cell, arrays, value, node);
  else if (value.kind === 'view') assignView(lowering, cell, value, node);
}

function assignChoice(
  lowering: Lowering,
  cell: Cell,
  arrays: readonly ViewValue[],
  value: ViewValue | ArrayChoiceValue,
  node: Node,
): void {
  if (cell.value === null) {
    const { indexType } = lowering;
    const range = lowering.range(node);
    const named = (name: string, type: ValueType) => variable(lowering.newVariable(name, type), type, range);
    const code = named(`${cell.name}.array`, 'i32');
    const offset = named(cell.name, indexType);
    const length = named(`${cell.name}.length`, indexType);
    cell.value = { kind: 'arrayChoice', code, options: arrays.map((view) => ({ ...view, offset, length })) };
  }
  const held = cell.value as ArrayChoiceValue;
  const { offset, length } = held.options[0]!;
  // All is computed of the array before any of it changes.
  const parts = [
    [held.code, codeAmong(lowering, value, arrays, node)],
    [offset, ofArray(lowering, value, node, (view) => view.offset)],
    [length!, ofArray(lowering, value, node, (view) => viewLength(lowering, view, node))],
  ] as const;
  const settled = parts.map(
    ([target, part]) => [target, lowering.settleExpression(part, cell.name)] as const,
  );
  for (const [target, part] of settled) {
    if (target.kind === 'variable') emit(lowering, target.id, part, node);
  }
}

function assignView(lowering: Lowering, cell: Cell, view: ViewValue, node: Node): void {
  const held = cell.value as ViewValue | null;
  cell.variable ??= lowering.newVariable(cell.name, lowering.indexType);
  if (held === null) {
    const length = view.length === null ? null : lengthVariable(lowering, cell, view.length, node);
    cell.value = { ...view, length };
  } else if (held.length?.kind === 'variable') {
    // Both are computed of the part before either changes.
    const length = lowering.settleExpression(viewLength(lowering, view, node), 'length');
    emit(lowering, cell.variable, view.offset, node);
    emit(lowering, held.length.id, length, node);
    return;
  } else if (view.length !== null) {
    lowering.fail(
      node,
      'WS1006',
      `'${cell.name}' reaches to the end of '${view.name}', and is assigned a part with an end of its own`,
      'give both parts an end: subarray(begin, end), or neither',
    );
  }
  emit(lowering, cell.variable, view.offset, node);
}

function lengthVariable(lowering: Lowering, cell: Cell, length: Expression, node: Node): Expression {
  const id = lowering.newVariable(`${cell.name}.length`, lowering.indexType);
  emit(lowering, id, length, node);
  return variable(id, lowering.indexType, lowering.range(node));
}

function assignToken(lowering: Lowering, cell: Cell, token: TokenValue, node: Node): void {
  const held = cell.value as TokenValue | null;
  if (held !== null && held.barrier !== token.barrier) {
    lowering.fail(
      node,
      'WS1006',
      `'${cell.name}' holds tokens of '${held.name}', and cannot hold one of '${token.name}'`,
      'use a variable for the tokens of each barrier',
    );
  }
  cell.value ??= token;
  cell.variable ??= lowering.newVariable(cell.name, token.phase.type);
  emit(lowering, cell.variable, token.phase, node);
}

const heldKinds = {
  nothing: 'nothing',
  number: 'a number',
  text: 'a string',
  view: 'an array',
  token: "a barrier's token",
  vector: 'a vector',
  object: 'an object',
  list: 'a list',
  other: 'something that is no number',
} as const;

function refuse(lowering: Lowering, cell: Cell, value: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1006',
    `'${cell.name}' holds ${heldKinds[cell.holds]}, and cannot be assigned ${describe(value)}`,
    'a variable that changes keeps to one kind of value; use another variable',
  );
}

function emit(lowering: Lowering, id: number, value: Expression, node: Node): void {
  lowering.emit({ kind: 'assign', variable: id, value, range: lowering.range(node) });
}
