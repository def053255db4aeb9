// Reading and writing arrays through views.

import type { Node } from 'acorn';
import type { HalfFormat } from '../kernel/half.ts';
import {
  componentCount,
  componentOf,
  type ElementType,
  isVectorType,
  type VectorType,
} from '../kernel/types.ts';
import { binary, compare, conditional, convert, load, numberConstant, recode } from './build.ts';
import { type Expression, elementValueType, type LocalArray } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { loadedType, type NumberType } from './number-types.ts';
import { toStored } from './numbers.ts';
import { boundsAt, evaluatedOnce, hasRows, partOf, rowOf } from './shapes.ts';
import { isNumeric, type Numeric, number, type Value, type VectorValue, type ViewValue } from './values.ts';
import { toComponent, toVector } from './vectors.ts';

/** How many elements a view has. */
export function viewLength(lowering: Lowering, view: ViewValue, node: Node): Expression {
  if (view.window !== undefined) {
    return lowering.indexConstant(view.window[1] - view.window[0] + 1, node);
  }
  if (view.dimensions !== undefined) return view.dimensions[0]!.extent;
  if (view.length !== null) return view.length;
  const range = lowering.range(node);
  const { indexType: type } = lowering;
  const whole: Expression = { kind: 'length', type, array: view.array, range };
  if (view.offset.kind === 'constant' && Number(view.offset.value) === 0) return whole;
  const rest = binary('subtract', whole, view.offset, range);
  return binary('max', rest, numberConstant(type, 0, range), range);
}

/** The part of a view from `begin` to `end`, or to the view's own end. */
export function subarray(
  lowering: Lowering,
  whole: ViewValue,
  begin: Expression | null,
  end: Expression | null,
  node: Node,
): ViewValue {
  refuseWindow(lowering, whole, node);
  const view = partOf(lowering, whole, node);
  const range = lowering.range(node);
  const { indexType: type } = lowering;
  const start = begin ?? numberConstant(type, 0, range);
  const isWhole = start.kind === 'constant' && Number(start.value) === 0 && end === null;
  if (isWhole) return view;
  const stop = end ?? view.length;
  const length =
    stop === null
      ? null
      : binary('max', binary('subtract', stop, start, range), numberConstant(type, 0, range), range);
  return { ...view, offset: binary('add', view.offset, start, range), length };
}

/** Where an element of a view is in its array. */
function position(lowering: Lowering, view: ViewValue, index: Expression, node: Node): Expression {
  const range = lowering.range(node);
  if (view.window === undefined) return binary('add', view.offset, index, range);
  const [first, last] = view.window;
  if (index.kind === 'constant') {
    const known = Number(index.value);
    if (known >= first && known <= last) return binary('add', view.offset, index, range);
    return lowering.fail(
      node,
      'WS1009',
      `'${view.name}' has the positions ${first} to ${last}, and this is ${known}`,
      `widen its window: ${view.name}: '${view.element}[${Math.min(first, known)}..${Math.max(last, known)}]'`,
    );
  }
  // What lies outside the window is outside the array, though the array may go on there: else a result
  // would depend on how the rows are cut into chunks.
  const place = lowering.settleExpression(index, 'position');
  const bound = (value: number) => lowering.indexConstant(value, node);
  const inside = compare('lessEqual', place, bound(last), range);
  const reached = conditional(inside, binary('add', view.offset, place, range), bound(-1), range);
  return conditional(compare('greaterEqual', place, bound(first), range), reached, bound(-1), range);
}

/** A window is read by position; a part of it would have other positions. */
export function refuseWindow(lowering: Lowering, view: ViewValue, node: Node): void {
  if (view.window === undefined) return;
  lowering.fail(
    node,
    'WS1006',
    `'${view.name}' is an element with its neighbours, and stands for no array`,
    `read them by their positions: ${view.name}[${view.window[0]}] … ${view.name}[${view.window[1]}]`,
  );
}

/** The type of an element, or of a component of it, in the kernel; undefined while it is open. */
export function elementType(lowering: Lowering, { element, inferred }: ViewValue): NumberType | undefined {
  return inferred === null ? loadedType(element) : lowering.inference.typeOf(inferred);
}

