// Barriers among cohorts: each thread arrives by itself, and notes what it waits for.
//
// An arrival never waits, so that it is one statement of a region. A wait begins with a note of the
// phase for each thread: whether the thread may go on is whether the barrier's phase is past
// it. Making a barrier is a meeting of the group, and the first cohort that goes on
// from there sets the records up.

import type { BarrierCall } from '../../../compiler/ir-barriers.ts';
import { mostArrivals } from '../../../compiler/ir-barriers.ts';
import type { BarrierWaitCall, MakeBarrierCall } from '../../../compiler/ir-cohorts.ts';
import {
  type BarrierPlace,
  barrierRecord,
  barrierRecordBytes,
  withAwaitedPhase,
  withBarrier,
  withBarrierIndex,
  writeArrival,
  writeBarrierFault,
  writeNextPhase,
} from '../barriers.ts';
import type { MemcpyAsync } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import type { ThreadContext } from '../thread-context.ts';
import { pushSlot } from './cohort.ts';
import { awaitBytes, awaitFields, barrierFields, groupBarrierBytes, groupBarrierFields } from './layout.ts';
import type { CohortState, CohortWriter } from './writer.ts';

/** What each thread does at a call by itself. */
type ThreadBarrierCall = Exclude<BarrierCall, { intrinsic: 'memcpyAsync' | 'makeBarrier' | 'barrierWait' }>;

/** Writes what one thread does at a call that it does not wait at. */
export function writeThreadBarrierCall(
  writer: CohortWriter,
  context: ThreadContext,
  call: ThreadBarrierCall,
  rank: Local,
): void {
  switch (call.intrinsic) {
    case 'barrierArrive':
      writeArrival(context, call, placeOf(writer, call, rank));
      return;
    case 'barrierComplete':
      withBarrier(context, call, placeOf(writer, call, rank), ({ address }) =>
        writeNextPhase(context, address),
      );
      return;
    // Copies are done when they are issued.
    case 'barrierBind':
      withBarrierIndex(context, call, pushMade(writer, call), () => {});
      return;
    default:
      call satisfies never;
  }
}

/** Stops a thread that may not copy for the barrier. */
export function writeBarrierCopyCheck(
  writer: CohortWriter,
  context: ThreadContext,
  call: Extract<MemcpyAsync, { barrier: number }>,
): void {
  withBarrierIndex(context, call, pushMade(writer, call), () => {});
}

function pushMade({ layout, cohort }: CohortWriter, call: BarrierCall): () => void {
  return () => cohort.pushField(layout.barriers.get(call.barrier)!.made);
}

function placeOf(writer: CohortWriter, call: BarrierCall, rank: Local): BarrierPlace {
  const { code, launch, layout, cohort } = writer;
  const slots = layout.barriers.get(call.barrier)!;
  return {
    pushMade: pushMade(writer, call),
    pushBase: () => {
      pushSlot(code, launch.scratch(), slots, cohort.groupOf(rank, slots.group));
      code.i32(groupBarrierBytes).op('i32.add');
    },
  };
}

/** Before a thread meets the others: all must expect the same. */
export function writeProposal(
  { code, launch, layout, cohort }: CohortWriter,
  context: ThreadContext,
  call: MakeBarrierCall,
  rank: Local,
): void {
  const slots = layout.barriers.get(call.barrier)!;
  const noIndex = () => void code.i32(0);
  code.withTemporaries((take) => {
    const expected = take('i64');
    const group = take('i32');
    pushExpression(context, call.expected!);
    if (context.unit.program.indexType === 'i32') code.op('i64.extend_i32_s');
    code.tee(expected).i64(1n).op('i64.sub').i64(BigInt(mostArrivals)).op('i64.ge_u');
    code.if(() =>
      writeBarrierFault(context, call, 'wrongExpected', noIndex, [() => void code.get(expected)]),
    );
    pushSlot(code, launch.scratch(), slots, cohort.groupOf(rank, slots.group));
    code.set(group);
    const pushProposed = () => void code.get(group).memory('i32.load', groupBarrierFields.proposed);
    pushProposed();
    code.if(() => {
      pushProposed();
      code.get(expected).op('i32.wrap_i64', 'i32.ne');
      code.if(() =>
        writeBarrierFault(context, call, 'differentExpected', noIndex, [
          () => {
            pushProposed();
            code.op('i64.extend_i32_u');
          },
          () => void code.get(expected),
        ]),
      );
    });
    code.get(group).get(expected).op('i32.wrap_i64').memory('i32.store', groupBarrierFields.proposed);
  });
}

