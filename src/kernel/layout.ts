// How an element lies in memory: its size, its alignment, and the numbers that it is made of.
//
// The rules are those of C and of CUDA's vectors. A field begins at a multiple of its alignment; a record
// is aligned as its strictest field is, and padded to a multiple of that. A vector of two or four components is
// aligned to its size, up to 16 bytes, and one of three as its components are. Whatever an element is, a program
// knows it by its parts, in their order: single numbers at fixed places.

import {
  componentCount,
  componentNames,
  type Element,
  hostArrays,
  isRecordType,
  isVectorType,
  type NumberElement,
  numberBytes,
  type RecordType,
  type TypedArray,
  vectorTypes,
} from './types.ts';

/** A number in an element. */
export interface Part {
  /** How it is named behind the element: `x`, `start`, `box.low.x`; nothing for an element that is a number. */
  readonly name: string;
  readonly element: NumberElement;
  /** Bytes from the element's beginning. */
  readonly offset: number;
}

/** A field of a record. */
export interface Field {
  readonly name: string;
  readonly element: Element;
  /** Bytes from the record's beginning. */
  readonly offset: number;
  /** Which of the record's parts is its first. */
  readonly first: number;
}

export interface Layout {
  readonly bytes: number;
  readonly alignment: number;
  readonly parts: readonly Part[];
  /** Of a record. */
  readonly fields: readonly Field[];
}

const known = new Map<Element, Layout>();

/** The layout of an element. */
export function layoutOf(element: Element): Layout {
  const found = known.get(element) ?? newLayout(element);
  known.set(element, found);
  return found;
}

/** The size of an element. */
export function bytesOf(element: Element): number {
  return layoutOf(element).bytes;
}

/** What an element's address is a multiple of. */
export function alignmentOf(element: Element): number {
  return layoutOf(element).alignment;
}

/** How many numbers an element is made of. */
export function partCount(element: Element): number {
  return layoutOf(element).parts.length;
}

/** A number that an element is made of. */
export function partOf(element: Element, part = 0): Part {
  return layoutOf(element).parts[part]!;
}

/** How the host holds elements: in a typed array, of which each takes so many numbers; records as their bytes. */
export function hostForm(element: Element): {
  readonly Values: new (buffer: ArrayBufferLike, offset?: number, length?: number) => TypedArray;
  readonly numbers: number;
} {
  if (isRecordType(element)) return { Values: Uint8Array, numbers: bytesOf(element) };
  return { Values: hostArrays[element], numbers: componentCount(element) };
}

/** Whether it is a single number. */
export function isNumberElement(element: Element): element is NumberElement {
  return Object.hasOwn(numberBytes, element);
}

/** The size of the smallest number that an element is made of. */
export function smallestBytes(element: Element): number {
  return Math.min(...layoutOf(element).parts.map((part) => numberBytes[part.element]));
}

function newLayout(element: Element): Layout {
  if (isRecordType(element)) return recordLayout(element);
  if (isVectorType(element)) {
    const { component, components } = vectorTypes[element];
    const size = numberBytes[component];
    const bytes = size * components;
    const parts = componentNames
      .slice(0, components)
      .map((name, at) => ({ name, element: component, offset: at * size }));
    return { bytes, alignment: components === 3 ? size : Math.min(bytes, 16), parts, fields: [] };
  }
  const bytes = numberBytes[element];
  return { bytes, alignment: bytes, parts: [{ name: '', element, offset: 0 }], fields: [] };
}

function recordLayout(record: RecordType): Layout {
  const parts: Part[] = [];
  let [end, alignment] = [0, 1];
  const fields = fieldsOf(record).map(([name, element]): Field => {
    const own = layoutOf(element);
    const offset = roundedUp(end, own.alignment);
    const field = { name, element, offset, first: parts.length };
    for (const part of own.parts) {
      parts.push({
        ...part,
        name: part.name === '' ? name : `${name}.${part.name}`,
        offset: offset + part.offset,
      });
    }
    end = offset + own.bytes;
    alignment = Math.max(alignment, own.alignment);
    return field;
  });
  return { bytes: roundedUp(end, alignment), alignment, parts, fields };
}

const roundedUp = (bytes: number, alignment: number) => Math.ceil(bytes / alignment) * alignment;

/** A record of fields, written out. Names are identifiers, so that no comma, colon or brace is in one. */
export function recordOf(fields: readonly (readonly [name: string, element: Element])[]): RecordType {
  return `{${fields.map(([name, element]) => `${name}:${element}`).join(',')}}`;
}

/** The fields of a record that is written out. */
function fieldsOf(record: RecordType): (readonly [name: string, element: Element])[] {
  const fields: (readonly [string, Element])[] = [];
  let [depth, begin] = [0, 1];
  for (let at = 1; at < record.length; at += 1) {
    const letter = record[at];
    const ends = depth === 0 && (letter === ',' || letter === '}');
    if (ends) {
      const text = record.slice(begin, at);
      const colon = text.indexOf(':');
      fields.push([text.slice(0, colon), text.slice(colon + 1) as Element]);
      begin = at + 1;
    } else if (letter === '{') depth += 1;
    else if (letter === '}') depth -= 1;
  }
  return fields;
}
