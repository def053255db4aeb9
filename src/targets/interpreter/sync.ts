// Where the threads of a group meet, compiled to steps.

import type { Call, Expression, Group, Makers } from '../../compiler/ir.ts';
import { maskedMeetings, meetsByMask, warpSize } from '../lanes.ts';
import { waitsAtSync } from '../waiting.ts';
import { membership, type PhaseBarrier } from './barrier.ts';
import { compileExpression } from './expressions.ts';
import { brokenRule } from './fault.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import type { Thread } from './thread.ts';

type SyncCall = Extract<Call, { intrinsic: 'sync' }>;

export function compileSync(program: ObservedProgram, call: SyncCall): Step {
  const { group, range } = call;
  if (group.kind === 'thread') return effect(() => {});
  if (group.kind === 'grid') {
    return {
      kind: 'wait',
      begin: (thread) => thread.block.grid!.begin(thread, range),
      end: (thread) => thread.block.grid!.end(thread, range),
    };
  }
  if (meetsByMask(maskedMeetings(program), 'sync', group, call.mask)) {
    return compileSyncOfLanes(program, call);
  }
  const isForWarps = isOfGpu(program) && group.kind === 'block';
  return {
    kind: 'wait',
    begin(thread) {
      const barriers = thread.block.syncs(group);
      const barrier = barriers.of(thread.rank);
      const { phase } = barrier;
      if (isForWarps) comeByWarp(thread, call, barrier);
      thread.observer?.syncBegan(thread, group, range);
      thread.observer?.arrived(thread, barrier, phase, range);
      barrier.arrive();
      return {
        range,
        ready: () => barrier.phase > phase,
        describe: () => waitsAtSync(group, groupIndex(group, thread), barriers.progress(thread.rank)),
      };
    },
    end(thread) {
      if (thread.observer === null) return;
      // The next phase cannot complete without this thread.
      const barrier = thread.block.syncs(group).of(thread.rank);
      thread.observer.waited(thread, barrier, barrier.phase - 1, range);
      thread.observer.syncEnded(thread, group, range);
    },
  };
}

function isOfGpu({ mbarriers, level }: ObservedProgram): boolean {
  return mbarriers !== undefined && level === undefined;
}

/** The call at which each warp came to the phase of a barrier that is being filled. */
const comingTo = new WeakMap<
  PhaseBarrier,
  { readonly phase: number; readonly calls: Map<number, SyncCall> }
>();

/** On a GPU all threads of a warp come to a barrier of the block at one place, unless it says that they may not. */
function comeByWarp(thread: Thread, call: SyncCall, barrier: PhaseBarrier): void {
  let coming = comingTo.get(barrier);
  if (coming?.phase !== barrier.phase) {
    coming = { phase: barrier.phase, calls: new Map() };
    comingTo.set(barrier, coming);
  }
  const warp = Math.floor(thread.rank / warpSize);
  const other = coming.calls.get(warp) ?? call;
  coming.calls.set(warp, call);
  if (other === call || (other.apart === true && call.apart === true)) return;
  throw brokenRule(thread, call.range, `threads of warp ${warp} come to different barriers of the block`);
}

function compileSyncOfLanes(program: ObservedProgram, call: SyncCall): Step {
  const { group, range } = call;
  const lanes = compileMask(program, call);
  return {
    kind: 'wait',
    begin(thread) {
      const mask = lanes(thread);
      thread.observer?.syncBegan(thread, group, range);
      const { warps } = thread.block;
      const wait = warps.begin(thread, 'sync', { size: warpSize, mask, value: true, operand: 0, range });
      thread.observer?.arrived(thread, warps.gatheringOf(thread), 0, range);
      return wait;
    },
    end(thread) {
      thread.observer?.waited(thread, thread.block.warps.gatheringOf(thread), 0, range);
      thread.observer?.syncEnded(thread, group, range);
    },
  };
}

/** The lanes that a call names; null for all of its tile. */
export function compileMask(
  program: ObservedProgram,
  { mask }: { readonly mask?: Expression },
): (thread: Thread) => number | null {
  if (mask === undefined) return () => null;
  const evaluate = compileExpression(program, mask);
  return (thread) => evaluate(thread) as number;
}

/** The lanes that make something together; null where their group is none of lanes. */
export function compileMasks(
  program: ObservedProgram,
  { masks }: Makers,
): (thread: Thread) => readonly number[] | null {
  if (masks === undefined) return () => null;
  const each = masks.map((mask) => compileExpression(program, mask));
  return (thread) => each.map((evaluate) => evaluate(thread) as number);
}

function groupIndex(group: Group, thread: Thread): number {
  return membership(group, thread.rank, thread.block.threads.length).index;
}
