// Accesses that lanes make one by one, each with its own check: elements that do not lie side by
// side, those that are wider than a lane, and atomic operations. Only where all lanes of a group are there.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { type AtomicCall, writeAtomicOf } from '../atomics.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushElementAddress, writeCheck, writeLoad, writeStore } from '../memory.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { GroupContext } from './expressions.ts';

/** Pushes the lanes of a load; `pushIndex` pushes those of its index. */
export function pushGather(
  group: GroupContext,
  load: Expression & { readonly kind: 'load' },
  vector: number,
  pushIndex: () => void,
): void {
  const { code } = group;
  const type = load.type === 'f32' ? 'f32x4' : 'i32x4';
  code.withTemporaries((take) => {
    const [indices, index, result] = [take('v128'), take('i32'), take('v128')];
    pushIndex();
    code.set(indices);
    for (let lane = 0; lane < 4; lane += 1) {
      if (lane > 0) code.get(result);
      const thread = writeLaneIndex(group, vector, lane, indices, index);
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

/** Writes the lanes of a store; the callbacks push those of its index and value. */
export function writeScatter(
  group: GroupContext,
  store: Statement & { readonly kind: 'store' },
  vector: number,
  pushIndex: () => void,
  pushValue: () => void,
): void {
  const { code } = group;
  const type = store.value.type === 'f32' ? 'f32x4' : 'i32x4';
  code.withTemporaries((take) => {
    const [indices, index, values] = [take('v128'), take('i32'), take('v128')];
    pushIndex();
    code.set(indices);
    pushValue();
    code.set(values);
    for (let lane = 0; lane < 4; lane += 1) {
      const thread = writeLaneIndex(group, vector, lane, indices, index);
      writeCheck(thread, store, index, 'write');
      pushElementAddress(thread, store.array, index);
      code.get(values).lane(`${type}.extract_lane`, lane);
      writeStore(thread, store);
    }
  });
}

/**
 * Writes the lanes of an atomic operation whose result is not asked for; the callbacks push those of its index and
 * value. A value that they share is computed as one thread would.
 */
export function writeLaneAtomics(
  group: GroupContext,
  call: AtomicCall,
  vector: number,
  pushIndex: () => void,
  pushValue: () => void,
): void {
  const { code, first, lanes } = group;
  const shares = lanes.isUniform(call.value);
  const float = call.value.type === 'f32';
  code.withTemporaries((take) => {
    const [indices, index, values] = [take('v128'), take('i32'), take('v128')];
    const value = take(float ? 'f32' : 'i32');
    pushIndex();
    code.set(indices);
    if (shares) {
      pushExpression(first, call.value);
      code.set(value);
    } else {
      pushValue();
      code.set(values);
    }
    for (let lane = 0; lane < 4; lane += 1) {
      const thread = writeLaneIndex(group, vector, lane, indices, index);
      if (!shares) {
        const extract = float ? 'f32x4.extract_lane' : 'i32x4.extract_lane';
        code.get(values).lane(extract, lane).set(value);
      }
      writeAtomicOf(thread, call, { index, value, compared: value });
    }
  });
}

/** Takes one lane's index out of the vector; gives the context of the thread in that lane. */
function writeLaneIndex(
  { code, first, rank }: GroupContext,
  vector: number,
  lane: number,
  indices: Local,
  index: Local,
): ThreadContext {
  code.get(indices).lane('i32x4.extract_lane', lane).set(index);
  const pushRank = () => {
    code.get(rank);
    if (4 * vector + lane > 0) code.i32(4 * vector + lane).op('i32.add');
  };
  return { ...first, frame: { ...first.frame, pushRank } };
}
