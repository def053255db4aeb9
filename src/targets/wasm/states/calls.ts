// What a cohort's threads do together at a call: they arrive, commit, release, quit or return.
//
// Barriers count threads, so that a cohort of n arrives n times at once. A thread waits for a
// phase by its number: of a sync the number of times it has synced there, of a stage the number
// of times it has used it. All of a cohort's threads have done so equally often, which is why
// the record holds these numbers, and the pipeline's cursors, once.

import type { Call } from '../../../compiler/ir.ts';
import type { CountCall } from '../../../compiler/ir-cohorts.ts';
import { pipelineVerbs, type TimedWait, waitsForStage } from '../../../compiler/ir-pipelines.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { pipelineStates } from '../../pipeline-misuse.ts';
import { type CopyCall, copyOf, type MemcpyAsync, writeCopy, writeShareOfCopy } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { writeMark } from '../marks.ts';
import type { ThreadContext } from '../thread-context.ts';
import { writeBarrierCopyCheck } from './barriers.ts';
import { type Push, pushSlot } from './cohort.ts';
import { isPost, writeAnswer, writePost } from './counts.ts';
import { cohortFields, type GroupSlots, type PipelineSlots, pipelineFields, stageFields } from './layout.ts';
import { writeArrivalByMask, writeReturnByMask } from './masks.ts';
import { noNote, pushNote } from './opening.ts';
import { pushReady, pushStage } from './waits.ts';
import type { CohortWriter } from './writer.ts';

/** What a thread waits for by itself alone is over when it begins. */
type PipelineCall = Exclude<Extract<Call, { pipeline: number }>, { intrinsic: 'consumerWaitPrior' }>;

/** Writes a call that no thread waits at, or what comes before the wait. */
export function writeCall(
  writer: CohortWriter,
  facts: CohortUniformity,
  call: Call,
  thread: (rank: Local) => ThreadContext,
): void {
  const { layout, cohort } = writer;
  switch (call.intrinsic) {
    case 'sync': {
      if (call.mask !== undefined) {
        writeArrivalByMask(writer, call);
        return;
      }
      const slots = layout.sync(call);
      cohort.incrementField(slots.count);
      writeMeeting(writer, slots, 'arrive');
      return;
    }
    case 'makePipeline': {
      const { handle, meeting } = slotsOf(writer, call);
      cohort.incrementField(handle.made);
      writeMeeting(writer, meeting, 'arrive');
      return;
    }
    case 'makeBarrier': {
      const { made, meeting } = layout.barriers.get(call.barrier)!;
      cohort.incrementField(made);
      writeMeeting(writer, meeting, 'arrive');
      return;
    }
    case 'consumerWaitFor':
    case 'consumerWaitUntil':
      writeHandleCheck(writer, writer.uniform, call);
      writeLook(writer, call);
      return;
    case 'nanosleep':
      return;
    case 'mark':
      writeMark(writer.uniform, call);
      return;
    case 'producerCommit': {
      const slots = slotsOf(writer, call);
      writeHandleCheck(writer, writer.uniform, call);
      writeStageArrival(writer, slots, 'produced', pipelineFields.producers, slots.handle.headStage);
      writeAdvance(writer, call, slots.handle.headStage, slots.handle.headUse);
      return;
    }
    case 'consumerRelease': {
      const slots = slotsOf(writer, call);
      writeHandleCheck(writer, writer.uniform, call);
      writeStageArrival(writer, slots, 'consumed', pipelineFields.consumers, slots.handle.tailStage);
      writeAdvance(writer, call, slots.handle.tailStage, slots.handle.tailUse);
      return;
    }
    case 'quit':
      writeHandleCheck(writer, writer.uniform, call);
      writeQuit(writer, call);
      return;
    case 'memcpyAsync':
      writeMayCopy(writer, writer.uniform, call);
      writeBlockCopy(writer, call, thread);
      return;
    case 'core':
      if (isPost(call)) writePost(writer, facts, call, thread);
      else if (call.operation.kind === 'waitUntil') writeAnswer(writer, call as CountCall, thread);
      else writeBlockCopy(writer, copyOf(call)!, thread);
      return;
    default:
      if (!waitsForStage(call)) throw new Error(`${call.intrinsic} is a thread's own business`);
      writeHandleCheck(writer, writer.uniform, call);
  }
}

/** What the threads of one group share of a pipeline. */
export function slotsOf({ layout }: CohortWriter, { pipeline }: PipelineCall): PipelineSlots {
  return layout.pipelines.get(pipeline)!;
}

/** Stops the kernel if a thread may not make this call: it has not made the pipeline, has quit it, or has another role. */
export function writeHandleCheck(
  writer: CohortWriter,
  context: ThreadContext,
  call: Exclude<PipelineCall, { intrinsic: 'makePipeline' }>,
): void {
  const { unit, launch, cohort } = writer;
  const { code, frame } = context;
  const slots = writer.layout.pipelines.get(call.pipeline);
  if (slots === undefined) return;
  const pushState = () => cohort.pushField(slots.handle.state);
  pushState();
  if (unit.program.pipelines[call.pipeline]!.partition !== 'role') {
    code.i32(pipelineStates.made).op('i32.ne');
  } else if (call.intrinsic === 'quit') {
    code.i32(pipelineStates.producer).op('i32.lt_u');
  } else {
    code.i32(pipelineStates[pipelineVerbs[call.intrinsic].role]).op('i32.ne');
  }
  code.if(() => {
    code.i32(unit.pipelineSite(call.range, call.pipeline, call.intrinsic));
    frame.pushRank();
    code.get(launch.block);
    pushState();
    code.call(unit.host('fault', 'pipeline'));
    frame.fail();
  });
}

