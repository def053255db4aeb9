// What lanes do one by one, each with its own check: accesses to elements that do not lie side by side, and to those that
// are wider than a lane, and atomic operations. Only where all lanes of a group are there.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { type AtomicCall, writeAtomicOf } from '../atomics.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushElementAddress, writeBoundsCheck, writeCheck, writeLoad, writeStore } from '../memory.ts';
import type { ElementLocation, ThreadContext } from '../thread-context.ts';
import type { GroupContext } from './group.ts';

/**
 * Sets a local to one lane's index. Indices that lie side by side in memory come from there one by one; others are
 * computed together and taken out of their vector.
 */
type WriteIndex = (lane: number, index: Local) => void;

/** How lanes get their indices, of one vector. */
function indicesOf(
  group: GroupContext,
  expression: Expression,
  vector: number,
  { push, locate }: IndexParts,
  take: (type: 'v128') => Local,
): WriteIndex {
  const { code, lanes, unit, first } = group;
  const load = expression.kind === 'convert' ? sameBits(expression) : expression;
  if (unit.does('direct') && load.kind === 'load' && lanes.isSideBySide(load) && load.type !== 'f32') {
    const bytes = bytesOf(unit.elementOf(load.array));
    const { address, offset } = locate(load);
    unit.tell('direct', 'indices that lanes read one by one from where they lie');
    return (lane, index) => {
      code.get(address);
      writeLoad(first, load, offset + bytes * (4 * vector + lane));
      code.set(index);
    };
  }
  const indices = take('v128');
  push();
  code.set(indices);
  return (lane, index) => void code.get(indices).lane('i32x4.extract_lane', lane).set(index);
}

/** What is converted, where an integer of 32 bits keeps its bits. */
function sameBits(expression: Expression & { readonly kind: 'convert' }): Expression {
  const { operand, type, format } = expression;
  const keeps = [type, operand.type].every((each) => each === 'i32' || each === 'u32');
  return keeps && format === undefined ? operand : expression;
}

/** What pushes an index's vector, and says where the first lane's is, if it lies in memory. */
export interface IndexParts {
  readonly push: () => void;
  /** Pushes the vector of an index of a dimension. */
  readonly pushOther: (expression: Expression) => void;
  readonly locate: (load: Expression & { readonly kind: 'load' }) => ElementLocation;
}

/** How lanes check one by one those dimensions of an access that nothing before it has checked. */
function boundsOf(
  group: GroupContext,
  access: (Expression & { readonly kind: 'load' }) | (Statement & { readonly kind: 'store' }),
  { pushOther }: IndexParts,
  take: (type: 'v128') => Local,
): (thread: ThreadContext, lane: number) => void {
  const open = group.openDimensions(access);
  if (open.length === 0) return () => {};
  const { code, lanes, first } = group;
  const vectors = new Map<Expression, Local>();
  for (const dimension of open) {
    for (const each of access.bounds!.slice(2 * dimension, 2 * dimension + 2)) {
      if (lanes.isUniform(each)) continue;
      const vector = take('v128');
      pushOther(each);
      code.set(vector);
      vectors.set(each, vector);
    }
  }
  return (thread, lane) => {
    const push = (each: Expression) => {
      const vector = vectors.get(each);
      if (vector === undefined) pushExpression(first, each);
      else code.get(vector).lane('i32x4.extract_lane', lane);
    };
    writeBoundsCheck(thread, access, access.kind === 'load' ? 'read' : 'write', push, open);
  };
}

/** Pushes the lanes of a load. */
export function pushGather(
  group: GroupContext,
  load: Expression & { readonly kind: 'load' },
  vector: number,
  parts: IndexParts,
): void {
  const { code } = group;
  const type = load.type === 'f32' ? 'f32x4' : 'i32x4';
  code.withTemporaries((take) => {
    const [index, result] = [take('i32'), take('v128')];
    const writeIndex = indicesOf(group, load.index, vector, parts, take);
    const writeBounds = boundsOf(group, load, parts, take);
    for (let lane = 0; lane < 4; lane += 1) {
      if (lane > 0) code.get(result);
      writeIndex(lane, index);
      const thread = threadOf(group, vector, lane);
      writeBounds(thread, lane);
      writeCheck(thread, load, index, 'read');
      pushElementAddress(thread, load.array, index);
      writeLoad(thread, load);
      if (lane === 0) code.op(`${type}.splat`);
      else code.lane(`${type}.replace_lane`, lane);
      code.set(result);
    }
    code.get(result);
  });
}

/** Writes the lanes of a store; `pushValue` pushes those of its value. */
export function writeScatter(
  group: GroupContext,
  store: Statement & { readonly kind: 'store' },
  vector: number,
  parts: IndexParts,
  pushValue: () => void,
): void {
  const { code } = group;
  const type = store.value.type === 'f32' ? 'f32x4' : 'i32x4';
  code.withTemporaries((take) => {
    const [index, values] = [take('i32'), take('v128')];
    const writeIndex = indicesOf(group, store.index, vector, parts, take);
    const writeBounds = boundsOf(group, store, parts, take);
    pushValue();
    code.set(values);
    for (let lane = 0; lane < 4; lane += 1) {
      writeIndex(lane, index);
      const thread = threadOf(group, vector, lane);
      writeBounds(thread, lane);
      writeCheck(thread, store, index, 'write');
      pushElementAddress(thread, store.array, index);
      code.get(values).lane(`${type}.extract_lane`, lane);
      writeStore(thread, store);
    }
  });
}

/**
 * Writes the lanes of an atomic operation whose result is not asked for; `pushValue` pushes those of its value. A value that they share is computed as one thread would.
 */
export function writeLaneAtomics(
  group: GroupContext,
  call: AtomicCall,
  vector: number,
  parts: IndexParts,
  pushValue: () => void,
): void {
  const { code, first, lanes } = group;
  const shares = lanes.isUniform(call.value);
  const float = call.value.type === 'f32';
  code.withTemporaries((take) => {
    const [index, values] = [take('i32'), take('v128')];
    const value = take(float ? 'f32' : 'i32');
    const writeIndex = indicesOf(group, call.index, vector, parts, take);
    if (shares) {
      pushExpression(first, call.value);
      code.set(value);
    } else {
      pushValue();
      code.set(values);
    }
    for (let lane = 0; lane < 4; lane += 1) {
      writeIndex(lane, index);
      const thread = threadOf(group, vector, lane);
      if (!shares) {
        const extract = float ? 'f32x4.extract_lane' : 'i32x4.extract_lane';
        code.get(values).lane(extract, lane).set(value);
      }
      writeAtomicOf(thread, call, { index, value, compared: value });
    }
  });
}

/** The context of the thread in a lane. */
export function threadOf({ code, first, rank }: GroupContext, vector: number, lane: number): ThreadContext {
  const pushRank = () => {
    code.get(rank);
    if (4 * vector + lane > 0) code.i32(4 * vector + lane).op('i32.add');
  };
  return { ...first, frame: { ...first.frame, pushRank } };
}
