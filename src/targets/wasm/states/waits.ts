// Where a cohort's threads wait: whether they may go on, and what they are still waiting for.

import type { Group } from '../../../compiler/ir.ts';
import type { MeetingCall } from '../../../compiler/ir-cohorts.ts';
import { type GroupThreads, pushSlot } from './cohort.ts';
import { barrierFields, type GroupSlots } from './layout.ts';
import { isByMask, pushProgressByMask, pushReadyByMask } from './masks.ts';
import type { CohortState } from './writer.ts';

/** Pushes whether threads of one group need not wait any more. */
export function pushReady(state: CohortState, call: MeetingCall, threads: GroupThreads): void {
  const { code, launch, cohort } = state;
  if (isByMask(call)) {
    pushReadyByMask(state, call, threads);
    return;
  }
  const { slots, count } = meetingOf(state, call);
  pushSlot(code, launch.scratch(), slots, threads);
  code.memory('i32.load', barrierFields.phase);
  cohort.pushField(count);
  code.op('i32.ge_u');
}

/** Pushes what threads of one group wait for: number of the group or stage, arrived, expected, returned. */
export function pushProgress(state: CohortState, call: MeetingCall, threads: GroupThreads): void {
  const { code, launch } = state;
  if (isByMask(call)) {
    pushProgressByMask(state, call, threads);
    return;
  }
  code.withTemporary('i32', (address) => {
    const { slots } = meetingOf(state, call);
    pushSlot(code, launch.scratch(), slots, threads);
    code.set(address);
    threads.index();
    code.get(address).memory('i32.load', barrierFields.arrived);
    threads.size();
    code.get(address).memory('i32.load', barrierFields.left).op('i32.sub');
    code.get(address).memory('i32.load', barrierFields.left);
  });
}

/** The threads that wait as one at a call: those of a group, or, where masks say who meets, each by itself. */
export function waitingGroup(call: MeetingCall): Group {
  if (isByMask(call)) return { kind: 'thread' };
  return call.group;
}

/** Where threads meet, and the field that says how often they have come there. */
function meetingOf({ layout }: CohortState, call: MeetingCall): { slots: GroupSlots; count: number } {
  const slots = layout.sync(call);
  return { slots, count: slots.count };
}
