// What memory holds in random kernels: numbers, vectors and nested records by their names, and what each of them has.

import { type Struct, struct } from 'warpstage';
import { layoutOf } from '#warpstage/kernel/layout.js';
import {
  type Element,
  type ElementType,
  isVectorType,
  type NumberElement,
  vectorTypes,
} from '#warpstage/kernel/types.js';
import type { Tape } from './tape.ts';

/** Elements of each thread's part of an array. */
export const partLength = 16;

/** An element: a number or vector by its name, or a record. */
export type Described = ElementType | Struct;

export type Scalar = 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';

export const numbers: readonly NumberElement[] = [
  'i32',
  'f32',
  'u8',
  'i64',
  'i16',
  'u32',
  'f64',
  'f16',
  'u16',
  'i8',
  'u64',
  'bf16',
];
export const vectors = [
  'f32x4',
  'i32x2',
  'f32x3',
  'u8x4',
  'f64x2',
  'i16x2',
  'u32x3',
  'i64x2',
  'u16x4',
  'i8x3',
  'f32x2',
] as const;
export const fieldNames = ['a', 'b', 'x', 'kind', 'w'] as const;

export function elementOf(described: Described): Element {
  return typeof described === 'string' ? described : described.element;
}

export const isNumber = (one: Described): one is NumberElement =>
  (numbers as readonly unknown[]).includes(one);
export const isVector = (one: Described): one is (typeof vectors)[number] =>
  typeof one === 'string' && isVectorType(one);
export const isFloat = (one: Element) => layoutOf(one).parts.every(({ element }) => /f/.test(element));
export const isInteger = (one: Element) => layoutOf(one).parts.every(({ element }) => !/f/.test(element));

export function scalarOf(element: NumberElement): Scalar {
  if (element === 'f16' || element === 'bf16') return 'f32';
  return /8|16/.test(element) ? 'i32' : (element as Scalar);
}

/** An array of which a thread may use so many elements. */
export interface Place {
  readonly name: string;
  readonly of: Described;
  readonly length: number;
  readonly writable: boolean;
  /** Which bytes it may be part of: a copy between two of one root would overlap. Null where that is chosen. */
  readonly root: string | null;
  /** Whether a variable may stand for it as for others. */
  readonly assignable?: boolean;
  /** Whether its bytes may be seen as those of other elements. */
  readonly isLocal?: boolean;
}

export interface Variable {
  readonly name: string;
  readonly of: Described | Scalar;
  readonly assignable: boolean;
}

export interface Scope {
  readonly places: Place[];
  readonly variables: Variable[];
}

/** A record of numbers, vectors and those that are known. */
export function newRecord(tape: Tape, known: readonly Struct[]): Struct {
  const count = 1 + tape.below(4);
  const field = (): Described =>
    tape.pick<() => Described>([
      () => tape.pick(numbers),
      () => tape.pick(vectors),
      () => tape.pick(known) ?? tape.pick(numbers),
    ])();
  return struct(Object.fromEntries(fieldNames.slice(0, count).map((name) => [name, field()])));
}

/** Any element. */
export function anyElement(tape: Tape, records: readonly Struct[]): Described {
  return tape.pick<() => Described>([
    () => tape.pick(records),
    () => tape.pick(vectors),
    () => tape.pick(numbers),
  ])();
}

/** What an element has, and how each is reached; itself first. */
export function pathsOf(of: Described): readonly (readonly [path: string, of: Described])[] {
  if (isNumber(of)) return [['', of]];
  if (isVector(of)) {
    const { component, components } = vectorTypes[of];
    const names = ['x', 'y', 'z', 'w'].slice(0, components);
    return [['', of], ...names.map((name) => [`.${name}`, component] as const)];
  }
  const fields = Object.entries((of as Struct).fields as Readonly<Record<string, Described>>);
  return [
    ['', of],
    ...fields.flatMap(([name, field]) =>
      pathsOf(field).map(([path, inner]) => [`.${name}${path}`, inner] as const),
    ),
  ];
}

/** Whether it, or anything in it, is what is wanted. */
export function has(of: Described, wanted: (of: Described) => boolean): boolean {
  return pathsOf(of).some(([, each]) => wanted(each));
}

/** A float that stays where sums and products are no NaN, and halves are finite. */
export function small(text: string): string {
  return `Math.max(-30000, Math.min(30000, ${text}))`;
}
