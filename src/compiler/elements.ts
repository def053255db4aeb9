// Elements as values: what the numbers of an element mean together, and a value taken apart into them.
//
// A program knows single numbers (kernel/layout.ts); the compiler makes a number, a vector or an object of them. So a
// record that is loaded is an object like any that a kernel writes, and one that is stored is read first, as a whole:
// it may be made of what it replaces.

import type { Node } from 'acorn';
import type { HalfFormat } from '../kernel/half.ts';
import { isNumberElement, layoutOf, partCount } from '../kernel/layout.ts';
import {
  type Element,
  isRecordType,
  isVectorType,
  type NumberElement,
  type RecordType,
  type VectorType,
} from '../kernel/types.ts';
import { convert, recode } from './build.ts';
import { type Expression, numberValueType } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { loadedType } from './number-types.ts';
import { toStored } from './numbers.ts';
import {
  describe,
  type NumberValue,
  number,
  type ObjectValue,
  type Value,
  type VectorValue,
} from './values.ts';
import { componentIndex, toVector } from './vectors.ts';

/** A part of an element that is a value by itself, and which of the element's numbers is its first. */
export interface Place {
  readonly element: Element;
  readonly first: number;
}

/** The whole of an element. */
export const wholeElement = (element: Element): Place => ({ element, first: 0 });

/** A component or a field of a place; null where it has none of that name. */
export function memberPlace({ element, first }: Place, name: string): Place | null {
  if (isVectorType(element)) {
    const component = componentIndex(element, name);
    return component === null ? null : { element: loadedElement(element), first: first + component };
  }
  const field = layoutOf(element).fields.find((one) => one.name === name);
  return field === undefined ? null : { element: field.element, first: first + field.first };
}

function loadedElement(vector: VectorType): NumberElement {
  return layoutOf(vector).parts[0]!.element;
}

/** The names that a place has as members. */
export function memberNames({ element }: Place): readonly string[] {
  if (isNumberElement(element)) return [];
  const { parts, fields } = layoutOf(element);
  return (isVectorType(element) ? parts : fields).map(({ name }) => name);
}

/** The value that the numbers of a place mean; `load` gives each as memory holds it. */
export function valueAt(
  lowering: Lowering,
  { element, first }: Place,
  node: Node,
  load: (part: number) => Expression,
): NumberValue | VectorValue | ObjectValue {
  if (isRecordType(element)) {
    const members = layoutOf(element).fields.map(
      (field) =>
        [
          field.name,
          valueAt(lowering, { element: field.element, first: first + field.first }, node, load),
        ] as const,
    );
    return { kind: 'object', name: `a record ${element}`, members: new Map<string, Value>(members) };
  }
  if (isVectorType(element)) {
    const components = Array.from({ length: partCount(element) }, (_, at) =>
      fromMemory(lowering, load(first + at), loadedElement(element), node),
    );
    return { kind: 'vector', type: element, components };
  }
  return number(loadedType(element), fromMemory(lowering, load(first), element, node));
}

/** A value as the numbers of a place, as memory holds them; `what` names in a message what takes it. */
export function numbersOf(
  lowering: Lowering,
  { element }: Place,
  value: Value,
  node: Node,
  what: string,
): Expression[] {
  if (isRecordType(element)) return numbersOfRecord(lowering, element, value, node, what);
  if (isVectorType(element)) return [...toVector(lowering, value, element, node, what).components];
  const stored = toStored(lowering, value, loadedType(element), node, what, element);
  return [toMemory(lowering, stored, element, node)];
}

function numbersOfRecord(
  lowering: Lowering,
  element: RecordType,
  value: Value,
  node: Node,
  what: string,
): Expression[] {
  if (value.kind === 'broken') return lowering.broken();
  const { fields } = layoutOf(element);
  if (value.kind !== 'object') {
    const text = fields.map(({ name }) => `${name}: 0`).join(', ');
    return lowering.fail(
      node,
      'WS1004',
      `${what} is a record ${element}, and is given ${describe(value)}`,
      `write one: { ${text} }`,
    );
  }
  const extra = [...value.members.keys()].find((name) => !fields.some((field) => field.name === name));
  const missing = fields.find(({ name }) => !value.members.has(name));
  if (extra !== undefined || missing !== undefined) {
    const problem = extra === undefined ? `without '${missing!.name}'` : `with '${extra}'`;
    lowering.fail(
      node,
      'WS1004',
      `${what} is a record ${element}, and is given ${value.name} ${problem}`,
      `give it each field once: ${fields.map(({ name }) => name).join(', ')}`,
    );
  }
  return fields.flatMap((field) => {
    const member = value.members.get(field.name)!;
    return numbersOf(lowering, wholeElement(field.element), member, node, `'${field.name}' of ${what}`);
  });
}

/** A number as the kernel computes with it. */
function fromMemory(lowering: Lowering, value: Expression, element: NumberElement, node: Node): Expression {
  const range = lowering.range(node);
  if (isHalf(element)) return recode(value, 'f32', element, range);
  return convert(value, lowering.valueType(loadedType(element)), range);
}

/** A value of an element's computed type as a store takes it. */
export function toMemory(
  lowering: Lowering,
  value: Expression,
  element: NumberElement,
  node: Node,
): Expression {
  const range = lowering.range(node);
  return isHalf(element)
    ? recode(value, 'u32', element, range)
    : convert(value, numberValueType(element), range);
}

function isHalf(element: NumberElement): element is HalfFormat {
  return element === 'f16' || element === 'bf16';
}
