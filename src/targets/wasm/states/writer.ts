// What the code that runs a cohort is written with.

import type { Code } from '../encoder/code.ts';
import type { LaunchValues } from '../launch-values.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import type { Variables } from '../variables.ts';
import type { Cohort } from './cohort.ts';
import type { StatesLayout } from './layout.ts';
import type { Meetings } from './meetings.ts';

/** A function that looks at a cohort. */
export interface CohortState {
  readonly unit: Unit;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly layout: StatesLayout;
  readonly cohort: Cohort;
}

/** The function that runs one. */
export interface CohortWriter extends CohortState {
  readonly meetings: Meetings;
  readonly variables: Variables;
  /** What all threads do alike; it names the first one where it fails. */
  readonly uniform: ThreadContext;
}
