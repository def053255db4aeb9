// How types, constants and names of the IR are spelt in CUDA C++.

import type { ArrayReference, Program, ValueType } from '../../compiler/ir.ts';
import { bytesOf, isNumberElement, layoutOf, partOf } from '../../kernel/layout.ts';
import {
  type Element,
  isRecordType,
  isVectorType,
  type NumberElement,
  numberBytes,
  type VectorType,
  vectorTypes,
} from '../../kernel/types.ts';
import { elementOf } from '../analysis/elements.ts';

/** The C++ type of a value. */
export const valueTypes = {
  bool: 'bool',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f32: 'float',
  f64: 'double',
} as const satisfies Record<ValueType, string>;

/** The C++ type of a number in memory; floats of 16 bits are held as their bits. */
export const numberTypes = {
  i8: 'signed char',
  u8: 'unsigned char',
  i16: 'short',
  u16: 'unsigned short',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f16: 'unsigned short',
  bf16: 'unsigned short',
  f32: 'float',
  f64: 'double',
} as const satisfies Record<NumberElement, string>;

/** What CUDA calls vectors of a number. */
const vectorNames: Readonly<Record<string, string>> = {
  i8: 'char',
  u8: 'uchar',
  i16: 'short',
  u16: 'ushort',
  i32: 'int',
  u32: 'uint',
  i64: 'longlong',
  u64: 'ulonglong',
  f32: 'float',
  f64: 'double',
};

function floatLiteral(value: number, type: 'f32' | 'f64'): string {
  const single = type === 'f32';
  if (Number.isNaN(value))
    return single ? '__int_as_float(0x7fc00000)' : '__longlong_as_double(0x7ff8000000000000ll)';
  if (!Number.isFinite(value)) {
    const infinity = single ? '__int_as_float(0x7f800000)' : '__longlong_as_double(0x7ff0000000000000ll)';
    return value > 0 ? infinity : `(-${infinity})`;
  }
  const digits = Object.is(value, -0) ? '-0' : String(value);
  const text = `${/[.e]/.test(digits) ? digits : `${digits}.0`}${single ? 'f' : ''}`;
  return value < 0 || Object.is(value, -0) ? `(${text})` : text;
}

/** A constant, exact to the bit. */
export function literal(type: ValueType, value: number | bigint | boolean): string {
  switch (type) {
    case 'bool':
      return value ? 'true' : 'false';
    case 'i32':
      // The smallest i32 has no literal: its magnitude does not fit an int.
      if (value === -(2 ** 31)) return '(-2147483647 - 1)';
      return Number(value) < 0 ? `(${value})` : `${value}`;
    case 'u32':
      return `${value}u`;
    case 'i64':
      if (BigInt(value) === -(2n ** 63n)) return '(-9223372036854775807ll - 1)';
      return BigInt(value) < 0n ? `(${value}ll)` : `${value}ll`;
    case 'u64':
      return `${value}ull`;
    case 'f32':
    case 'f64':
      return floatLiteral(Number(value), type);
  }
  return type satisfies never;
}

/** A name of the kernel's text as an identifier of C++; the number keeps names of one spelling apart. */
export function identifier(name: string, id: number): string {
  return `${name.replace(/[^A-Za-z0-9_]/g, '_')}_${id}`;
}

/** The name of the array's first element's pointer. */
export function arrayName(program: Program, { space, id, as }: ArrayReference): string {
  if (as !== undefined) {
    const parameter = space === 'global' ? program.parameters[id] : undefined;
    const constant = parameter?.kind === 'array' && parameter.readonly ? 'const ' : '';
    return `((${constant}${elementType(program, as)}*)${arrayName(program, { space, id })})`;
  }
  const arrays = { global: program.parameters, shared: program.sharedArrays, local: program.localArrays };
  return `${space === 'global' ? 'g' : space === 'shared' ? 's' : 'l'}_${identifier(arrays[space][id]!.name, id)}`;
}

/** The name of the value that holds the array's length in elements. */
export function lengthName(program: Program, array: ArrayReference): string {
  const { space, id, as } = array;
  const length = `${arrayName(program, { space, id })}_length`;
  if (as === undefined) return length;
  const index = valueTypes[program.indexType];
  const bytes = bytesOf(elementOf(program, { space, id }));
  return `(${index})((unsigned long long)${length} * ${bytes} / ${bytesOf(as)})`;
}

/** Whether CUDA has a type of its own for an element. Its vectors of three and four 8-byte numbers differ by version. */
function isBuiltIn(element: Element): boolean {
  if (isRecordType(element)) return false;
  return !isVectorType(element) || bytesOf(element) <= 16;
}

/** The elements that a program defines structures for. */
function definedElements(program: Program): readonly Element[] {
  const arrays = [...program.parameters, ...program.sharedArrays, ...program.localArrays];
  const declared = arrays.flatMap((array) => ('element' in array ? [array.element] : []));
  const elements = [...declared, ...(program.views ?? []).map(({ as }) => as!)];
  return [...new Set(elements)].filter((element) => !isBuiltIn(element));
}

/** The C++ type of an array's elements. */
export function elementType(program: Program, element: Element): string {
  if (!isBuiltIn(element)) return `ws_element_${definedElements(program).indexOf(element)}`;
  if (isNumberElement(element)) return numberTypes[element];
  const { component, components } = vectorTypes[element as VectorType];
  return `${vectorNames[component]}${components}`;
}

/** The structures of a program's elements, whose members are their parts. */
export function elementDefinitions(program: Program): string {
  return definedElements(program)
    .map((element) => {
      const { bytes, alignment, parts } = layoutOf(element);
      const members: string[] = [];
      let end = 0;
      for (const [id, part] of parts.entries()) {
        const size = numberBytes[part.element];
        const natural = Math.ceil(end / size) * size;
        if (part.offset > natural) members.push(`unsigned char padding_${id}[${part.offset - end}];`);
        members.push(`${numberTypes[part.element]} ${identifier(part.name, id)};`);
        end = part.offset + size;
      }
      const name = elementType(program, element);
      return `struct __align__(${alignment}) ${name} { ${members.join(' ')} };\nstatic_assert(sizeof(${name}) == ${bytes}, "");\n`;
    })
    .join('');
}

/** How a part of an element is named behind it; nothing for elements that are numbers. */
export function member(element: Element, part = 0): string {
  const { name } = partOf(element, part);
  if (name === '') return '';
  return `.${isBuiltIn(element) ? name : identifier(name, part)}`;
}
