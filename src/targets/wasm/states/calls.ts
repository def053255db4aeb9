// What a cohort's threads do together at a call: they come to a meeting, copy, or return.
//
// Meetings count threads, so that a cohort of n comes n times at once. A thread waits by the number of times it has come
// there; all of a cohort's threads have come equally often, which is why the record holds the number once.

import type { Call } from '../../../compiler/ir.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { type CopyCall, copyOf, writeCopy, writeShareOfCopy } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { writeMark } from '../marks.ts';
import type { ThreadContext } from '../thread-context.ts';
import { pushSlot } from './cohort.ts';
import { isPost, writePost } from './counts.ts';
import { cohortFields, type GroupSlots } from './layout.ts';
import { writeArrivalByMask, writeReturnByMask } from './masks.ts';
import type { CohortWriter } from './writer.ts';

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
    case 'nanosleep':
      return;
    case 'mark':
      writeMark(writer.uniform, call);
      return;
    case 'core':
      if (isPost(call)) writePost(writer, facts, call, thread);
      else writeBlockCopy(writer, copyOf(call)!, thread);
      return;
    default:
      throw new Error(`${call.intrinsic} is a thread's own business`);
  }
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
  const { code, layout, cohort } = writer;
  for (const slots of layout.syncs) writeMeeting(writer, slots, 'leave');
  if (layout.returned !== null) writeReturnByMask(writer, layout.returned);
  cohort.setField(cohortFields.segment, () => void code.i32(returned));
}

/** Instead of a segment: the cohort's threads have returned. */
export const returned = -1;
