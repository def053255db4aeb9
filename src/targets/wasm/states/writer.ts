// What the code that runs a cohort is written with.

import type { Code } from '../encoder/code.ts';
import type { LaunchValues } from '../launch-values.ts';
import type { Frame, ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import type { Variables } from '../variables.ts';
import type { Cohort } from './cohort.ts';
import type { StatesLayout } from './layout.ts';

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
  readonly variables: Variables;
  /** What all threads do alike; it names the first one where it fails. */
  readonly uniform: ThreadContext;
}

/** What code is written with that runs for a cohort or for one of its threads; `frame` says where they differ. */
export function contextOf(
  { unit, code, launch, variables }: Pick<CohortWriter, 'unit' | 'code' | 'launch' | 'variables'>,
  frame: Omit<Frame, 'readVariable' | 'writeVariable' | 'fail'>,
): ThreadContext {
  const complete: Frame = {
    ...frame,
    readVariable: (id) => void code.get(variables.local(id)),
    writeVariable: (id, push) => {
      push();
      code.set(variables.local(id));
    },
    fail: () => void code.i32(-1).op('return'),
  };
  return { unit, code, launch, frame: complete, labels: new Map() };
}
