// The second way to run a block: for threads that meet where not all of them come, or that wait
// for one another in turns.
//
// Threads run in cohorts: sets that came the same way, and so stand at the same place with the same
// cursors. What a cohort does and where it parts, the program says (compiler/ir-cohorts.ts). Its segments become
// one resumable state machine (resume.ts): it runs until the cohort must wait; then the scheduler (schedule.ts)
// resumes another. At worst each thread is a cohort of its own. So this is right for every program, and fast
// where threads wait in company.

import type { Program } from '../../../compiler/ir.ts';
import { factsOf } from '../../analysis/facts.ts';
import { Unit } from '../unit.ts';
import type { UnitOptions } from '../whole.ts';
import { CohortSplit } from './cohort-split.ts';
import { StatesLayout } from './layout.ts';
import { addReport } from './report.ts';
import { addResume } from './resume.ts';
import { addSchedule } from './schedule.ts';

/** Writes the module of a program with the way of its cohorts; returns whether any of it is run in lanes. */
export function writeStates(
  program: Program,
  options: UnitOptions = {},
): { readonly unit: Unit; readonly vectorised: boolean } {
  const ways = program.cohorts!;
  const whole = Unit.ofWhole(ways.length === 1 ? ways[0]!.program : program, options);
  const layout = new StatesLayout(whole);
  const cohortSplit = new CohortSplit(whole.module, layout);
  const written = ways.map(({ ranks, program: own, segments }) => {
    const unit = ways.length === 1 ? whole : whole.ofRankGroup(ranks, own);
    return {
      unit,
      segments,
      ...addResume({ unit, layout, cohortSplit, facts: factsOf(own).cohort, segments }),
    };
  });
  const records = layout.reserveCohorts();
  cohortSplit.write(records);
  addSchedule(layout, records, written, addReport(layout, records, written));
  return { unit: whole, vectorised: written.some(({ vectorised }) => vectorised) };
}
