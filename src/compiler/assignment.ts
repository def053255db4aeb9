// Assignments: to variables, to elements of arrays, and to several at once.

import type {
  AnyNode,
  AssignmentExpression,
  AssignmentOperator,
  BinaryOperator,
  Identifier,
  Node,
  UpdateExpression,
} from 'acorn';
import { isNumberElement } from '../kernel/layout.ts';
import { isVectorType, type VectorType } from '../kernel/types.ts';
import type { Advice } from './advice.ts';
import { optionsOf } from './array-choice.ts';
import { assign, assignComponent, meaningOf, newCell, read } from './cells.ts';
import { branch } from './conditional.ts';
import { withArray } from './each-array.ts';
import { memberNames, memberPlace, type Place, wholeElement } from './elements.ts';
import type { Cell } from './frame.ts';
import type { Lowering } from './lowering.ts';
import { element, refuseElements } from './members.ts';
import { refuseDefault } from './missing.ts';
import { isBigintValue, rounded, toBool, toIndex } from './numbers.ts';
import { binaryOperation } from './operators.ts';
import { takeApart } from './patterns.ts';
import { dividedFor } from './quotients.ts';
import { memberCell } from './records.ts';
import type { Declaration } from './resolve.ts';
import {
  type ArrayChoiceValue,
  describe,
  isArray,
  isNumeric,
  literal,
  type NumberValue,
  number,
  type ObjectValue,
  undefinedValue,
  type Value,
  type VectorValue,
  type ViewValue,
} from './values.ts';
import { componentIndex, componentsOf, componentValue } from './vectors.ts';
import { loadElement, numberType, storeElement } from './views.ts';

/** Something that can be assigned: all of it, or a part of the vector or record that it holds. */
type Target =
  | { readonly kind: 'cell'; readonly cell: Cell; readonly component: number | null }
  | {
      readonly kind: 'element';
      readonly array: ViewValue | ArrayChoiceValue;
      readonly index: NumberValue;
      /** The part of the element. */
      readonly place: Place;
    };

/** `target operator= value`; its value is that which was assigned. */
export function assignment(lowering: Lowering, node: AssignmentExpression): Value {
  const { operator, left } = node;
  if (left.type === 'ArrayPattern' || left.type === 'ObjectPattern') return assignPattern(lowering, node);
  if (operator === '=') return assignPlain(lowering, node);
  if (operator === '??=') return refuseDefault(lowering, node);
  if (operator === '&&=' || operator === '||=') return assignIf(lowering, node, operator);
  const token = operator.slice(0, -1) as BinaryOperator;
  const place = targetOf(lowering, left as Assignable);
  const [array, index, before, value] = lowering.inOrder<[Value, Value, Value, Value]>(
    () => (place.kind === 'element' ? place.array : undefinedValue),
    () => (place.kind === 'element' ? place.index : undefinedValue),
    () => readTarget(lowering, place, left),
    () => lowering.value(node.right),
  );
  const kept = place.kind === 'element' ? ({ ...place, array, index } as typeof place) : place;
  return write(lowering, kept, binaryOperation(lowering, token, before, value, node), node);
}

/** `++target` and the like; the value of `target++` is what was there before. */
export function update(
  lowering: Lowering,
  { operator, argument, prefix }: UpdateExpression,
  node: Node,
): Value {
  const place = targetOf(lowering, argument as Assignable);
  const now = readTarget(lowering, place, argument);
  // Counting is a use as an integer.
  if (isNumeric(now)) lowering.inference.meets(now, 'i32');
  const before = prefix || lowering.isUnused(node) ? now : lowering.settle(now, 'before');
  const token = operator === '++' ? '+' : '-';
  const one = literal(isBigintValue(now) ? 1n : 1);
  const after = write(lowering, place, binaryOperation(lowering, token, before, one, node), node);
  return prefix ? after : before;
}

function assignPlain(lowering: Lowering, node: AssignmentExpression): Value {
  const target = node.left as Assignable;
  const place = wholeOf(lowering, target) ?? target;
  if (place.type !== 'MemberExpression' || target.type !== 'MemberExpression') {
    const makes = target.type === 'Identifier' && node.right.type === 'CallExpression';
    if (makes) lowering.name(node.right, target.name);
    return write(lowering, targetOf(lowering, target), lowering.value(node.right), node);
  }
  const [object, index, value] = lowering.inOrder(
    () => lowering.value(place.object),
    () => (place.computed ? lowering.value(place.property) : literal(0)),
    () => lowering.value(node.right),
  );
  return write(lowering, elementTarget(lowering, target, place, object, index), value, node);
}

