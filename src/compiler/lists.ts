// Lists that a kernel writes, `[a, b, c]`.
//
// A list whose elements are taken by known indices is known to the compiler alone. One of numbers that are chosen
// when the kernel runs, or assigned, becomes a local array of the thread; the type of its elements is inferred as
// that of a variable that is given each of them. Of a list of arrays one may be chosen too (array-choice.ts).

import type { Node } from 'acorn';
import type { ElementType } from '../kernel/types.ts';
import { mergeArrays, optionsOf } from './array-choice.ts';
import { compare, constant } from './build.ts';
import { wholeElement } from './elements.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import type { NumberType } from './number-types.ts';
import { toIndex } from './numbers.ts';
import {
  type ArrayChoiceValue,
  describe,
  isArray,
  isNumeric,
  type ListValue,
  type Value,
  type ViewValue,
} from './values.ts';
import { loadElement, newLocalArray, storeElement } from './views.ts';

/** An element, chosen by a computed index, of a list that no name holds or that holds arrays. */
export function elementOfList(
  lowering: Lowering,
  list: ListValue,
  index: Value,
  node: Node,
  indexNode: Node,
): Value {
  const at = toIndex(lowering, index, indexNode, 'an index of a list');
  const arrays = list.items.filter(isArray);
  if (arrays.length > 0 && arrays.length === list.items.length) {
    return chosenArray(lowering, arrays, at, node);
  }
  return loadElement(lowering, arrayOfList(lowering, list, 'list', node), at, node);
}

/** Whether all elements are arrays, of which one may be chosen. */
export function isListOfArrays({ items }: ListValue): boolean {
  return items.length > 0 && items.every(isArray);
}

/** One of a list's arrays. Where the list has none, neither has the array any elements. */
function chosenArray(
  lowering: Lowering,
  arrays: readonly (ViewValue | ArrayChoiceValue)[],
  index: Expression,
  node: Node,
): Value {
  const range = lowering.range(node);
  const at = lowering.settleExpression(index, 'choice');
  const is = (position: number) => compare('equal', at, lowering.indexConstant(position, node), range);
  return arrays.reduceRight<ViewValue | ArrayChoiceValue>(
    (rest, array, position) => mergeArrays(lowering, is(position), array, rest, node),
    beforeStart(lowering, optionsOf(arrays.at(-1)!)[0]!, node),
  );
}

/** A part of an array that begins so far before it that each of its elements is an access outside. */
function beforeStart(lowering: Lowering, view: ViewValue, node: Node): ViewValue {
  const { indexType } = lowering;
  const least = indexType === 'i32' ? -(2 ** 31) : -(2n ** 63n);
  return { ...view, offset: constant(indexType, least, lowering.range(node)) };
}

/** The list as a local array. */
export function arrayOfList(lowering: Lowering, list: ListValue, name: string, node: Node): ViewValue {
  const other = list.items.find((item) => !isNumeric(item));
  if (other !== undefined) {
    lowering.fail(
      node,
      'WS1006',
      `an element of '${name}' is chosen when the kernel runs, and one of them is ${describe(other)}`,
      'lists of numbers and lists of arrays can be indexed so; use an if statement',
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
    storeElement(
      lowering,
      view,
      lowering.indexConstant(position, node),
      wholeElement(element),
      item,
      node,
      node,
    );
  });
  return view;
}

/** Arrays have no elements of index type: i32 holds it, or f64 does up to 2^53. */
function elementOf(lowering: Lowering, type: NumberType): ElementType {
  if (type === 'index') return lowering.indexType === 'i32' ? 'i32' : 'f64';
  return type === 'bool' ? 'i32' : type;
}
