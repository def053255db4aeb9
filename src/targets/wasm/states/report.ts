// `report(record, arena, block)`: tells the host where each thread of a block waits, and that
// nobody can go on.

import type { CountCall, Head, Segment } from '../../../compiler/ir-cohorts.ts';
import { Code, type FunctionReference, type Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { LaunchValues } from '../launch-values.ts';
import type { Frame, ThreadContext } from '../thread-context.ts';
import { valueBytes } from '../types.ts';
import type { Unit } from '../unit.ts';
import type { Variables } from '../variables.ts';
import { Cohort } from './cohort.ts';
import { cohortFields, type StatesLayout } from './layout.ts';
import type { CohortState } from './writer.ts';

/** Where values of variables lie that each thread has for itself. */
type Spilled = Pick<Variables, 'scratch'>;

interface ReportedRankGroup {
  readonly unit: Unit;
  readonly segments: readonly Segment[];
  readonly variables: Spilled;
}

export function addReport(
  layout: StatesLayout,
  records: { readonly offset: number; readonly bytes: number },
  rankGroups: readonly ReportedRankGroup[],
): FunctionReference {
  const whole = layout.unit;
  const parameters = ['record', 'arena', 'block'] as const;
  const code = new Code(parameters.map((name) => ({ name, type: 'i32' })));
  const [record, arena, block] = [0, 1, 2];
  const launch = new LaunchValues(whole, code, { record, arena, block });
  const current = code.local('i32', 'cohort');
  const left = code.local('i32', 'left');
  const cohorts = rankGroups.map(({ unit }) => new Cohort(unit, code, current));
  const scratch = launch.scratch();
  const writeThreads = (
    { unit, variables: spilled }: ReportedRankGroup,
    cohort: Cohort,
    { wait: call, yieldedAt, loads }: Head,
    number: number,
  ) => {
    if (call === null && yieldedAt === undefined) return;
    cohort.pushField(cohortFields.segment);
    code
      .i32(number)
      .op('i32.eq')
      .if(() => {
        cohort.forEachThread((rank) => {
          const state = { unit, code, launch, layout, cohort };
          if (call === null) {
            code.i32(unit.sleepSite(yieldedAt!)).get(rank).call(unit.host('fault', 'sleeps'));
            return;
          }
          writeCountWait(state, spilled, { call, loads }, rank);
        });
      });
  };
  const body = code.capture(() => {
    code.get(scratch).i32(records.offset).op('i32.add').set(current);
    code.get(scratch).memory('i32.load', layout.cohortCount).set(left);
    code.loop((next) => {
      rankGroups.forEach((group, rankGroup) => {
        const cohort = cohorts[rankGroup]!;
        cohort.pushField(cohortFields.rankGroup);
        code
          .i32(rankGroup)
          .op('i32.eq')
          .if(() => {
            cohort.writeMembers();
            for (const [number, { head }] of group.segments.entries()) {
              if (head !== null) writeThreads(group, cohort, head, number);
            }
          });
      });
      code.get(current).i32(records.bytes).op('i32.add').set(current);
      code.get(left).i32(1).op('i32.sub').tee(left).brIf(next);
    });
    code.get(block).call(whole.host('fault', 'stuck'));
  });
  launch.writeLaunchPrologue();
  code.append(body);
  return whole.module.function(
    'report',
    code,
    parameters.map(() => 'i32'),
    [],
    layout.ofGrid ? { exported: true } : {},
  );
}

/** Reports a thread that waits for words: what it tests is in its cohort's record. */
function writeCountWait(
  { unit, code, launch, layout, cohort }: CohortState,
  spilled: Spilled,
  { call: { operation, range }, loads }: { readonly call: CountCall; readonly loads: readonly number[] },
  rank: Local,
): void {
  const nowhere = () => {
    throw new Error('what a thread waits for is found without an effect');
  };
  const frame: Frame = {
    readVariable: (id) => {
      const type = unit.wasmTypeOfVariable(id);
      if (!loads.includes(id)) {
        cohort.pushValue(layout.value(id), type);
        return;
      }
      const bytes = valueBytes(unit.program.variables[id]!.type);
      code.get(rank).i32(Math.log2(bytes)).op('i32.shl').get(launch.scratch()).op('i32.add');
      code.memory(`${type}.load`, spilled.scratch(id));
    },
    writeVariable: nowhere,
    pushRank: () => void code.get(rank),
    cached: () => null,
    finish: nowhere,
    // A group has a producer and a consumer.
    fail: () => void code.op('unreachable'),
    collective: nowhere,
  };
  const context: ThreadContext = { unit, code, launch, frame, labels: new Map() };
  const { place, phase, arrived, expected, left, waiting } = operation;
  const hasPhase = waiting.barrier !== undefined && waiting.verb === 'wait';
  code.i32(unit.waitSite(range, waiting)).get(rank);
  for (const each of [place, ...(hasPhase ? [phase] : []), arrived, expected, left])
    pushExpression(context, each);
  code.call(unit.host('fault', hasPhase ? 'waitsAtBarrier' : 'waits'));
}
