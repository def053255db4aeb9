// What an access asks of its indices: that each lies below a limit.
//
// The index into memory has the array's length for its limit; an index of a dimension has the extent. All of them are asked
// for alike, of all lanes at once where they can be (checkpoints.ts).

import type { ArrayReference, Expression } from '../../../compiler/ir.ts';

/** A load, a statement that stores, or what a side of a copy comes to. */
export interface Indexed {
  readonly array: ArrayReference;
  readonly index: Expression;
  readonly bounds?: readonly Expression[];
  /** What lies inside of its dimensions is inside. */
  readonly fits?: true;
}

export interface Limited {
  readonly index: Expression;
  /** Never negative. An array's length is one too. */
  readonly limit: Expression;
}

/** The indices of an access's dimensions, in their order. */
export function dimensionsOf({ bounds = [] }: Pick<Indexed, 'bounds'>): Limited[] {
  return bounds.flatMap((limit, at) => (at % 2 === 1 ? [{ index: bounds[at - 1]!, limit }] : []));
}

/** All that an access asks, in the order in which one thread does. */
export function limitsOf(access: Indexed): Limited[] {
  const { array, index, fits } = access;
  if (fits) return dimensionsOf(access);
  const { type, range } = index;
  return [...dimensionsOf(access), { index, limit: { kind: 'length', type, array, range } }];
}
