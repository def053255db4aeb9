// Writes `run(record, arena, first, end)` → 0, or 1 after a fault was noted: blocks one after the
// other, and of each the cohorts in turns.
//
// A block begins with one cohort of all its threads. Every cohort that has not returned is resumed
// once a round, those that come into being as well. After a round in which none went on, the next
// lets threads part from others of their cohort that must wait; if none goes on then either,
// that is a deadlock, and every thread says what it waits for.

import { Code, type FunctionReference } from '../encoder/code.ts';
import { LaunchValues } from '../launch-values.ts';
import type { Unit } from '../unit.ts';
import { returned } from './calls.ts';
import { cohortFields, type StatesLayout } from './layout.ts';

export function addSchedule(
  unit: Unit,
  layout: StatesLayout,
  records: { readonly offset: number; readonly bytes: number },
  resume: FunctionReference,
  report: FunctionReference,
): void {
  const code = new Code(['record', 'arena', 'block', 'end'].map((name) => ({ name, type: 'i32' })));
  const [record, arena, block, end] = [0, 1, 2, 3];
  const launch = new LaunchValues(unit, code, { record, arena, block });
  const scratch = launch.scratch();
  const [cohort, progress, running, parts, result] = ['cohort', 'progress', 'running', 'parts', 'result'].map(
    (name) => code.local('i32', name),
  ) as [number, number, number, number, number];

  const writeRound = () => {
    code.i32(0).tee(progress).set(running);
    code.get(scratch).i32(records.offset).op('i32.add').set(cohort);
    code.loop((next) => {
      code.get(cohort).memory('i32.load', cohortFields.segment).i32(returned).op('i32.ne');
      code.if(() => {
        code.get(record).get(arena).get(block).get(cohort).get(parts).call(resume).tee(result);
        code
          .i32(0)
          .op('i32.lt_s')
          .if(() => void code.i32(1).op('return'));
        code.get(progress).get(result).op('i32.or').set(progress);
        code.i32(1).set(running);
      });
      code.get(cohort).i32(records.bytes).op('i32.add').tee(cohort);
      code.get(scratch).memory('i32.load', layout.cohortCount).i32(records.bytes).op('i32.mul');
      code.get(scratch).op('i32.add').i32(records.offset).op('i32.add', 'i32.lt_u').brIf(next);
    });
  };

  const writeBlock = () => {
    writeStart(code, unit, layout, records, scratch);
    code.i32(0).set(parts);
    code.block((done) => {
      code.loop((again) => {
        writeRound();
        code.get(running).op('i32.eqz').brIf(done);
        code.get(progress).if(() => code.i32(0).set(parts).br(again));
        code
          .get(parts)
          .op('i32.eqz')
          .if(() => code.i32(1).set(parts).br(again));
        code.get(record).get(arena).get(block).call(report).i32(1).op('return');
      });
    });
  };

  const blocks = code.capture(() => {
    code.block((done) => {
      code.loop((next) => {
        code.get(block).get(end).op('i32.ge_u').brIf(done);
        writeBlock();
        code.get(block).i32(1).op('i32.add').set(block).br(next);
      });
    });
    code.i32(0);
  });
  launch.writeLaunchPrologue();
  code.append(blocks);
  unit.module.function('run', code, ['i32', 'i32', 'i32', 'i32'], ['i32'], { exported: true });
}

/** A block begins: nobody has met anybody, and one cohort has all threads. */
function writeStart(
  code: Code,
  unit: Unit,
  { meetings, members, cohortCount }: StatesLayout,
  records: { readonly offset: number; readonly bytes: number },
  scratch: number,
): void {
  if (meetings.bytes > 0) {
    code.get(scratch).i32(meetings.offset).op('i32.add').i32(0).i32(meetings.bytes).memoryFill();
  }
  code.get(scratch).i32(records.offset).op('i32.add').i32(0).i32(records.bytes).memoryFill();
  code.get(scratch).i32(1).memory('i32.store', cohortCount);
  code
    .get(scratch)
    .get(scratch)
    .i32(members)
    .op('i32.add')
    .memory('i32.store', records.offset + cohortFields.members);
  code
    .get(scratch)
    .i32(unit.blockSize)
    .memory('i32.store', records.offset + cohortFields.count);
  code.withTemporary('i32', (rank) => {
    code.i32(0).set(rank);
    code.loop((next) => {
      code.get(rank).i32(2).op('i32.shl').get(scratch).op('i32.add').get(rank).memory('i32.store', members);
      code.get(rank).i32(1).op('i32.add').tee(rank).i32(unit.blockSize).op('i32.lt_u').brIf(next);
    });
  });
}
