// Where the threads of a group meet, compiled to steps.

import type { Call, Expression, Group } from '../../compiler/ir.ts';
import { maskedMeetings, meetsByMask, warpSize } from '../lanes.ts';
import { waitsAtSync } from '../waiting.ts';
import { membership } from './barrier.ts';
import { compileExpression } from './expressions.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import type { Thread } from './thread.ts';

export function compileSync(program: ObservedProgram, call: Extract<Call, { intrinsic: 'sync' }>): Step {
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
  return {
    kind: 'wait',
    begin(thread) {
      const barriers = thread.block.syncs(group);
      const barrier = barriers.of(thread.rank);
      const { phase } = barrier;
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
      if (group.kind === 'tile') thread.block.learnOfReturned(thread, range);
    },
  };
}

function compileSyncOfLanes(program: ObservedProgram, call: Extract<Call, { intrinsic: 'sync' }>): Step {
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
      thread.block.learnOfReturned(thread, range);
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

function groupIndex(group: Group, thread: Thread): number {
  return membership(group, thread.rank, thread.block.threads.length).index;
}
