// What a group of lanes asks before it carries out a list, unless that was asked for the whole block (block-checks.ts).
//
// Where only some lanes of a group take a branch, those that do not may be outside of a dimension: then each lane is asked
// for itself, and what is loaded for all of them must lie in the array.

import type { Statement } from '../../../compiler/ir.ts';
import type { Label } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import type { BlockChecks } from './block-checks.ts';
import type { Address, Check, Checkpoints } from './checkpoints.ts';
import { pushIndex, writeAddresses, writeCheck } from './checks.ts';
import type { GroupContext } from './group.ts';
import type { Mask } from './masks.ts';

type List = readonly Statement[];

export class Entrance {
  readonly #group: GroupContext;
  readonly #checkpoints: Checkpoints;
  readonly #ofBlock: BlockChecks;

  constructor(group: GroupContext, checkpoints: Checkpoints, ofBlock: BlockChecks) {
    this.#group = group;
    this.#checkpoints = checkpoints;
    this.#ofBlock = ofBlock;
  }

  /** All lanes of the group are about to carry out a list. */
  enter(list: List, slow: Label | null, moving: readonly Address[] = []): void {
    if (slow !== null) this.writeChecks(list, 4 * this.#group.vectors, slow);
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
        this.writeChecks(list, 4 * vectors, some);
        code.br(entered);
      });
      for (const check of [...inArrays, ...checks.filter((each) => !isOfLanes(each))])
        writeCheck(first, check, 4 * vectors, slow);
      for (const check of checks.filter(isOfLanes)) this.#askEach(check, slow, mask, isMask);
    });
    writeAddresses(first, this.#checkpoints, list);
  }

  /** Branches to `slow` unless what a list accesses is there for so many threads from the first lane on. */
  writeChecks(list: List, threads: number, slow: Label): void {
    const { code, first } = this.#group;
    const checks = this.#checkpoints.checksAt(list);
    const holds = this.#ofBlock.holds(list);
    const write = (each: readonly Check[]) => {
      for (const check of each) writeCheck(first, check, threads, slow);
    };
    if (holds === null) {
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
