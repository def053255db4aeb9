// Reading and writing arrays through views.

import type { Node } from 'acorn';
import { binary, convert, load, numberConstant } from './build.ts';
import type { Expression, LocalArray } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { loadedType, type NumberType } from './number-types.ts';
import { toStored } from './numbers.ts';
import { isNumeric, type Numeric, number, type Value, type ViewValue } from './values.ts';

/** How many elements a view has. */
export function viewLength(lowering: Lowering, view: ViewValue, node: Node): Expression {
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
  view: ViewValue,
  begin: Expression | null,
  end: Expression | null,
  node: Node,
): ViewValue {
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
  return binary('add', view.offset, index, lowering.range(node));
}

/** The type of an element in the kernel; undefined while it is open. */
function elementType(lowering: Lowering, { element, inferred }: ViewValue): NumberType | undefined {
  return inferred === null ? loadedType(element) : lowering.inference.typeOf(inferred);
}

export function loadElement(lowering: Lowering, view: ViewValue, index: Expression, node: Node): Numeric {
  const type = elementType(lowering, view);
  if (type === undefined) return { kind: 'open', cells: [view.inferred!], fractional: false };
  const range = lowering.range(node);
  const loaded = load(view.array, position(lowering, view, index, node), loadedType(view.element), range);
  return number(type, convert(loaded, lowering.valueType(type), range));
}

export function storeElement(
  lowering: Lowering,
  view: ViewValue,
  index: Expression,
  value: Value,
  node: Node,
  valueNode: Node,
): void {
  refuseReadonly(lowering, view, node);
  if (view.inferred !== null && isNumeric(value)) lowering.inference.receives(view.inferred, value);
  const type = elementType(lowering, view);
  if (type === undefined) return;
  const given = toStored(lowering, value, type, valueNode, `an element of '${view.name}'`);
  lowering.emit({
    kind: 'store',
    array: view.array,
    index: position(lowering, view, index, node),
    value: convert(given, loadedType(view.element), lowering.range(valueNode)),
    range: lowering.range(node),
  });
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