/** `x &&= y`: assigned only if x holds. */
function assignIf(
  lowering: Lowering,
  node: AssignmentExpression,
  operator: Extract<AssignmentOperator, '&&=' | '||='>,
): Value {
  const target = targetOf(lowering, node.left as Assignable);
  const place =
    target.kind === 'cell'
      ? target
      : {
          ...target,
          array: lowering.settle(target.array, 'view'),
          index: lowering.settle(target.index, 'position'),
        };
  const holds = toBool(lowering, readTarget(lowering, place, node.left), node);
  const put = () => {
    write(lowering, place, lowering.value(node.right), node);
  };
  if (operator === '&&=') branch(lowering, holds, put, null, node);
  else branch(lowering, holds, () => {}, put, node);
  return readTarget(lowering, place, node.left);
}

/** `[a, b] = [b, a]`: everything is read before anything is written. */
function assignPattern(lowering: Lowering, node: AssignmentExpression): Value {
  const value = lowering.settle(lowering.value(node.right), 'swapped');
  takeApart(lowering, node.left as Parameters<typeof takeApart>[1], value, (target, part) => {
    write(lowering, targetOf(lowering, target as Assignable), part, target);
  });
  return value;
}

function targetOf(lowering: Lowering, node: Assignable): Target {
  if (node.type === 'Identifier') return cellTarget(lowering, node, false);
  const place = wholeOf(lowering, node) ?? node;
  if (place.type === 'Identifier') {
    const target = cellTarget(lowering, place, true);
    return { ...target, component: componentNamed(lowering, cellType(target), node) };
  }
  const [object, index] = lowering.inOrder(
    () => lowering.value(place.object),
    () => (place.computed ? lowering.value(place.property) : literal(0)),
  );
  return elementTarget(lowering, node, place, object, index);
}

type CellTarget = Extract<Target, { kind: 'cell' }>;
type MemberNode = Extract<AnyNode, { type: 'MemberExpression' }>;
/** All that JavaScript lets a program assign, but for patterns. */
type Assignable = Identifier | MemberNode;

/** Of `v.x`, `a[i].x` and `a[i].low.x`: `v`, where that holds a vector, and `a[i]`. */
function wholeOf(lowering: Lowering, node: Assignable): Assignable | null {
  if (node.type !== 'MemberExpression' || node.computed) return null;
  const whole = node.object as AnyNode;
  if (whole.type === 'MemberExpression') {
    const indexed = indexedOf(whole);
    if (indexed !== null) return indexed;
    return isChain(whole) && lowering.value(whole).kind === 'vector' ? whole : null;
  }
  if (whole.type !== 'Identifier') return null;
  const declaration = meaningOf(lowering, whole);
  const known = declaration && lowering.frame.lookUp(declaration);
  return known?.kind === 'cell' && known.cell.holds === 'vector' ? whole : null;
}

/** Of `a[i].low.x`: `a[i]`. */
function indexedOf(node: MemberNode): MemberNode | null {
  if (node.computed) return node;
  const object = node.object as AnyNode;
  return object.type === 'MemberExpression' ? indexedOf(object) : null;
}

/** The members from an element to what is assigned of it: of `a[i].low.x` those that name `low` and `x`. */
function pathOf(node: MemberNode, element: MemberNode): readonly MemberNode[] {
  return node === element ? [] : [...pathOf(node.object as MemberNode, element), node];
}

/** Whether it is a name, or a member of a member … of one. */
function isChain(node: AnyNode): boolean {
  if (node.type === 'Identifier') return true;
  return node.type === 'MemberExpression' && !node.computed && isChain(node.object as AnyNode);
}

function cellType({ cell }: CellTarget): VectorType {
  return (cell.value as VectorValue).type;
}

/** The component that a member names. */
function componentNamed(lowering: Lowering, type: VectorType, { property }: MemberNode): number {
  const name = property.type === 'Identifier' ? property.name : '';
  return (
    componentIndex(type, name) ??
    lowering.fail(
      property,
      'WS1003',
      `a vector (${type}) has no '${name}'`,
      `it has ${componentsOf(type).join(', ')}`,
    )
  );
}

/** `part`: only a component is assigned, which a constant allows, as in JavaScript. */
function cellTarget(
  lowering: Lowering,
  node: Extract<AnyNode, { type: 'Identifier' }>,
  part: boolean,
): CellTarget {
  const declaration = meaningOf(lowering, node);
  if (declaration === undefined) {
    const hint = 'assign a variable of your own';
    return lowering.fail(
      node,
      'WS1012',
      `'${node.name}' belongs to JavaScript, and cannot be assigned`,
      hint,
    );
  }
  const known = lowering.frame.lookUp(declaration);
  if (known?.kind === 'cell' && (declaration.kind !== 'const' || part)) {
    return { kind: 'cell', cell: known.cell, component: null };
  }
  if (known === undefined && declaration.kind === 'var') {
    const cell = newCell(lowering, declaration.name, declaration.node);
    lowering.frame.bind(declaration, { kind: 'cell', cell });
    return { kind: 'cell', cell, component: null };
  }
  return lowering.fail(
    node,
    'WS1012',
    `'${declaration.name}' is a ${declaration.kind === 'const' ? 'constant' : declaration.kind}, and cannot be assigned`,
    declaration.kind === 'const' ? letAdvice(lowering, declaration) : 'use a variable of its own',
  );
}

