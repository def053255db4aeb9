// What is known of pipelines while loops keep them full.
//
// The loop that computes batch c holds the batches up to c + S - 1 in flight; each of its turns
// consumes one and commits one more. So the distance from a pipeline's tail to its head is a
// constant at each call, and the writer of pipelines need not count at run time. Towards the end,
// where nothing is left to commit, the distance is that to where the head would be.

import type { Call, Expression, Statement } from '../../compiler/ir.ts';
import { mapStatements } from '../analysis/map.ts';
import { forEachStatement } from '../analysis/walk.ts';

/** What loops over batches are made for. */
export interface Pace {
  /** Bytes that should be on their way to a multiprocessor at any time: its share of the memory's speed, times a latency. */
  readonly bytesUnderWay: number;
  /** Turns of a round without a test between them, at most (lockstep.ts). */
  readonly roundTurns: number;
  /** Whether the GPU fetches to its L2 cache what it is told to, and all threads of a warp are there to tell it. */
  readonly hints: boolean;
}

export const defaultPace: Pace = { bytesUnderWay: 32 * 1024, roundTurns: 8, hints: true };

export interface LoopSchedule {
  readonly pace: Pace;
  /** How many stages lie between the tail and the head of the call's pipeline there. */
  readonly distance: Map<Call, number>;
  /** Loops that fill pipelines before the steady state begins, and to how many stages. */
  readonly fills: Map<Statement, Filling>;
  /** Statements that commit one more stage of these pipelines where data is left, and otherwise nothing. */
  readonly refills: Map<Statement, readonly number[]>;
  /** Loops whose turns are as they should be. */
  readonly finished: Set<Statement>;
  /** Loops of rounds, which are turns without a test between them. */
  readonly rounds: Set<Statement>;
  /** Pipelines that the program has waited for by its end (forgotten.ts, lockstep.ts). */
  readonly settled: Set<number>;
  /** Acquires of stages that are known to be free, and the copies and commits that belong to them. */
  readonly released: Set<Call>;
  /** Copies whose successors' sources are worth fetching to the L2 cache. */
  readonly prefetches: Map<Call, Prefetch>;
}

export interface Filling {
  readonly pipelines: readonly number[];
  readonly stages: number;
}

/** The source of a copy some batches later: its offset, and whether there is such a batch (null: there is). */
export interface Prefetch {
  readonly offset: Expression;
  readonly when: Expression | null;
}

export function newLoopSchedule(pace: Pace = defaultPace): LoopSchedule {
  return {
    pace,
    distance: new Map(),
    fills: new Map(),
    refills: new Map(),
    finished: new Set(),
    rounds: new Set(),
    settled: new Set(),
    released: new Set(),
    prefetches: new Map(),
  };
}

/** Hands out labels that a program does not have. */
export function newLabels(body: readonly Statement[]): () => number {
  let last = 0;
  forEachStatement(body, (statement) => {
    if (statement.kind === 'loop' || statement.kind === 'block') last = Math.max(last, statement.label);
  });
  return () => ++last;
}

/** Copies statements, each of which may stand at one place only, with what is known of them and labels of their own. */
export function copyStatements(
  statements: readonly Statement[],
  schedule: LoopSchedule,
  newLabel: () => number,
): readonly Statement[] {
  const labels = new Map<number, number>();
  forEachStatement(statements, (statement) => {
    if (statement.kind === 'loop' || statement.kind === 'block') labels.set(statement.label, newLabel());
  });
  const carry = <K, V>(map: Map<K, V>, original: K, copy: K) => {
    const value = map.get(original);
    if (value !== undefined) map.set(copy, value);
  };
  return mapStatements(statements, {
    expression: (expression) => expression,
    statement: (mapped, original) => {
      const copy =
        'label' in mapped ? { ...mapped, label: labels.get(mapped.label) ?? mapped.label } : { ...mapped };
      carry(schedule.refills, original, copy);
      if (original.kind === 'call' && copy.kind === 'call') {
        carry(schedule.distance, original, copy);
        carry(schedule.prefetches, original, copy);
      }
      return copy;
    },
  });
}
