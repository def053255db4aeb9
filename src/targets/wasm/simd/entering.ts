// What a group of lanes asks before it carries out a list, and where that is asked for more threads at once.
//
// What a list behind a branch asks is asked for the whole block first: if all of its threads might do what only some will, no
// group has to ask. Where only some lanes of a group take a branch, those that do not may be outside of a dimension:
// then each lane is asked for itself, and what is loaded for all of them must lie in the array.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { constantOf } from '../../analysis/elements.ts';
import type { Range } from '../../analysis/indices.ts';
import { type Spread, spreadOf } from '../../analysis/spread.ts';
import type { Label, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Address, Check, Checkpoints } from './checkpoints.ts';
import { pushIndex, writeAddresses, writeCheck } from './checks.ts';
import type { GroupContext } from './group.ts';
import type { Mask } from './masks.ts';

type List = readonly Statement[];

export class Entrance {
  readonly #group: GroupContext;
  readonly #checkpoints: Checkpoints;
  /** Whether what a list asks holds for all of the block: the checks of it, and a local. */
  readonly #ofBlock = new Map<List, { readonly checks: readonly Check[]; readonly holds: Local }>();

  /** `isFixed` says what is the same for all threads all through the region. */
  constructor(group: GroupContext, checkpoints: Checkpoints, isFixed: (expression: Expression) => boolean) {
    this.#group = group;
    this.#checkpoints = checkpoints;
    const { block } = group.lanes.program;
    for (const [list, checks] of checkpoints.blockChecks) {
      if (costOf(checkpoints.checksAt(list)) < enough) continue;
      const all = checks.map((check) => overBlock(check, block, isFixed));
      if (all.includes(null)) continue;
      group.unit.tell('blocks', 'indices behind branches that are tested for a block of threads');
      this.#ofBlock.set(list, { checks: all as readonly Check[], holds: group.code.local('i32') });
    }
  }

  /** Finds in front of the region which lists all threads of the block might carry out. */
  writeBlockChecks(uniform: ThreadContext): void {
    const { code } = this.#group;
    for (const { checks, holds } of this.#ofBlock.values()) {
      code.i32(0).set(holds);
      code.block((fails) => {
        for (const check of checks) writeCheck(uniform, check, 1, fails);
        code.i32(1).set(holds);
      });
    }
  }

  /** All lanes of the group are about to carry out a list. */
  enter(list: List, slow: Label | null, moving: readonly Address[] = []): void {
    if (slow !== null) this.#writeChecks(list, slow);
    writeAddresses(this.#group.first, this.#checkpoints, list, moving);
  }

  /** The lanes of a mask are, or those that are not in it. */
  enterSome(list: List, slow: Label, mask: Mask, isMask: boolean): void {
    const { code, first, vectors } = this.#group;
    const checks = this.#checkpoints.checksAt(list);
    const inArrays = this.#checkpoints.arrayChecksAt(list);
    if (inArrays === null || !checks.some(isOfLanes)) {
      this.enter(list, slow);
      return;
    }
    code.block((entered) => {
      code.block((some) => {
        this.#writeChecks(list, some);
        code.br(entered);
      });
      for (const check of [...inArrays, ...checks.filter((each) => !isOfLanes(each))])
        writeCheck(first, check, 4 * vectors, slow);
      for (const check of checks.filter(isOfLanes)) this.#askEach(check, slow, mask, isMask);
    });
    writeAddresses(first, this.#checkpoints, list);
  }

  #writeChecks(list: List, slow: Label): void {
    const { code, first, vectors } = this.#group;
    const checks = this.#checkpoints.checksAt(list);
    const holds = this.#ofBlock.get(list)?.holds;
    const write = (each: readonly Check[]) => {
      for (const check of each) writeCheck(first, check, 4 * vectors, slow);
    };
    if (holds === undefined) {
      write(checks);
      return;
    }
    code
      .get(holds)
      .op('i32.eqz')
      .if(() => write(checks.filter(({ ofBlock }) => ofBlock)));
    write(checks.filter(({ ofBlock }) => !ofBlock));
  }

  /** Branches to `slow` unless the indices of each lane that is there lie below a limit. */
  #askEach(check: Check, slow: Label, mask: Mask, isMask: boolean): void {
    const { code, first, constants } = this.#group;
    code.withTemporaries((take) => {
      const [lowest, limit, index] = [take('v128'), take('v128'), take('v128')];
      pushIndex(first, check);
      code.op('i32x4.splat').set(lowest);
      pushExpression(first, check.limit);
      code.op('i32x4.splat').set(limit);
      for (const [vector, there] of mask.entries()) {
        code.get(there);
        if (!isMask) code.op('v128.not');
        code.get(lowest).get(constants.counting(vector)).op('i32x4.add').tee(index);
        code.get(limit).op('i32x4.lt_u');
        if (check.largest > check.smallest) {
          code
            .get(index)
            .get(constants.integer(check.largest - check.smallest))
            .op('i32x4.add');
          code.get(limit).op('i32x4.lt_u', 'v128.and');
        }
        code.op('v128.andnot');
        if (vector > 0) code.op('v128.or');
      }
      code.op('v128.any_true').brIf(slow);
    });
  }
}

