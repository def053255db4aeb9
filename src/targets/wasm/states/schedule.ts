// Writes `run(record, arena, first, end)` → 0, or 1 after a fault was noted: blocks one after the
// other, and of each the cohorts in turns.
//
// A block begins with a cohort for each rank group. Every cohort that has not returned is resumed
// once a round, those that come into being as well. After a round in which none went on, the next
// lets threads part from others of their cohort that must wait; if none goes on then either,
// that is a deadlock, and every thread says what it waits for. Threads that only let others go on
// may do so for ever, or until their time is over: so that nobody waits for them in vain, others part
// now and then in any case. While all threads only do that, the host is asked now and then whether it has
// gone on for too long (patience.ts); then every thread says where it is.
//
// Where the grid synchronises, blocks run in turns (grid.ts): `advance(record, arena, block, begins)`
// instead runs one, which begins or goes on, until it is `finished`, has `failed`, `waits`, is `stuck`, or rests.

import type { Segment } from '../../../compiler/ir-cohorts.ts';
import { Code, type FunctionReference } from '../encoder/code.ts';
import { LaunchValues } from '../launch-values.ts';
import type { Unit } from '../unit.ts';
import { returned } from './calls.ts';
import { outcomesOfBlock } from './grid.ts';
import { cohortFields, type StatesLayout } from './layout.ts';
import { outcomes } from './resume.ts';

export interface ScheduledRankGroup {
  readonly unit: Unit;
  readonly resume: FunctionReference;
  readonly segments: readonly Segment[];
}

/** After so many rounds (a power of two) threads may part although some went on, where any yield. */
const roundsTogether = 64;

export function addSchedule(
  layout: StatesLayout,
  records: { readonly offset: number; readonly bytes: number },
  rankGroups: readonly ScheduledRankGroup[],
  report: FunctionReference,
): void {
  const { unit } = layout;
  const yields = rankGroups.some(({ segments }) => segments.some(({ end }) => end.kind === 'yield'));
  const code = new Code(['record', 'arena', 'block', 'end'].map((name) => ({ name, type: 'i32' })));
  const [record, arena, block, end, begins] = [0, 1, 2, 3, 3];
  const launch = new LaunchValues(unit, code, { record, arena, block });
  const scratch = launch.scratch();
  const [cohort, progress, running, parts, result, rounds, rests, wentOn] = [
    'cohort',
    'progress',
    'running',
    'parts',
    'result',
    'rounds',
    'rests',
    'wentOn',
  ].map((name) => code.local('i32', name)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];

  /** Pushes what the cohort's rank group gives; it is this one or a later one. */
  const writeResume = (rankGroup: number) => {
    const resume = () => {
      code.get(record).get(arena).get(block).get(cohort).get(parts).call(rankGroups[rankGroup]!.resume);
    };
    if (rankGroup === rankGroups.length - 1) {
      resume();
      return;
    }
    code.get(cohort).memory('i32.load', cohortFields.rankGroup).i32(rankGroup).op('i32.eq');
    code.if(resume, () => writeResume(rankGroup + 1), 'i32');
  };

  const writeRound = () => {
    code.i32(0).tee(progress).set(running);
    code.get(scratch).i32(records.offset).op('i32.add').set(cohort);
    code.loop((next) => {
      code.get(cohort).memory('i32.load', cohortFields.segment).i32(returned).op('i32.ne');
      code.if(() => {
        writeResume(0);
        code.tee(result);
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

  /** All threads let others go on, and have for a while. */
  const writeRest = () => {
    code.get(scratch).i32(layout.counts.offset).op('i32.add').i32(layout.counts.bytes).get(block);
    code.call(unit.host('clock', 'rests')).if(() => {
      code.get(record).get(arena).get(block).call(report).i32(1).op('return');
    });
    if (layout.ofGrid) code.i32(outcomesOfBlock.rests).op('return');
  };

  const writeBlock = () => {
    const start = () => writeStart(code, layout, records, rankGroups, scratch);
    if (layout.ofGrid) code.get(begins).if(start);
    else start();
    code.i32(0).set(parts);
    code.block((done) => {
      code.loop((again) => {
        writeRound();
        code.get(running).op('i32.eqz').brIf(done);
        code
          .get(progress)
          .i32(outcomes.progressed)
          .op('i32.and')
          .if(() => {
            if (layout.ofGrid) code.i32(1).set(wentOn);
            if (!yields) {
              code.i32(0).set(parts).br(again);
              return;
            }
            code.i32(0).set(rests);
            code.get(rounds).i32(1).op('i32.add').tee(rounds);
            code
              .i32(roundsTogether - 1)
              .op('i32.and', 'i32.eqz')
              .set(parts)
              .br(again);
          });
        if (yields) {
          code.get(progress).if(() => {
            code.get(rests).i32(1).op('i32.add').tee(rests);
            code
              .i32(roundsTogether - 1)
              .op('i32.and', 'i32.eqz')
              .if(writeRest);
            code.i32(1).set(parts).br(again);
          });
        }
        code
          .get(parts)
          .op('i32.eqz')
          .if(() => code.i32(1).set(parts).br(again));
        if (layout.ofGrid) {
          code.i32(outcomesOfBlock.waits).i32(outcomesOfBlock.stuck).get(wentOn).op('select', 'return');
          return;
        }
        code.get(record).get(arena).get(block).call(report).i32(1).op('return');
      });
    });
  };

  if (layout.ofGrid) {
    const advance = code.capture(writeBlock);
    launch.writeLaunchPrologue();
    code.append(advance);
    code.i32(outcomesOfBlock.finished);
    unit.module.function('advance', code, ['i32', 'i32', 'i32', 'i32'], ['i32'], { exported: true });
    return;
  }
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

/** A block begins: nobody has met anybody, and each rank group is one cohort. */
function writeStart(
  code: Code,
  { counts, members, cohortCount }: StatesLayout,
  records: { readonly offset: number; readonly bytes: number },
  rankGroups: readonly ScheduledRankGroup[],
  scratch: number,
): void {
  if (counts.bytes > 0) {
    code.get(scratch).i32(counts.offset).op('i32.add').i32(0).i32(counts.bytes).memoryFill();
  }
  code.get(scratch).i32(records.offset).op('i32.add').i32(0);
  code.i32(rankGroups.length * records.bytes).memoryFill();
  code.get(scratch).i32(rankGroups.length).memory('i32.store', cohortCount);
  let first = members;
  rankGroups.forEach(({ unit }, rankGroup) => {
    const count = unit.blockSize;
    const record = records.offset + rankGroup * records.bytes;
    const set = (field: number, push: () => void) => {
      code.get(scratch);
      push();
      code.memory('i32.store', record + field);
    };
    set(cohortFields.rankGroup, () => void code.i32(rankGroup));
    set(cohortFields.count, () => void code.i32(count));
    set(cohortFields.members, () => void code.get(scratch).i32(first).op('i32.add'));
    code.withTemporary('i32', (rank) => {
      code.i32(0).set(rank);
      code.loop((next) => {
        code.get(rank).i32(2).op('i32.shl').get(scratch).op('i32.add');
        code.get(rank).memory('i32.store', first);
        code.get(rank).i32(1).op('i32.add').tee(rank).i32(count).op('i32.lt_u').brIf(next);
      });
    });
    first += 4 * count;
  });
}
