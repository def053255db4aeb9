// Arrays of two and three dimensions, `tile[y][x]`.
//
// A shape is a way to look at an array; the program has the array alone, whose elements lie row by row. Each index picks
// a part of what the one before has picked, until the last picks an element. Which indices they were, and the extents
// that they must lie inside of, stand beside the access, so that each can be checked by itself.

import type { Node } from 'acorn';
import { binary, cannotFail, constant, numberConstant } from './build.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { type Dimension, describe, type ViewValue } from './values.ts';

/** An array as one of several dimensions. Rows begin `pitch` elements from each other, by default as many as they have. */
export function shaped(
  lowering: Lowering,
  view: ViewValue,
  extents: readonly Expression[],
  pitch: Expression | null,
  node: Node,
): ViewValue {
  const range = lowering.range(node);
  const dimensions: Dimension[] = [];
  let next: Expression = numberConstant(lowering.indexType, 1, range);
  for (const [outward, extent] of [...extents].reverse().entries()) {
    dimensions.unshift({ extent: notNegative(lowering, extent, node), pitch: next });
    next = binary('multiply', outward === 0 && pitch !== null ? pitch : extent, next, range);
  }
  const [width, given] = [extents.at(-1)!, pitch].map((one) =>
    one?.kind === 'constant' ? Number(one.value) : null,
  );
  if (width != null && given != null && given < width) {
    lowering.fail(
      node,
      'WS1009',
      `rows of ${width} elements cannot begin ${given} from each other`,
      'the pitch counts the elements of a row and what lies between it and the next',
    );
  }
  return { ...view, dimensions, bounds: view.bounds ?? [] };
}

function notNegative(lowering: Lowering, extent: Expression, node: Node): Expression {
  const zero = constant(extent.type, lowering.indexType === 'i64' ? 0n : 0, lowering.range(node));
  if (extent.kind !== 'constant') return binary('max', extent, zero, lowering.range(node));
  if (Number(extent.value) >= 1) return extent;
  return lowering.fail(
    node,
    'WS1009',
    `a dimension has at least one element, and this one has ${extent.value}`,
    'write how many rows there are, and how many elements each has',
  );
}

/** Whether an index of a view picks another view. */
export function hasRows({ dimensions = [] }: ViewValue): boolean {
  return dimensions.length > 1;
}

/** The part of an array of several dimensions that an index picks. */
export function rowOf(lowering: Lowering, view: ViewValue, index: Expression, node: Node): ViewValue {
  const range = lowering.range(node);
  const [{ pitch }, ...dimensions] = view.dimensions as [Dimension, ...Dimension[]];
  const at = evaluatedOnce(lowering, index);
  const offset = binary('add', view.offset, binary('multiply', at, pitch, range), range);
  return { ...view, offset, dimensions, bounds: boundsAt(view, at)! };
}

/** An index that stands in an access and in its tests: what reads memory or divides is computed once for them. */
export function evaluatedOnce(lowering: Lowering, index: Expression): Expression {
  return cannotFail(index) ? index : lowering.settleExpression(index, 'position');
}

/** What an access at an index checks by itself: each index, and the extent of its dimension. */
export function boundsAt(
  { dimensions, bounds }: ViewValue,
  index: Expression,
): readonly Expression[] | undefined {
  const own = dimensions === undefined ? [] : [index, dimensions[0]!.extent];
  const all = [...(bounds ?? []), ...own];
  return all.length === 0 ? undefined : all;
}

/** A row as a part of its array that has an end; it is checked against the whole array from then on. */
export function partOf(lowering: Lowering, view: ViewValue, node: Node): ViewValue {
  refuseRows(lowering, view, node);
  const { dimensions, bounds: _, fits: __, ...plain } = view;
  return dimensions === undefined ? view : { ...plain, length: dimensions[0]!.extent };
}

/** The error that an array of several dimensions is asked for, and one of others is given. */
export function refuseFlat(
  lowering: Lowering,
  what: string,
  wanted: number,
  view: ViewValue,
  node: Node,
): void {
  const given = view.dimensions?.length ?? 1;
  if (given === wanted) return;
  const extents = wanted === 3 ? '[planes, rows, columns]' : '[rows, columns]';
  lowering.fail(
    node,
    'WS1004',
    `${what} has ${wanted} dimensions, and ${describe(view)} has ${given}`,
    given > wanted
      ? `take a part of it: ${view.name}[0]`
      : given === 1
        ? `give it a shape: ${view.name}.shaped(${extents})`
        : 'give an array of as many dimensions',
  );
}

/** The error that one row is asked for, and several are given. */
export function refuseRows(lowering: Lowering, view: ViewValue, node: Node): void {
  if (!hasRows(view)) return;
  lowering.fail(
    node,
    'WS1006',
    `${describe(view)} has ${view.dimensions!.length} dimensions, and an array of one is wanted`,
    `take one of its rows: ${view.name}${'[0]'.repeat(view.dimensions!.length - 1)}`,
  );
}