/** Whether each thread's stage is there. */
function writeLook(writer: CohortWriter, call: TimedWait): void {
  const { code, cohort, variables } = writer;
  const { group } = slotsOf(writer, call);
  const { result } = call;
  if (result === null) return;
  cohort.forEachThread((rank) => {
    pushReady(writer, call, cohort.groupOf(rank, group));
    code.set(variables.local(result));
    variables.writeSpill(result, rank);
  });
}

/** Stops the kernel if a thread may not copy for the pipeline or barrier that the copy is for. */
export function writeMayCopy(writer: CohortWriter, context: ThreadContext, call: MemcpyAsync): void {
  if ('barrier' in call) writeBarrierCopyCheck(writer, context, call);
  else writeHandleCheck(writer, context, call);
}

/** All threads of the cohort arrive at the barriers of their groups, or are not expected there any more. */
function writeMeeting(
  { code, launch, cohort, meetings }: CohortWriter,
  slots: GroupSlots,
  how: 'arrive' | 'leave',
): void {
  cohort.forEachGroup(slots.group, (threads) => {
    pushSlot(code, launch.scratch(), slots, threads);
    threads.count();
    threads.size();
    code.call(meetings[how]);
  });
}

function writeStageArrival(
  writer: CohortWriter,
  slots: PipelineSlots,
  barrier: keyof typeof stageFields,
  expected: number,
  stage: number,
): void {
  const { code, launch, cohort, meetings } = writer;
  cohort.forEachGroup(slots.group, (threads) => {
    code.withTemporary('i32', (state) => {
      pushSlot(code, launch.scratch(), slots, threads);
      code.set(state);
      pushStage(writer, state, stage);
      code.i32(stageFields[barrier]).op('i32.add');
      threads.count();
      code.get(state).memory('i32.load', expected).call(meetings.advance);
    });
  });
}

/** Moves a cursor to the next stage. */
function writeAdvance(
  { unit, code, cohort }: CohortWriter,
  call: PipelineCall,
  stage: number,
  use: number,
): void {
  const { stages } = unit.program.pipelines[call.pipeline]!;
  cohort.incrementField(stage);
  cohort.pushField(stage);
  code
    .i32(stages)
    .op('i32.eq')
    .if(() => {
      cohort.setField(stage, () => code.i32(0));
      cohort.incrementField(use);
    });
}

/** The thread that gives a pipeline up last learns that it is the last. */
function writeQuit(writer: CohortWriter, call: Extract<Call, { intrinsic: 'quit' }>): void {
  const { code, launch, cohort, variables } = writer;
  const slots = slotsOf(writer, call);
  const { result } = call;
  if (result === null) {
    cohort.forEachGroup(slots.group, (threads) => {
      pushSlot(code, launch.scratch(), slots, threads);
      writeChange(writer, pipelineFields.owners, 'i32.sub', threads.count);
    });
  } else {
    cohort.forEachThread((rank) => {
      const threads = cohort.groupOf(rank, slots.group);
      pushSlot(code, launch.scratch(), slots, threads);
      writeChange(writer, pipelineFields.owners, 'i32.sub', threads.count);
      pushSlot(code, launch.scratch(), slots, threads);
      code.memory('i32.load', pipelineFields.owners).op('i32.eqz').set(variables.local(result));
      variables.writeSpill(result, rank);
    });
  }
  cohort.setField(slots.handle.state, () => void code.i32(pipelineStates.quit));
}

/** A copy that the whole block does alike: at once if all threads are here, else each its share. */
function writeBlockCopy(
  { unit, code, cohort, uniform }: CohortWriter,
  call: CopyCall,
  thread: (rank: Local) => ThreadContext,
): void {
  const writeShares = () => cohort.forEachThread((rank) => writeShareOfCopy(thread(rank), call));
  if (unit.rankGroup !== null) {
    writeShares();
    return;
  }
  cohort.pushIsWhole();
  code.if(() => writeCopy(uniform, call, 'whole'), writeShares);
}

/** The cohort's threads return: nobody expects them any more. */
export function writeReturn(writer: CohortWriter): void {
  const { code, launch, layout, cohort } = writer;
  for (const slots of layout.syncs) writeMeeting(writer, slots, 'leave');
  if (layout.returned !== null) writeReturnByMask(writer, layout.returned);
  for (const { meeting } of layout.barriers.values()) writeMeeting(writer, meeting, 'leave');
  for (const slots of layout.pipelines.values()) {
    const { group, meeting, handle, notes } = slots;
    if (notes !== null) {
      cohort.forEachThread((rank) => {
        pushNote(writer, notes, rank);
        code.i64(noNote).memory('i64.store');
      });
    }
    writeMeeting(writer, meeting, 'leave');
    cohort.pushField(handle.state);
    code.if(() => {
      cohort.forEachGroup(group, (threads) => {
        pushSlot(code, launch.scratch(), slots, threads);
        writeChange(writer, pipelineFields.returned, 'i32.add', threads.count);
        cohort.pushField(handle.state);
        code
          .i32(pipelineStates.quit)
          .op('i32.ne')
          .if(() => {
            pushSlot(code, launch.scratch(), slots, threads);
            writeChange(writer, pipelineFields.owners, 'i32.sub', threads.count);
          });
      });
    });
  }
  cohort.setField(cohortFields.segment, () => void code.i32(returned));
}

/** Instead of a segment: the cohort's threads have returned. */
export const returned = -1;

/** Pops an address and changes a word there. */
function writeChange({ code }: CohortWriter, offset: number, how: 'i32.add' | 'i32.sub', by: Push): void {
  code.withTemporary('i32', (address) => {
    code.tee(address).get(address).memory('i32.load', offset);
    by();
    code.op(how).memory('i32.store', offset);
  });
}
