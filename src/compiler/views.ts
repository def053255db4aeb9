// Reading and writing arrays through views.

import type { Node } from 'acorn';
import { isNumberElement, layoutOf } from '../kernel/layout.ts';
import { isRecordType, isVectorType, type NumberElement } from '../kernel/types.ts';
import { binary, compare, conditional, convert, load, numberConstant } from './build.ts';
import { numbersOf, type Place, toMemory, valueAt, wholeElement } from './elements.ts';
import { type Expression, elementValueType, type LocalArray, numberValueType } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { loadedType, type NumberType } from './number-types.ts';
import { toStored } from './numbers.ts';
import { boundsAt, evaluatedOnce, hasRows, partOf, rowOf } from './shapes.ts';
import {
  isNumeric,
  type Numeric,
  number,
  type ObjectValue,
  type Value,
  type VectorValue,
  type ViewValue,
} from './values.ts';
import { written } from './written.ts';

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
    `read each by its position: ${view.name}[${view.window[0]}] to ${view.name}[${view.window[1]}]`,
  );
}

/** The type of a number of an array in the kernel; undefined while it is open, and of what is no number. */
export function numberType(
  lowering: Lowering,
  { inferred }: ViewValue,
  { element }: Place,
): NumberType | undefined {
  if (inferred !== null) return lowering.inference.typeOf(inferred);
  return isRecordType(element) ? undefined : loadedType(element);
}

/** What an index of a view picks: a number, a vector or a record, or of several dimensions a row. */
export function loadElement(
  lowering: Lowering,
  view: ViewValue,
  given: Expression,
  node: Node,
  place: Place = wholeElement(view.element),
): Numeric | VectorValue | ObjectValue | ViewValue {
  if (hasRows(view)) return rowOf(lowering, view, given, node);
  const { array, element, inferred } = view;
  const type = inferred === null ? null : lowering.inference.typeOf(inferred);
  if (type === undefined) return { kind: 'open', cells: [inferred!], fractional: false };
  const range = lowering.range(node);
  const index = view.dimensions === undefined ? given : evaluatedOnce(lowering, given);
  const bounds = boundsAt(view, index);
  const at = position(lowering, view, index, node);
  if (isNumberElement(element)) {
    const value = load(array, at, numberValueType(element), range, { bounds, fits: view.fits });
    if (type !== null) return number(type, convert(value, lowering.valueType(type), range));
    return valueAt(lowering, place, node, () => value);
  }
  const settled = lowering.settleExpression(at, 'position');
  return valueAt(lowering, place, node, (part) =>
    load(array, settled, elementValueType(element, part), range, {
      component: part,
      bounds,
      fits: view.fits,
    }),
  );
}

/** Stores a value as an element, or as a part of one. Everything is read before anything is written. */
export function storeElement(
  lowering: Lowering,
  view: ViewValue,
  given: Expression,
  place: Place,
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
      `assign its elements: ${written(lowering, node)}${'[0]'.repeat(view.dimensions!.length - 1)}`,
    );
  }
  const index = view.dimensions === undefined ? given : evaluatedOnce(lowering, given);
  const what = `an element of '${view.name}'`;
  const range = lowering.range(node);
  const bounds = boundsAt(view, index);
  const at = position(lowering, view, index, node);
  const store = (where: Expression, stored: Expression, part: number) =>
    lowering.emit({
      kind: 'store',
      array: view.array,
      index: where,
      ...(bounds === undefined ? {} : { bounds }),
      ...(view.fits === undefined ? {} : { fits: view.fits }),
      value: stored,
      ...(isNumberElement(view.element) ? {} : { component: part }),
      range,
    });
  if (isNumberElement(view.element)) {
    const stored = storedNumber(lowering, view, view.element, value, valueNode, what);
    if (stored !== null) store(at, stored, 0);
    return;
  }
  const isPart = place.element !== view.element;
  const numbers = numbersOf(lowering, place, value, valueNode, isPart ? partInWords(view, place) : what);
  if (numbers.length === 1) {
    store(at, numbers[0]!, place.first);
    return;
  }
  const settled = numbers.map((one) => lowering.settleExpression(one, 'stored'));
  const where = lowering.settleExpression(at, 'position');
  for (const [part, one] of settled.entries()) store(where, one, place.first + part);
}

/** A part of an element in a message. */
function partInWords({ name, element }: ViewValue, place: Place): string {
  const part = layoutOf(element).parts[place.first]!.name;
  if (isVectorType(element)) return `component ${part} of a vector (${element})`;
  return `'${part}' of an element of '${name}'`;
}

/** A value as an element that is a number; null while the type of a list's elements is open. */
function storedNumber(
  lowering: Lowering,
  { inferred }: ViewValue,
  element: NumberElement,
  value: Value,
  node: Node,
  what: string,
): Expression | null {
  if (inferred === null) return numbersOf(lowering, wholeElement(element), value, node, what)[0]!;
  if (isNumeric(value) || value.kind === 'quotient') lowering.inference.receives(inferred, value);
  const type = lowering.inference.typeOf(inferred);
  if (type === undefined) return null;
  return toMemory(lowering, toStored(lowering, value, type, node, what), element, node);
}

/** The error that an array is only read. */
export function refuseReadonly(lowering: Lowering, view: ViewValue, node: Node): void {
  if (!view.readonly) return;
  lowering.fail(
    node,
    'WS1012',
    `'${view.name}' is read-only`,
    `declare it without readonly: ${view.name}: '${declaredType(lowering, view)}'`,
  );
}

/** How the schema has the array of a view, without `readonly`; a device function names an array as it sees it. */
function declaredType(lowering: Lowering, { array, name, element }: ViewValue): string {
  const parameter = array.space === 'global' ? lowering.parameters[array.id] : undefined;
  if (parameter?.kind !== 'array' || parameter.name !== name) return `${element}[]`;
  return `${parameter.element}${'[]'.repeat(parameter.dimensions ?? 1)}`;
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
