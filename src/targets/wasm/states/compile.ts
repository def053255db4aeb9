// The second way to run a block: for threads that meet where not all of them come, or that wait
// for one another in turns.
//
// Threads run in cohorts (facts.ts): sets that came the same way, and so stand at the same place
// with the same cursors. A cohort is one resumable state machine (flow.ts, resume.ts): it runs, region
// by region, all of its threads, until they must wait; then the scheduler (schedule.ts) resumes another.
// Where threads part, the cohort splits; at worst each thread is a cohort of its own. So this is right
// for every program, and fast where threads wait in company.

import { analyseLiveness } from '../analysis/liveness.ts';
import type { Unit } from '../unit.ts';
import { CohortFacts } from './facts.ts';
import { flowOf } from './flow.ts';
import { StatesLayout } from './layout.ts';
import { Parting } from './parting.ts';
import { addReport } from './report.ts';
import { addResume } from './resume.ts';
import { addSchedule } from './schedule.ts';

/** Adds `run` to the module. */
export function writeStates(unit: Unit): void {
  const { program } = unit;
  const facts = new CohortFacts(program);
  const segments = flowOf(program.body, program.variables.length, facts, analyseLiveness(program.body));
  const layout = new StatesLayout(unit);
  const parting = new Parting(unit.module, layout);
  const resume = addResume(unit, layout, parting, facts, segments);
  const records = layout.reserveCohorts();
  parting.write(records);
  const report = addReport(unit, layout, records, segments);
  addSchedule(unit, layout, records, resume, report);
}
