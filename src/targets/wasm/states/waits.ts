// Where a cohort's threads wait: whether they may go on, and what they are still waiting for.

import type { Group } from '../../../compiler/ir.ts';
import type { CountCall, GroupWait, MeetingCall, WaitingCall } from '../../../compiler/ir-cohorts.ts';
import type { StageCall, TimedWait } from '../../../compiler/ir-pipelines.ts';
import type { Local } from '../encoder/code.ts';
import { type GroupThreads, pushSlot } from './cohort.ts';
import {
  barrierFields,
  type GroupSlots,
  type PipelineSlots,
  pipelineBytes,
  pipelineFields,
  type StatesLayout,
  stageBarrierFields,
  stageBytes,
  stageFields,
} from './layout.ts';
import { isByMask, pushProgressByMask, pushReadyByMask } from './masks.ts';
import type { CohortState } from './writer.ts';

/** Pushes whether threads of one group need not wait any more. */
export function pushReady(state: CohortState, call: GroupWait | TimedWait, threads: GroupThreads): void {
  const { code, launch, cohort } = state;
  if (isByMask(call)) {
    pushReadyByMask(state, call, threads);
    return;
  }
  if (isMeeting(call)) {
    const { slots, count } = meetingOf(state, call);
    if (isOfGrid(call)) {
      code.get(launch.scratch()).memory('i32.load', state.layout.grid!.released);
    } else {
      pushSlot(code, launch.scratch(), slots, threads);
      code.memory('i32.load', barrierFields.phase);
    }
    cohort.pushField(count);
    code.op('i32.ge_u');
    return;
  }
  const { slots, stage, barrier, use } = stageOf(state, call);
  code.withTemporary('i32', (pipeline) => {
    pushSlot(code, launch.scratch(), slots, threads);
    code.set(pipeline);
    pushStage(state, pipeline, stage);
    code.memory('i32.load', stageFields[barrier] + stageBarrierFields.phase);
    cohort.pushField(use);
    // A stage is free when it was consumed as often as it was used, and full when it was produced once more.
    code.op(barrier === 'consumed' ? 'i32.ge_u' : 'i32.gt_u');
  });
}

/** Pushes what threads of one group wait for: number of the group or stage, arrived, expected, returned. */
export function pushProgress(state: CohortState, call: GroupWait, threads: GroupThreads): void {
  const { code, launch, cohort } = state;
  if (isByMask(call)) {
    pushProgressByMask(state, call, threads);
    return;
  }
  code.withTemporary('i32', (address) => {
    if (isMeeting(call)) {
      const { slots } = meetingOf(state, call);
      pushSlot(code, launch.scratch(), slots, threads);
      code.set(address);
      threads.index();
      if (isOfGrid(call)) {
        pushProgressInGrid(state, address, threads);
        return;
      }
      code.get(address).memory('i32.load', barrierFields.arrived);
      threads.size();
      code.get(address).memory('i32.load', barrierFields.left).op('i32.sub');
      code.get(address).memory('i32.load', barrierFields.left);
      return;
    }
    const { slots, stage, barrier } = stageOf(state, call);
    pushSlot(code, launch.scratch(), slots, threads);
    code.set(address);
    cohort.pushField(stage);
    pushStage(state, address, stage);
    code.memory('i32.load', stageFields[barrier] + stageBarrierFields.arrived);
    code.get(address).memory('i32.load', pipelineFields[barrier === 'produced' ? 'producers' : 'consumers']);
    code.get(address).memory('i32.load', pipelineFields.returned);
  });
}

/** Pushes the address of the stage that a field of the cohort's record names, of the pipeline at an address. */
export function pushStage({ code, cohort }: CohortState, pipeline: Local, stage: number): void {
  code.get(pipeline);
  cohort.pushField(stage);
  code.i32(stageBytes).op('i32.mul', 'i32.add').i32(pipelineBytes).op('i32.add');
}

function isMeeting(call: GroupWait | TimedWait): call is MeetingCall {
  return call.intrinsic === 'sync' || call.intrinsic === 'makePipeline' || call.intrinsic === 'makeBarrier';
}

/** The threads that wait as one at a call: those of a group, or, where masks say who meets, each by itself. */
export function waitingGroup(call: Exclude<WaitingCall, CountCall>, layout: StatesLayout): Group {
  if (isByMask(call)) return { kind: 'thread' };
  if (call.intrinsic === 'sync') return call.group;
  return ('pipeline' in call ? layout.pipelines.get(call.pipeline)! : layout.barriers.get(call.barrier)!)
    .group;
}

function isOfGrid(call: MeetingCall): boolean {
  return call.intrinsic === 'sync' && call.group.kind === 'grid';
}

/** How many of the block have come to a sync of the grid, of how many, and how many have returned. */
function pushProgressInGrid(
  { code, launch, layout }: CohortState,
  barrier: Local,
  threads: GroupThreads,
): void {
  // When all are there a phase of the block's barrier is over, and counting begins anew.
  threads.size();
  code.get(barrier).memory('i32.load', barrierFields.left).op('i32.sub');
  code.get(barrier).memory('i32.load', barrierFields.arrived);
  code.get(barrier).memory('i32.load', barrierFields.phase);
  code.get(launch.scratch()).memory('i32.load', layout.grid!.released);
  code.op('i32.gt_u', 'select');
  threads.size();
  code.get(barrier).memory('i32.load', barrierFields.left);
}

/** Where threads meet, and the field that says how often they have come there. */
function meetingOf({ layout }: CohortState, call: MeetingCall): { slots: GroupSlots; count: number } {
  if (call.intrinsic === 'sync') {
    const slots = layout.sync(call);
    return { slots, count: slots.count };
  }
  if (call.intrinsic === 'makeBarrier') {
    const { meeting, made } = layout.barriers.get(call.barrier)!;
    return { slots: meeting, count: made };
  }
  const { meeting, handle } = layout.pipelines.get(call.pipeline)!;
  return { slots: meeting, count: handle.made };
}

interface AwaitedStage {
  readonly slots: PipelineSlots;
  readonly barrier: keyof typeof stageFields;
  /** Fields of the cohort's record. */
  readonly stage: number;
  readonly use: number;
}

function stageOf({ layout }: CohortState, call: StageCall | TimedWait): AwaitedStage {
  const slots = layout.pipelines.get(call.pipeline)!;
  const { headStage, headUse, tailStage, tailUse } = slots.handle;
  return call.intrinsic === 'producerAcquire'
    ? { slots, barrier: 'consumed', stage: headStage, use: headUse }
    : { slots, barrier: 'produced', stage: tailStage, use: tailUse };
}
