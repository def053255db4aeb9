// The second way to run a block: for threads that meet where not all of them come, or that wait
// for one another in turns.
//
// Threads run in cohorts (facts.ts): sets that came the same way, and so stand at the same place
// with the same cursors. A cohort is one resumable state machine (flow.ts, resume.ts): it runs, region
// by region, all of its threads, until they must wait; then the scheduler (schedule.ts) resumes another.
// Where threads part, the cohort splits; at worst each thread is a cohort of its own. Threads that
// are known to diverge by their ranks start as rank groups (rank-groups.ts), each with a program of its own. So this
// is right for every program, and fast where threads wait in company.

import type { Program } from '../../../compiler/ir.ts';
import { splitInRows } from '../../legalise/cpu/lower.ts';
import { Unit } from '../unit.ts';
import { CohortSplit } from './cohort-split.ts';
import { CohortFacts } from './facts.ts';
import { flowOf } from './flow.ts';
import { StatesLayout } from './layout.ts';
import { Meetings } from './meetings.ts';
import { programOf, rankGroupsOf } from './rank-groups.ts';
import { addReport } from './report.ts';
import { addResume } from './resume.ts';
import { addSchedule } from './schedule.ts';

/** Writes the module of a program; returns whether any of it is run in lanes. */
export function writeStates(program: Program): { readonly unit: Unit; readonly vectorised: boolean } {
  const rankGroups = rankGroupsOf(program);
  const [only] = rankGroups.length === 1 ? rankGroups : [];
  const whole = new Unit(only === undefined ? program : splitInRows(program));
  const units =
    only === undefined
      ? rankGroups.map((rankGroup) =>
          whole.ofRankGroup(rankGroup, splitInRows(programOf(program, rankGroup))),
        )
      : [whole];
  const layout = new StatesLayout(whole);
  const cohortSplit = new CohortSplit(whole.module, layout);
  const meetings = new Meetings(whole.module);
  const written = units.map((unit) => {
    const facts = new CohortFacts(unit.program);
    const segments = flowOf(unit.program, facts);
    return {
      unit,
      segments,
      ...addResume({ unit, layout, cohortSplit, meetings, facts, segments }),
    };
  });
  const records = layout.reserveCohorts();
  cohortSplit.write(records);
  addSchedule(layout, records, written, addReport(layout, records, written));
  return { unit: whole, vectorised: written.some(({ vectorised }) => vectorised) };
}
