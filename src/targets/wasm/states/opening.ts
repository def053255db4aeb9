// makePipeline: what each thread brings, and the state that the group gets when all are there.
//
// The first cohort that goes on after a group has met sets the state up: how many producers and
// consumers its stages expect. Where threads bring roles or counts, each notes its own before it
// arrives; a thread that returned has no note.

import type { MakePipelineCall } from '../../../compiler/ir-cohorts.ts';
import { pipelineStates } from '../../pipeline-misuse.ts';
import { Code, type FunctionReference, type Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { writeConversion } from '../operators.ts';
import type { ThreadContext } from '../thread-context.ts';
import { pushSlot } from './cohort.ts';
import { groupSize, pipelineBytes, pipelineFields, stageBytes } from './layout.ts';
import type { CohortWriter } from './writer.ts';

/** The note of a thread that has returned. */
export const noNote = -(2n ** 63n);

/** Pushes the address of a thread's note. */
export function pushNote(
  { unit, code, launch }: Pick<CohortWriter, 'unit' | 'code' | 'launch'>,
  notes: number,
  rank: Local,
): void {
  code.get(launch.scratch()).i32(notes).op('i32.add').get(rank);
  unit.writeRankInBlock(code);
  code.i32(3).op('i32.shl', 'i32.add');
}

/** Notes what a thread brings: 1 for a producer, or its count. */
export function writeNote(
  writer: CohortWriter,
  context: ThreadContext,
  { pipeline, producers }: MakePipelineCall,
  rank: Local,
): void {
  const { notes } = writer.layout.pipelines.get(pipeline)!;
  pushNote(writer, notes!, rank);
  pushExpression(context, producers!);
  writeConversion(writer.unit, writer.code, producers!.type, 'i64');
  writer.code.memory('i64.store');
}

/** Writes what comes after the wait: the state is set up if it is not yet, and the threads have handles of it. */
export function writeOpening(writer: CohortWriter, call: MakePipelineCall): void {
  const { unit, code, launch, layout, cohort, uniform } = writer;
  const slots = layout.pipelines.get(call.pipeline)!;
  const { handle } = slots;
  const open = addOpen(writer, call);
  cohort.forEachGroup(slots.group, (threads) => {
    code.withTemporary('i32', (state) => {
      pushSlot(code, launch.scratch(), slots, threads);
      code.tee(state).memory('i32.load', pipelineFields.opened);
      cohort.pushField(handle.made);
      code.op('i32.ne').if(() => {
        code.get(launch.scratch()).get(state);
        threads.index();
        code.i32(groupSize(slots.group, unit.threadsOfBlock)).op('i32.mul');
        threads.size();
        code
          .get(launch.block)
          .call(open)
          .if(() => uniform.frame.fail());
        code.get(state);
        cohort.pushField(handle.made);
        code.memory('i32.store', pipelineFields.opened);
      });
    });
  });
  cohort.setField(handle.state, () => void code.i32(pipelineStates.made));
  for (const cursor of [handle.headStage, handle.headUse, handle.tailStage, handle.tailUse]) {
    cohort.setField(cursor, () => void code.i32(0));
  }
}

/** Adds `open(scratch, state, first, size, block)` → 1 after a fault: sets up the state of the group from rank `first` on. */
function addOpen({ unit, layout }: CohortWriter, call: MakePipelineCall): FunctionReference {
  const { stages, partition, name } = unit.program.pipelines[call.pipeline]!;
  const { notes } = layout.pipelines.get(call.pipeline)!;
  const code = new Code(
    ['scratch', 'state', 'first', 'size', 'block'].map((parameter) => ({ name: parameter, type: 'i32' })),
  );
  const [scratch, state, first, size, block] = [0, 1, 2, 3, 4];
  code
    .get(state)
    .i32(0)
    .i32(pipelineBytes + stages * stageBytes)
    .memoryFill();
  code.get(state).get(size).memory('i32.store', pipelineFields.owners);
  if (partition === 'unified') {
    code.get(state).get(size).memory('i32.store', pipelineFields.producers);
    code.get(state).get(size).memory('i32.store', pipelineFields.consumers);
    code.i32(0);
  } else {
    const rank = code.local('i32', 'rank');
    const end = code.local('i32', 'end');
    const note = code.local('i64', 'note');
    const producers = code.local('i64', 'producers');
    const speaker = code.local('i32', 'speaker');
    const different = code.local('i32', 'different');
    code.get(first).get(size).op('i32.add').set(end);
    code.i32(-1).set(speaker);
    const forEachNote = (write: () => void) => {
      code.get(first).set(rank);
      code.loop((next) => {
        code.get(scratch).get(rank).i32(3).op('i32.shl', 'i32.add').memory('i64.load', notes!).tee(note);
        code.i64(noNote).op('i64.ne').if(write);
        code.get(rank).i32(1).op('i32.add').tee(rank).get(end).op('i32.ne').brIf(next);
      });
    };
    forEachNote(() => {
      code
        .get(speaker)
        .i32(0)
        .op('i32.lt_s')
        .if(
          () => void code.get(rank).set(speaker).get(note).set(producers),
          () => {
            if (partition === 'role') code.get(producers).get(note).op('i64.add').set(producers);
            else code.get(producers).get(note).op('i64.ne').get(different).op('i32.or').set(different);
          },
        );
    });
    // Ranks are those of the block here.
    const site = layout.unit.pipelineSite(call.range, call.pipeline, call.intrinsic);
    if (partition === 'count') {
      code.get(different).if(() => {
        forEachNote(() => void code.get(note).call(unit.host('fault', 'count')));
        code.i32(site).get(speaker).get(block).call(unit.host('fault', 'counts'));
        code.i32(1).op('return');
      });
    }
    // From 1 to size - 1, and so is the rest.
    code.get(producers).i64(1n).op('i64.sub').get(size).i32(1).op('i32.sub', 'i64.extend_i32_u', 'i64.ge_u');
    code.if(() => {
      code.i32(site).get(speaker).get(block).get(producers).get(size).call(unit.host('fault', 'producers'));
      code.i32(1).op('return');
    });
    code.get(state).get(producers).op('i32.wrap_i64').memory('i32.store', pipelineFields.producers);
    code.get(state).get(size).get(producers).op('i32.wrap_i64', 'i32.sub');
    code.memory('i32.store', pipelineFields.consumers);
    code.i32(0);
  }
  return unit.module.function(`open ${name}`, code, ['i32', 'i32', 'i32', 'i32', 'i32'], ['i32']);
}