/** `let` in place of the word before a constant's name. */
function letAdvice(lowering: Lowering, { name, node }: Declaration): Advice {
  const { source, start } = lowering.range(node);
  const [word] = /\bconst\s+$/.exec(lowering.sources[source]!.text.slice(0, start)) ?? [];
  const range = word && { source, start: start - word.length, end: start - word.length + 'const'.length };
  const hint = `declare it by let: let ${name}`;
  return {
    hint,
    fixes: range
      ? [
          {
            title: hint,
            within: { source, start: range.start, end: start },
            edits: [{ range, replacement: 'let' }],
          },
        ]
      : [],
  };
}

/** `node` is what is assigned, and `place` the element: the same, or that of which `node` is a component. */
function elementTarget(
  lowering: Lowering,
  node: MemberNode,
  place: MemberNode,
  object: Value,
  index: Value,
): Target {
  if (object.kind === 'broken') lowering.broken();
  if (object.kind === 'object' && !place.computed) {
    const target = memberTarget(lowering, object, place);
    return node === place
      ? target
      : { ...target, component: componentNamed(lowering, cellType(target), node) };
  }
  if (object.kind === 'list' && node.object === place) {
    const item = element(lowering, object, index, place, place.property);
    if (item.kind === 'object') return memberTarget(lowering, item, node);
  }
  if (!isArray(object) || !place.computed) refuseTarget(lowering, place, object);
  const [first] = optionsOf(object);
  const at = toIndex(lowering, index, place.property, `an index of '${first!.name}'`);
  let part = wholeElement(first!.element);
  for (const step of pathOf(node, place)) {
    if (isNumberElement(part.element))
      refuseTarget(lowering, step, loadElement(lowering, first!, at, place, part));
    part = partNamed(lowering, part, step);
  }
  return { kind: 'element', array: object, index: number('index', at), place: part };
}

/** The part of an element that a member names. */
function partNamed(lowering: Lowering, place: Place, { property }: MemberNode): Place {
  const name = property.type === 'Identifier' ? property.name : '';
  const { element } = place;
  return (
    memberPlace(place, name) ??
    lowering.fail(
      property,
      'WS1003',
      `a ${isVectorType(element) ? `vector (${element})` : `record ${element}`} has no '${name}'`,
      `it has ${memberNames(place).join(', ')}`,
    )
  );
}

function memberTarget(lowering: Lowering, object: ObjectValue, node: MemberNode): CellTarget {
  const { property } = node;
  const name = property.type === 'Identifier' ? property.name : '';
  return { kind: 'cell', cell: memberCell(lowering, object, name, node), component: null };
}

function refuseTarget(lowering: Lowering, node: MemberNode, object: Value): never {
  if (isNumeric(object) && node.computed) refuseElements(lowering, object, node);
  const { property, computed } = node;
  const member = !computed && property.type === 'Identifier' ? `'${property.name}'` : 'a member';
  return lowering.fail(
    node,
    'WS1012',
    `${member} of ${describe(object)} cannot be assigned`,
    'kernels write to elements of arrays, to variables, and to members of objects and vectors in both',
  );
}

function readTarget(lowering: Lowering, target: Target, node: Node): Value {
  if (target.kind === 'element') {
    const { array, index, place } = target;
    return withArray(lowering, array, node, (view) =>
      loadElement(lowering, view, index.expression, node, place),
    );
  }
  const value = read(lowering, target.cell, node);
  return value.kind === 'vector' && target.component !== null
    ? componentValue(value, target.component)
    : value;
}

/** What is written to, in an assignment. */
function targetNode(node: AnyNode | Node): Node {
  if ('left' in node) return node.left as Node;
  return 'argument' in node ? (node.argument as Node) : node;
}

/** Writes, and gives the value that an enclosing expression goes on with. */
function write(lowering: Lowering, target: Target, value: Value, node: AnyNode | Node): Value {
  const right = 'right' in node ? (node.right as Node) : node;
  if (target.kind === 'cell') {
    if (target.component === null) assign(lowering, target.cell, value, right);
    else assignComponent(lowering, target.cell, target.component, value, right);
    return lowering.isUnused(node) ? value : readTarget(lowering, target, node);
  }
  const type = numberType(lowering, optionsOf(target.array)[0]!, target.place);
  const given = type === undefined ? value : dividedFor(lowering, value, type);
  const kept = lowering.isUnused(node) ? given : lowering.settle(rounded(lowering, given), 'stored');
  const { array, index, place } = target;
  withArray(lowering, array, node, (view) => {
    storeElement(lowering, view, index.expression, place, kept, targetNode(node), right);
    return undefinedValue;
  });
  return kept;
}
