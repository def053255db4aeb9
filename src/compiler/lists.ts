// Lists that a kernel writes, `[a, b, c]`.
//
// A list whose elements are taken by known indices is known to the compiler alone. One whose
// elements are chosen at run time, or assigned, becomes a local array of the thread; the type
// of its elements is inferred as that of a variable that is given each of them.

import type { Node } from 'acorn';
import type { ElementType } from '../kernel/types.ts';
import type { Lowering } from './lowering.ts';
import type { NumberType } from './number-types.ts';
import { toIndex } from './numbers.ts';
import { describe, isNumeric, type ListValue, type Value, type ViewValue } from './values.ts';
import { loadElement, newLocalArray, storeElement } from './views.ts';

/** An element of a list that no name holds. */
export function elementOfList(
  lowering: Lowering,
  list: ListValue,
  index: Value,
  node: Node,
  indexNode: Node,
): Value {
  const view = arrayOfList(lowering, list, 'list', node);
  return loadElement(lowering, view, toIndex(lowering, index, indexNode, 'an index of a list'), node);
}

/** The list as a local array. */
export function arrayOfList(lowering: Lowering, list: ListValue, name: string, node: Node): ViewValue {
  const other = list.items.find((item) => !isNumeric(item));
  if (other !== undefined) {
    lowering.fail(
      node,
      'WS1006',
      `an element of '${name}' is chosen when the kernel runs, and one of them is ${describe(other)}`,
      'only lists of numbers can be indexed so; use an if statement',
    );
  }
  const count = list.items.length;
  if (count === 0) {
    lowering.fail(
      node,
      'WS1006',
      `'${name}' is an empty list`,
      "make it an array: cuda.localArray('f32', 4)",
    );
  }
  const key = `${lowering.key(node)}[]`;
  const element = elementOf(lowering, lowering.inference.typeOf(key) ?? 'i32');
  const view = newLocalArray(lowering, { name, element, count }, key, node);
  list.items.forEach((item, position) => {
    storeElement(lowering, view, lowering.indexConstant(position, node), null, item, node, node);
  });
  return view;
}

/** Arrays have no elements of index type: i32 holds it, or f64 does up to 2^53. */
function elementOf(lowering: Lowering, type: NumberType): ElementType {
  if (type === 'index') return lowering.indexType === 'i32' ? 'i32' : 'f64';
  return type === 'bool' ? 'i32' : type;
}