/** What an index of a view picks: a number or a vector, or of several dimensions a row. */
export function loadElement(
  lowering: Lowering,
  view: ViewValue,
  given: Expression,
  node: Node,
): Numeric | VectorValue | ViewValue {
  if (hasRows(view)) return rowOf(lowering, view, given, node);
  const { array, element } = view;
  const type = elementType(lowering, view);
  if (type === undefined) return { kind: 'open', cells: [view.inferred!], fractional: false };
  const range = lowering.range(node);
  const index = view.dimensions === undefined ? given : evaluatedOnce(lowering, given);
  const bounds = boundsAt(view, index);
  const at = position(lowering, view, index, node);
  const loaded = elementValueType(element);
  if (isVectorType(element)) {
    const place = lowering.settleExpression(at, 'position');
    const components = Array.from({ length: componentCount(element) }, (_, component) =>
      load(array, place, loaded, range, { component, bounds }),
    );
    return { kind: 'vector', type: element, components };
  }
  const value = load(array, at, loaded, range, { bounds });
  if (isHalf(element)) return number('f32', recode(value, 'f32', element, range));
  return number(type, convert(value, lowering.valueType(type), range));
}

/** Stores a value as an element, or as a component of one. */
export function storeElement(
  lowering: Lowering,
  view: ViewValue,
  given: Expression,
  component: number | null,
  value: Value,
  node: Node,
  valueNode: Node,
): void {
  refuseReadonly(lowering, view, node);
  if (hasRows(view)) {
    lowering.fail(
      node,
      'WS1012',
      `a row of '${view.name}' cannot be assigned`,
      'kernels write elements: let each thread assign its own, or copy rows by cuda.memcpyAsync',
    );
  }
  const index = view.dimensions === undefined ? given : evaluatedOnce(lowering, given);
  if (isVectorType(view.element)) {
    storeComponents(lowering, view, view.element, index, component, value, node, valueNode);
    return;
  }
  if (view.inferred !== null && (isNumeric(value) || value.kind === 'quotient'))
    lowering.inference.receives(view.inferred, value);
  const type = elementType(lowering, view);
  if (type === undefined) return;
  const stored = toStored(
    lowering,
    value,
    type,
    valueNode,
    `an element of '${view.name}'`,
    view.inferred === null ? componentOf(view.element) : type,
  );
  lowering.emit({
    kind: 'store',
    array: view.array,
    index: position(lowering, view, index, node),
    ...boundsMember(view, index),
    value: toMemory(lowering, stored, view.element, valueNode),
    range: lowering.range(node),
  });
}

function boundsMember(view: ViewValue, index: Expression): { readonly bounds?: readonly Expression[] } {
  const bounds = boundsAt(view, index);
  return bounds === undefined ? {} : { bounds };
}

/** Everything is read before anything is written: a vector may be made of what it replaces. */
function storeComponents(
  lowering: Lowering,
  view: ViewValue,
  type: VectorType,
  index: Expression,
  component: number | null,
  value: Value,
  node: Node,
  valueNode: Node,
): void {
  const range = lowering.range(node);
  const at = position(lowering, view, index, node);
  const store = (place: Expression, one: number, stored: Expression) =>
    lowering.emit({
      kind: 'store',
      array: view.array,
      index: place,
      ...boundsMember(view, index),
      value: stored,
      component: one,
      range,
    });
  if (component !== null) {
    store(at, component, toComponent(lowering, value, type, component, valueNode));
    return;
  }
  const vector = toVector(lowering, value, type, valueNode, `an element of '${view.name}'`);
  const settled = lowering.settle(vector, 'stored');
  const place = lowering.settleExpression(at, 'position');
  settled.components.forEach((one, position) => {
    store(place, position, one);
  });
}

/** A value of an element's computed type as a store takes it. */
export function toMemory(
  lowering: Lowering,
  value: Expression,
  element: ElementType,
  node: Node,
): Expression {
  const range = lowering.range(node);
  return isHalf(element)
    ? recode(value, 'u32', element, range)
    : convert(value, elementValueType(element), range);
}

function isHalf(element: ElementType): element is HalfFormat {
  return element === 'f16' || element === 'bf16';
}

/** The error that an array is only read. */
export function refuseReadonly(lowering: Lowering, view: ViewValue, node: Node): void {
  if (!view.readonly) return;
  lowering.fail(
    node,
    'WS1012',
    `'${view.name}' is read-only`,
    `declare it without readonly: ${view.name}: '${view.element}[]'`,
  );
}

/** A new array of the thread's own. */
export function newLocalArray(
  lowering: Lowering,
  array: LocalArray,
  inferred: string | null,
  node: Node,
): ViewValue {
  const id = lowering.localArrays.push(array) - 1;
  return {
    kind: 'view',
    array: { space: 'local', id },
    name: array.name,
    element: array.element,
    readonly: false,
    inferred,
    offset: lowering.indexConstant(0, node),
    length: null,
  };
}
