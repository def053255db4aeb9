// What the writers of lanes share: the group that they write for, and where its elements are.
//
// A group is several vectors. A statement, or a run of them, is written for each vector in turn; what the vectors share (addresses,
// broadcast values) is computed for the first and kept in locals for the rest of it.

import type { Expression, Statement, View } from '../../../compiler/ir.ts';
import { arrayKey, keyOf } from '../../analysis/expression-key.ts';
import type { Code, Local, WasmType } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushElementAddress, withIndex, writeBoundsCheck, writeCheck } from '../memory.ts';
import type { ElementLocation, ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import type { VectorConstants } from './constants.ts';
import type { AlikeLoads } from './jam.ts';
import type { Lanes } from './lanes.ts';
import type { Span } from './strided.ts';

/** A load, a statement that stores, or one side of a copy. */
export type Access = Expression | Statement | View;

/** A load or a statement that stores. */
export type Indexed = Extract<Expression | Statement, { kind: 'load' | 'store' }>;

/** What the lanes of a region's groups share. */
export interface GroupContext {
  readonly unit: Unit;
  readonly code: Code;
  readonly lanes: Lanes;
  readonly constants: VectorConstants;
  /** The thread in the first lane: uniform expressions are computed for it. */
  readonly first: ThreadContext;
  /** That thread's rank. */
  readonly rank: Local;
  /** Vectors of a group. */
  readonly vectors: number;
  /** Where an access is found whose address was computed at a checkpoint. */
  locate(access: Access): ElementLocation | null;
  /** The dimensions that an access of lanes one by one checks itself. */
  openDimensions(access: Access): readonly number[];
  /** The vector that alone is written, where not all of them are. */
  readonly only?: number;
  /** What several rows load alike in a statement that is written for all of them. */
  readonly alike?: AlikeLoads;
  /** The local of a variable in one of the group's vectors. */
  variable(id: number, vector: number): Local;
}

/** What the vectors of a group share for the time of a statement. */
export interface Shared {
  readonly locals: Map<string, Local>;
  readonly take: (type: WasmType) => Local;
  /** What is read of elements that lie evenly apart, where it is known beforehand. */
  readonly spans?: readonly Span[];
}

/** The vectors that are written, of values that take so many each. */
export function vectorsIn({ vectors, only }: GroupContext, each: 1 | 2 = 1): readonly number[] {
  const count = only === undefined ? vectors : 1;
  return Array.from({ length: count * each }, (_, position) => (only ?? 0) * each + position);
}

/** Where the first lane's element is; the vectors of a group follow each other from there. */
export function placeOf(group: GroupContext, shared: Shared, access: Indexed): ElementLocation {
  const known = group.locate(access);
  if (known !== null) return known;
  // A local array: its index is uniform, and checked here.
  const { array, index, bounds = [] } = access;
  const { code, first } = group;
  const key = `address ${arrayKey(array)} ${[index, ...bounds].map(keyOf).join()}`;
  const address = sharedLocal(shared, key, group.unit.addressType, (local) => {
    const pushIndex = () => pushExpression(first, index);
    withIndex(first, pushIndex, (indexLocal) => {
      const by = access.kind === 'load' ? 'read' : 'write';
      writeBoundsCheck(first, access, by, (each) => pushExpression(first, each));
      writeCheck(first, access, indexLocal, by);
      pushElementAddress(first, array, indexLocal);
      code.set(local);
    });
  });
  return { address, offset: 0 };
}

/** The local that holds what the vectors of a statement share; `fill` writes the code that sets it. */
export function sharedLocal(
  shared: Shared,
  key: string,
  type: WasmType,
  fill: (local: Local) => void,
): Local {
  const known = shared.locals.get(key);
  if (known !== undefined) return known;
  const local = shared.take(type);
  fill(local);
  shared.locals.set(key, local);
  return local;
}
