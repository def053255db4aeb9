// Shapes of arrays on the host: what a parameter of two or three dimensions takes, `image: 'f32[][]'`.
//
// An array with a shape is the array, its extents and its pitch; a program has the array, and the numbers as scalars
// with names of their own. Rows begin `pitch` elements from each other, planes as many as all their rows take. All of
// them lie inside the array, so that an index inside of each extent is inside of the array.

import { WarpstageError } from '../diagnostics/error.ts';

/** The extents of two or three dimensions, from the outermost: `[rows, columns]`. */
export type HostShape =
  | readonly [rows: number, columns: number]
  | readonly [planes: number, rows: number, columns: number];

/** A shape that was checked. */
export interface CheckedShape {
  readonly shape: readonly number[];
  readonly pitch: number;
}

/** How many dimensions a parameter may have beyond one. */
export type Dimensions = 2 | 3;

/** What a program's scalars for a parameter's shape are called, its pitch last. */
export function shapeNames(name: string, dimensions: Dimensions): readonly string[] {
  const extents = dimensions === 3 ? ['planes', 'rows', 'columns'] : ['rows', 'columns'];
  return [...extents, 'pitch'].map((each) => `${name}.${each}`);
}

/** The numbers that these names stand for. */
export function shapeScalars(
  name: string,
  { shape, pitch }: CheckedShape,
): readonly (readonly [name: string, value: number])[] {
  const values = [...shape, pitch];
  return shapeNames(name, shape.length as Dimensions).map((each, at) => [each, values[at]!]);
}

/**
 * The shape of an array of `length` elements; without a pitch, rows lie one after the other.
 *
 * @throws WarpstageError WS4007 if it is none, or does not fit
 */
export function checkedShape(shape: unknown, pitch: unknown, length: number): CheckedShape {
  const extents: readonly unknown[] = Array.isArray(shape) ? shape : [];
  const isShape = (extents.length === 2 || extents.length === 3) && extents.every(isExtent);
  if (!isShape) {
    throw new WarpstageError({
      code: 'WS4007',
      message: 'a shape is a list of two or three whole numbers, from the outermost extent',
      hint: 'write array.shaped([rows, columns])',
    });
  }
  const own = extents as readonly number[];
  const columns = own.at(-1)!;
  const between = pitch ?? columns;
  if (!isExtent(between) || between < columns) {
    throw new WarpstageError({
      code: 'WS4007',
      message: `rows of ${columns} elements cannot begin ${String(between)} from each other`,
      hint: 'the pitch counts the elements of a row and what lies between it and the next',
    });
  }
  const rows = own.slice(0, -1).reduce((all, extent) => all * extent, 1);
  const needed = rows === 0 || columns === 0 ? 0 : (rows - 1) * between + columns;
  if (needed > length) {
    const words = between === columns ? '' : ` with rows that begin ${between} from each other`;
    throw new WarpstageError({
      code: 'WS4007',
      message: `an array of ${own.join(' x ')} elements${words} takes ${needed}, and there are ${length}`,
      hint: 'shape a part that is there, or allocate as many elements',
    });
  }
  // The distance of what is not there may be anything.
  return { shape: Object.freeze([...own]), pitch: rows > 1 && columns > 0 ? between : columns };
}

function isExtent(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