/** Whether a check is of a dimension alone, and of indices that lanes have side by side. */
function isOfLanes({ ofArray, step, ranges }: Check): boolean {
  return !ofArray && step === 1 && ranges.length === 0;
}

/**
 * A check of one thread that is one of all threads of a block. Where a loop's counter begins at what differs from thread to
 * thread, the index at the loop's end does not: it is as far from where it starts as the counter starts before its end. Who
 * never comes into the loop accesses nothing.
 */
function overBlock(
  check: Check,
  block: readonly [number, number, number],
  isFixed: (expression: Expression) => boolean,
): Check | null {
  const { common, limit, ranges } = check;
  if (![limit, ...ranges.flatMap(({ factor, to }) => [factor, to])].every(isFixed)) return null;
  const begins = common === null ? none : spreadOf(common, block, isFixed);
  if (begins === null) return null;
  let [least, most] = [begins, begins];
  let { smallest, largest } = check;
  const open: Range[] = [];
  for (const range of ranges) {
    const { factor, from } = range;
    const first = spreadOf(from, block, isFixed);
    if (first === null || first.some((each) => each < 0)) return null;
    const by = constantOf(factor);
    const ways = distanceOf(range);
    if (ways === null) open.push(range);
    else {
      smallest += Math.min(ways, 0);
      largest += Math.max(ways, 0);
    }
    if (first.every((each) => each === 0)) continue;
    if (by === null) return null;
    const without = (spread: Spread) =>
      spread.map((each, axis) => each - by * first[axis]!) as never as Spread;
    if (by > 0) most = without(most);
    else least = without(least);
  }
  const farthest = (spread: Spread, of: (a: number, b: number) => number) =>
    spread.reduce((all, each, axis) => all + of(each * (block[axis]! - 1), 0), 0);
  smallest += farthest(least, Math.min);
  largest += farthest(most, Math.max);
  return { ...check, step: 0, smallest, largest, ranges: open };
}

/** How far a loop moves an index for the first thread of a block, where that is known now and not far. */
function distanceOf({ factor, from, to, largest }: Range): number | null {
  const [by, last] = [constantOf(factor), constantOf(to)];
  const isRank = from.kind === 'builtin' && from.name.startsWith('thread');
  const first = isRank ? 0 : constantOf(from);
  if (by === null || last === null || first === null || last > largest) return null;
  const distance = by * Math.max(last - first, 0);
  return Math.abs(distance) <= farthestLiteral ? distance : null;
}

/** What a group saves where it asks only whether it has to ask. */
function costOf(checks: readonly Check[]): number {
  return checks.reduce((sum, { ranges }) => sum + (ranges.length > 0 ? 8 : 1), 0);
}

/** From here on that is less than what it has to ask. */
const enough = 4;

const none: Spread = [0, 0, 0];
/** Beyond this a loop's end is computed when it runs. */
const farthestLiteral = 2 ** 16;
