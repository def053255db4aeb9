// The checker: a list of observers, made anew for each run of a program.

import type { Program } from '../../compiler/ir.ts';
import { combineObservers, type PartialObserver } from '../interpreter/observers.ts';
import type { Observation } from '../interpreter/runner.ts';
import type { Budget } from './budget.ts';
import type { Findings } from './finding.ts';
import { exactArithmetic, IndexArithmetic } from './index-arithmetic.ts';
import { Initialisation } from './initialisation.ts';
import { type OutputKind, Outputs } from './outputs.ts';
import { protocolRules } from './protocol/protocol.ts';
import { Races } from './races.ts';

export interface CheckerSettings {
  /** Parameters whose arrays hold nothing at first. */
  readonly unfilled: ReadonlySet<number>;
  /** How parameters are meant to be written, where it was said. */
  readonly outputs: ReadonlyMap<number, OutputKind>;
  /** Whether to report what is right, but slow or fragile. */
  readonly advice: boolean;
  readonly budget: Budget;
}

/**
 * What observes one run of a program that was lowered for a GPU. What the user's own text may do wrong is
 * the matter of the program as it was written: here only what the lowering may do wrong counts.
 */
export function observeLowered(
  program: Program,
  { unfilled, budget }: Pick<CheckerSettings, 'unfilled' | 'budget'>,
  findings: Findings,
): Observation {
  return {
    observer: combineObservers([
      new Races(program, budget, findings, false),
      new Initialisation(unfilled, budget, findings),
    ]),
  };
}

/** What observes one run of a program, and reports what it finds. */
export function observeRun(
  program: Program,
  { unfilled, outputs, advice, budget }: CheckerSettings,
  findings: Findings,
  others: readonly PartialObserver[] = [],
): Required<Observation> {
  return {
    observer: combineObservers([
      new Races(program, budget, findings, advice),
      new Initialisation(unfilled, budget, findings),
      new Outputs(outputs, budget, findings),
      new IndexArithmetic(findings),
      protocolRules(findings, { advice }),
      ...others,
    ]),
    exact: exactArithmetic(program),
  };
}
