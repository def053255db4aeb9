// What a cohort's threads do together at a call that none of them waits at: they count, mark, or copy.

import type { Call } from '../../../compiler/ir.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { type CopyCall, copyOf, writeCopy, writeShareOfCopy } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { writeMark } from '../marks.ts';
import type { ThreadContext } from '../thread-context.ts';
import { isPost, writePost } from './counts.ts';
import type { CohortWriter } from './writer.ts';

export function writeCall(
  writer: CohortWriter,
  facts: CohortUniformity,
  call: Call,
  thread: (rank: Local) => ThreadContext,
): void {
  switch (call.intrinsic) {
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

/** Instead of a segment: the cohort's threads have returned. */
export const returned = -1;