/** After the group has met: the records are set up if they are not yet. */
export function writeBarrierOpening(writer: CohortWriter, call: MakeBarrierCall): void {
  const { unit, code, launch, layout, cohort } = writer;
  const slots = layout.barriers.get(call.barrier)!;
  const count = unit.program.barriers[call.barrier]!.count ?? 1;
  cohort.forEachGroup(slots.group, (threads) => {
    code.withTemporaries((take) => {
      const group = take('i32');
      const expected = take('i32');
      const record = take('i32');
      pushSlot(code, launch.scratch(), slots, threads);
      code.tee(group).memory('i32.load', groupBarrierFields.opened);
      cohort.pushField(slots.made);
      code.op('i32.ne').if(() => {
        code.get(group);
        cohort.pushField(slots.made);
        code.memory('i32.store', groupBarrierFields.opened);
        if (call.expected === null) threads.size();
        else code.get(group).memory('i32.load', groupBarrierFields.proposed);
        code.set(expected);
        code.get(group).i32(0).memory('i32.store', groupBarrierFields.proposed);
        code.get(group).i32(groupBarrierBytes).op('i32.add').set(record);
        code.loop((next) => {
          code.get(record).i32(0).memory('i32.store', barrierRecord.phase);
          for (const field of [barrierRecord.pending, barrierRecord.expected]) {
            code.get(record).get(expected).memory('i32.store', field);
          }
          code.get(record).i32(barrierRecordBytes).op('i32.add').tee(record);
          code
            .get(group)
            .i32(groupBarrierBytes + count * barrierRecordBytes)
            .op('i32.add', 'i32.ne')
            .brIf(next);
        });
      });
    });
  });
}

/** Notes what a thread waits for. */
export function writeAwait(
  writer: CohortWriter,
  context: ThreadContext,
  call: BarrierWaitCall,
  rank: Local,
): void {
  const { code } = writer;
  withBarrier(context, call, placeOf(writer, call, rank), (barrier) => {
    withAwaitedPhase(context, call, barrier, (phase) => {
      for (const [field, local] of [
        [awaitFields.address, barrier.address],
        [awaitFields.phase, phase],
        [awaitFields.index, barrier.index],
      ] as const) {
        pushAwait(writer, rank);
        code.get(local).memory('i32.store', field);
      }
    });
  });
}

/** Pushes whether the phase is over that a thread waits for. */
export function pushIsOver(state: CohortState, rank: Local): void {
  const { code } = state;
  pushAwait(state, rank);
  code.memory('i32.load', awaitFields.address).memory('i32.load', barrierRecord.phase);
  pushAwait(state, rank);
  code.memory('i32.load', awaitFields.phase).op('i32.gt_s');
}

/** After a wait that asks: each thread learns whether the phase is over. */
export function writeAnswers(writer: CohortWriter, call: BarrierWaitCall): void {
  const { code, cohort, variables } = writer;
  const { result } = call;
  if (result === null) return;
  cohort.forEachThread((rank) => {
    pushIsOver(writer, rank);
    code.set(variables.local(result));
    variables.writeSpill(result, rank);
  });
}

/** Pushes what a thread waits for: index, phase, arrived, expected, returned. */
export function pushBarrierProgress(state: CohortState, call: BarrierWaitCall, rank: Local): void {
  const { code, launch, layout, cohort } = state;
  const { meeting, group } = layout.barriers.get(call.barrier)!;
  const load = (field: number) => {
    pushAwait(state, rank);
    code.memory('i32.load', awaitFields.address).memory('i32.load', field);
  };
  pushAwait(state, rank);
  code.memory('i32.load', awaitFields.index);
  pushAwait(state, rank);
  code.memory('i32.load', awaitFields.phase);
  load(barrierRecord.expected);
  load(barrierRecord.pending);
  code.op('i32.sub');
  load(barrierRecord.expected);
  pushSlot(code, launch.scratch(), meeting, cohort.groupOf(rank, group));
  code.memory('i32.load', barrierFields.left);
}

/** Pushes the address of a thread's note. */
function pushAwait({ unit, code, launch, layout }: CohortState, rank: Local): void {
  code.get(launch.scratch()).i32(layout.awaits).op('i32.add').get(rank);
  unit.writeRankInBlock(code);
  code.i32(awaitBytes).op('i32.mul', 'i32.add');
}
