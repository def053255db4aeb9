// Stores of what lies evenly apart: parts of records or vectors, or every so-manieth element.
//
// Stores to one element that stand together are made together: columns become rows by shuffles, as strided.ts has it the
// other way round, and numbers of 8 and 16 bits become words. Nothing is stored but what the statements say; between them
// a byte may have another lane's value before it gets its own.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { type NumberElement, numberBytes } from '../../../kernel/types.ts';
import type { Local } from '../encoder/code.ts';
import { writeStore } from '../memory.ts';
import type { GroupContext, Shared } from './group.ts';
import { high, highPairs, low, lowPairs, type Part, partAt } from './strided.ts';

export type Store = Extract<Statement, { kind: 'store' }>;

interface Value extends Part {
  readonly store: Store;
  readonly value: Local;
}

/** A word of each lane, so many bytes from the address in the first. */
interface Word {
  readonly offset: number;
  readonly value: Local;
}

/** Stores one vector of parts that lie less than a stride apart; `push` pushes a value's. */
export function writeStridedStores(
  group: GroupContext,
  shared: Shared,
  stores: readonly Store[],
  vector: number,
  push: (value: Expression) => void,
): void {
  const { code, unit } = group;
  unit.tell('strides', 'parts of what lies evenly apart, loaded and stored as vectors');
  code.withTemporaries((take) => {
    const values = stores.map((store): Value => {
      const part = partAt(group, shared, store);
      const value = take('v128');
      push(store.value);
      code.set(value);
      return { ...part, store, value };
    });
    const [{ address, stride }] = values as [Value];
    for (const { offset, value } of values.filter(({ element }) => element === 'f64')) {
      for (let lane = 0; lane < 2; lane += 1) {
        code.get(address).get(value);
        code.memoryLane('v128.store64_lane', lane, offset + stride * (2 * vector + lane), 1);
      }
    }
    const { words, rest } = joined(group, values, () => take('v128'));
    for (const { store, begin, value } of rest) {
      for (let lane = 0; lane < 4; lane += 1) {
        code.get(address).get(value).lane('i32x4.extract_lane', lane);
        writeStore(group.first, store, begin + stride * (4 * vector + lane));
      }
    }
    for (let at = 0; at < words.length; ) {
      const run = words.slice(at).findIndex(({ offset }, i) => offset !== words[at]!.offset + 4 * i);
      const beside = run < 0 ? words.length - at : run;
      const count = beside >= 4 ? 4 : beside === 3 && stride === 12 ? 3 : Math.min(beside, 2);
      const first = words[at]!.offset + stride * 4 * vector;
      const values = words.slice(at, at + count).map(({ value }) => value);
      writeWords(group, { address, stride, first, values }, () => take('v128'));
      at += count;
    }
  });
}

interface Words {
  readonly address: Local;
  readonly stride: number;
  /** Where the first lane's are. */
  readonly first: number;
  /** One behind the other in each lane. */
  readonly values: readonly Local[];
}

function writeWords({ code }: GroupContext, words: Words, take: () => Local): void {
  const { address, stride, first, values } = words;
  const [x, y, z, w] = values as [Local, Local?, Local?, Local?];
  const mixed = (a: Local, b: Local, order: readonly number[]) => {
    const local = take();
    code.get(a).get(b).shuffle(order).set(local);
    return local;
  };
  const storeAll = (lane: number, row: Local) =>
    void code
      .get(address)
      .get(row)
      .memory('v128.store', first + stride * lane, 1);
  const storePart = (bits: 32 | 64, place: number, from: Local, lane: number, behind = 0) => {
    code.get(address).get(from);
    code.memoryLane(`v128.store${bits}_lane`, place, first + stride * lane + behind, 1);
  };
  if (y === undefined) {
    if (stride === 4) storeAll(0, x);
    else for (let lane = 0; lane < 4; lane += 1) storePart(32, lane, x, lane);
    return;
  }
  const halves = [low, high].map((order) => mixed(x, y, order));
  if (z === undefined) {
    for (const [i, half] of halves.entries()) {
      if (stride === 8) storeAll(2 * i, half);
      else for (let lane = 0; lane < 2; lane += 1) storePart(64, lane, half, 2 * i + lane);
    }
    return;
  }
  const others = [low, high].map((order) => mixed(z, w ?? z, order));
  for (let lane = 0; lane < 4; lane += 1) {
    const row = mixed(halves[lane >> 1]!, others[lane >> 1]!, lane % 2 === 0 ? lowPairs : highPairs);
    // A row of three is one too long: the next lane's comes over its end, and the last has no next.
    if (w !== undefined || lane < 3) storeAll(lane, row);
    else {
      storePart(64, 0, row, lane);
      storePart(32, 2, row, lane, 8);
    }
  }
}

const isNarrow = (element: NumberElement) => numberBytes[element] < 4;

/** The words of each lane, in their order: those that are stored, and those that narrow numbers fill. */
function joined(
  { code, constants }: GroupContext,
  values: readonly Value[],
  take: () => Local,
): { readonly words: readonly Word[]; readonly rest: readonly Value[] } {
  const words: Word[] = values.filter(({ element }) => numberBytes[element] === 4);
  const rest: Value[] = [];
  const narrow = new Map<number, Value[]>();
  for (const value of values.filter(({ element }) => isNarrow(element))) {
    const word = value.begin + ((value.offset - value.begin) & ~3);
    narrow.set(word, [...(narrow.get(word) ?? []), value]);
  }
  for (const [offset, own] of narrow) {
    const bytes = own.reduce((sum, { element }) => sum + numberBytes[element], 0);
    if (bytes < 4) {
      rest.push(...own);
      continue;
    }
    const value = take();
    for (const [i, each] of own.entries()) {
      const bits = 8 * numberBytes[each.element];
      const at = 8 * (each.offset - offset);
      code.get(each.value);
      if (at + bits < 32) code.get(constants.integer(2 ** bits - 1)).op('v128.and');
      if (at > 0) code.i32(at).op('i32x4.shl');
      if (i > 0) code.get(value).op('v128.or');
      code.set(value);
    }
    words.push({ offset, value });
  }
  return { words: words.sort((a, b) => a.offset - b.offset), rest };
}
