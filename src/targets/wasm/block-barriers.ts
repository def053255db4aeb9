// Barriers in uniform control flow: all that is left of one is how many phases are over.
//
// All threads of the block arrive together, so that a phase is over when they have, and a wait is
// over as soon as it begins, unless it is for a phase that nobody has arrived in: that is a deadlock.

import type { Program } from '../../compiler/ir.ts';
import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import { forEachStatement } from '../analysis/walk.ts';
import {
  type BarrierPlace,
  type BarrierUse,
  type BarrierWaitCall,
  barrierRecord,
  barrierRecordBytes,
  type FoundBarrier,
  pushToken,
  withAwaitedPhase,
  withBarrier,
  withBarrierIndex,
} from './barriers.ts';
import type { Code, Local } from './encoder/code.ts';
import type { ThreadContext } from './thread-context.ts';
import type { Unit } from './unit.ts';

interface Records {
  /** In the scratch memory. */
  readonly offset: number;
  readonly bytes: number;
  /** Whether they are made; null where they surely are. */
  readonly made: Local | null;
}

export class BlockBarriers {
  readonly #records = new Map<number, Records>();
  readonly #surelyMade: ReadonlySet<number>;

  constructor(program: Program) {
    this.#surelyMade = surelyMade(program);
  }

  /** Writes the start of a block: no barrier is made. */
  writeStart(code: Code): void {
    for (const { made } of this.#records.values()) if (made !== null) code.i32(0).set(made);
  }

  /** Writes a call that all threads of the block make together. */
  write(context: ThreadContext, call: BarrierCall): void {
    const { code, frame } = context;
    switch (call.intrinsic) {
      case 'makeBarrier': {
        const { offset, bytes, made } = this.#of(context, call.barrier);
        code.get(context.launch.scratch()).i32(offset).op('i32.add').i32(0).i32(bytes).memoryFill();
        if (made !== null) code.i32(1).set(made);
        return;
      }
      case 'barrierArrive':
        withBarrier(context, call, this.#place(context, call), (barrier) => {
          const { result } = call;
          if (result !== null) frame.writeVariable(result, () => pushToken(context, barrier));
          code.get(barrier.address).get(barrier.address).memory('i32.load', barrierRecord.phase);
          code.i32(1).op('i32.add').memory('i32.store', barrierRecord.phase);
        });
        return;
      case 'barrierWait':
        withBarrier(context, call, this.#place(context, call), (barrier) => {
          withAwaitedPhase(context, call, barrier, (phase) => writeWait(context, call, barrier, phase));
        });
        return;
      // Copies are done when they are issued.
      case 'barrierBind':
      case 'memcpyAsync':
        this.writePresence(context, call);
        return;
      case 'barrierComplete':
        throw new Error('a phase that a thread ends is not a matter of all together');
      default:
        call satisfies never;
    }
  }

  /** Stops the kernel if a call's barrier has not been made. */
  writePresence(context: ThreadContext, call: BarrierUse): void {
    withBarrierIndex(context, call, this.#place(context, call).pushMade, () => {});
  }

  #place(context: ThreadContext, call: BarrierCall): BarrierPlace {
    const { offset, made } = this.#of(context, call.barrier);
    const { code, launch } = context;
    return {
      pushMade: made === null ? null : () => void code.get(made),
      pushBase: () => void code.get(launch.scratch()).i32(offset).op('i32.add'),
    };
  }

  #of({ code, unit }: { readonly code: Code; readonly unit: Unit }, barrier: number): Records {
    const known = this.#records.get(barrier);
    if (known !== undefined) return known;
    const { name, count } = unit.program.barriers[barrier]!;
    const bytes = (count ?? 1) * barrierRecordBytes;
    const records = {
      offset: unit.reserveScratch(bytes),
      bytes,
      made: this.#surelyMade.has(barrier) ? null : code.local('i32', `${name}.made`),
    };
    this.#records.set(barrier, records);
    return records;
  }
}

/** A wait that asks gets its answer; one that waits does so in vain or not at all. */
function writeWait(
  context: ThreadContext,
  call: BarrierWaitCall,
  { index, address }: FoundBarrier,
  phase: Local,
): void {
  const { code, unit, launch, frame } = context;
  const pushIsOver = () =>
    void code.get(address).memory('i32.load', barrierRecord.phase).get(phase).op('i32.gt_s');
  if (call.limit === null) {
    pushIsOver();
    code.op('i32.eqz').if(() => {
      code.i32(unit.barrierSite(call.range, call.barrier)).get(launch.block).get(index).get(phase);
      code.call(unit.host('fault', 'deadlockAtBarrier'));
      frame.fail();
    });
  }
  if (call.result !== null) frame.writeVariable(call.result, pushIsOver);
}

/** The barriers that every thread makes before anything is done with them. */
function surelyMade({ body }: Program): Set<number> {
  const made = new Set<number>();
  const excluded = new Set<number>();
  for (const statement of body) {
    forEachStatement([statement], (each) => {
      if (each.kind !== 'call' || !('barrier' in each)) return;
      if (each === statement && each.intrinsic === 'makeBarrier') made.add(each.barrier);
      else if (!made.has(each.barrier)) excluded.add(each.barrier);
    });
  }
  return new Set([...made].filter((barrier) => !excluded.has(barrier)));
}
