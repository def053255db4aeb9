// The steady state of a loop whose two counters keep the same distance.
//
// Where c and f of rotate.ts start together and the capacity is a constant S, f is c + S - 1 wherever
// one more batch is fetched. Then f is not kept at all, the test of the capacity goes, and how far
// the pipeline's head is from its tail is known at each call. As long as 2S batches are left, whole
// rounds of S turns need no test between them:
//
//   for (; c < n - 2S + 1; )  S times: { use c; ++c; fetch c + S - 1; }
//
// In a round the stage of each batch is a constant, and with it every address of shared memory and
// of a barrier. A light kernel on an H200 issues 38 instructions a batch and warp without this, 10 with it.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { isFloat } from '../../compiler/number-types.ts';
import {
  type Comparison,
  conjunctsOf,
  isBound,
  isVariable,
  type Loop,
  mayLeave,
} from '../analysis/counters.ts';
import { isSame } from '../analysis/expression-key.ts';
import { mapStatements } from '../analysis/map.ts';
import { assignedIn, countStatements, forEachExpression } from '../analysis/walk.ts';
import type { Lowering } from './decisions.ts';
import { copyStatements } from './loop-schedule.ts';
import { conjunctionOf, isFarBelow, variablePlus } from './loops.ts';
import { batchesUnderWay, laterOffset } from './prefetch.ts';
import type { Counters, Surroundings } from './rotate.ts';
import { usesStageEachTurn, type Verb } from './verbs.ts';

/** A round may have so many statements. */
const mostStatements = 160;

export interface Lockstep {
  /** The loop that fetches the first batches. */
  readonly first: Loop;
  /** Fetches one batch more, where there is one. */
  readonly refill: Statement;
  /** The loop of whole rounds, if there is one. */
  readonly rounds: readonly Statement[];
}

/** The parts of a rotated loop whose counters keep their distance; null where that is not known. */
export function stepTogether(
  outer: Loop,
  fill: Loop,
  { used, filled, bounds, capacities }: Counters,
  before: readonly Statement[],
  around: Surroundings,
): Lockstep | null {
  const { program, schedule, repeated } = around;
  const [capacity, another] = capacities;
  if (capacity?.kind !== 'constant' || another !== undefined || repeated) return null;
  const stages = Number(capacity.value);
  const start = startOf(used, before);
  if (isFloat(program.variables[used]!.type)) return null;
  if (start === null || start < 0 || start !== startOf(filled, before) || stages < 1) return null;
  if (readsOf(filled, program.body) !== readsOf(filled, [fill])) return null;

  const pipelines = [...program.pipelines.keys()].filter((pipeline) =>
    usesStageEachTurn(outer, fill, pipeline, program),
  );
  const below = (bound: Comparison): Comparison => ({ ...bound, left: variablePlus(used, 0, capacity) });
  const tests = conjunctsOf(outer.test!);
  const settles =
    !mayLeave(outer) && tests.every((test) => bounds.some((bound) => isSame(test, below(bound))));
  // Elsewhere the end of the block waits for what may be left, so the head has to be counted.
  const isBulk = pipelines.some((pipeline) => around.lowerings[pipeline] === 'bulk');
  if (isBulk && !settles) return null;
  if (settles) for (const pipeline of pipelines) schedule.settled.add(pipeline);

  const flow = flowOf(fill, stages, pipelines, around);
  const { inFlight } = flow;
  for (const statement of outer.body) {
    if (isCallOf(statement, pipelines)) schedule.distance.set(statement, inFlight);
  }
  const assigned = assignedIn([outer]);
  const growing = tests.filter((test) => isBound(test, used, assigned));
  const isTested = (bound: Comparison) => tests.some((test) => isSame(test, below(bound)));
  /** That there is the batch so far from the one that is used, for which the loop's test has held. */
  const isThere = (bound: Comparison, distance: number) => [
    ...(isTested(bound) ? [] : [below(bound)]),
    ...isFarBelow(below(bound), distance),
  ];
  /** The filling statements for the batch that is fetched after `used` has grown; null: not in a round. */
  const fetch = (turn: number | null): readonly Statement[] =>
    mapStatements(fill.body, {
      expression: (mapped) =>
        isVariable(mapped, filled) ? variablePlus(used, inFlight - 1, capacity) : mapped,
      statement: (mapped, original) => {
        const copy = { ...mapped };
        if (isCallOf(copy, pipelines)) schedule.distance.set(copy, inFlight - 1);
        if (original.kind !== 'call' || copy.kind !== 'call') return copy;
        if (turn !== null && turn % flow.turnsPerBarrier !== 0) schedule.released.add(copy);
        // Where rounds run, what is left for single turns is too little to look ahead.
        if (flow.ahead > 0 && (turn !== null || !inRounds)) {
          const next = variablePlus(used, inFlight - 1 + flow.ahead, capacity);
          const offset = laterOffset(original, fill.body, filled, next);
          const far = bounds.flatMap((bound) => isThere(bound, inFlight - 1 + flow.ahead));
          const when = turn === null ? conjunctionOf(far) : null;
          if (offset !== null) schedule.prefetches.set(copy, { offset, when });
        }
        return copy;
      },
    });

  const { range } = fill;
  const [, ...use] = outer.body;
  const inRounds =
    growing.length === tests.length &&
    !mayLeave(outer) &&
    stages <= schedule.pace.roundTurns &&
    countStatements([...use, ...fill.body]) * stages <= mostStatements;
  const always: Expression = { kind: 'constant', type: 'bool', value: true, range };
  const refill: Statement = {
    kind: 'if',
    test: conjunctionOf(bounds.flatMap((bound) => isThere(bound, inFlight - 1))) ?? always,
    then: fetch(null),
    otherwise: [],
    range,
  };
  // As many batches as are to be in flight are fetched first.
  const first: Loop = {
    ...fill,
    test: conjunctionOf([
      ...bounds,
      {
        kind: 'compare',
        type: 'bool',
        operator: 'less',
        left: variablePlus(filled, 0, capacity),
        right: variablePlus(used, inFlight, capacity),
        range,
      },
    ]),
  };
  schedule.fills.set(first, { pipelines, stages: inFlight });
  schedule.refills.set(refill, pipelines);

  if (!inRounds) return { first, refill, rounds: [] };

  const turns = Array.from({ length: stages }, (_, turn) => [
    ...copyStatements([...use, ...outer.update], schedule, around.newLabel),
    ...fetch(turn),
  ]);
  const last = stages + inFlight - 1 + flow.ahead;
  const rounds: Statement = {
    kind: 'loop',
    label: around.newLabel(),
    test: conjunctionOf(
      [...growing, ...bounds.filter((bound) => !isTested(bound))].flatMap((bound) => isThere(bound, last)),
    ),
    testFirst: true,
    body: turns.flat(),
    update: [],
    range: outer.range,
  };
  schedule.finished.add(rounds);
  schedule.rounds.add(rounds);
  return { first, refill, rounds: [rounds] };
}

/** How data comes in while the loop runs. */
interface Flow {
  /** Batches that copies are under way or done for. */
  readonly inFlight: number;
  /** Batches beyond those that are fetched to the L2 cache. */
  readonly ahead: number;
  /** After a barrier of the block, that many turns need no other. */
  readonly turnsPerBarrier: number;
}

/**
 * Copies through the copy engine may be issued later than the program says: nobody writes what they
 * read. Half of what should be under way goes to shared memory, the other half to the L2 cache. A stage
 * that is filled later was released some turns ago, so the barrier that says so need not be new, if it has
 * nothing else to order: S stages with F in flight leave S - F + 1 turns between a release and the copy.
 */
function flowOf(
  fill: Loop,
  stages: number,
  pipelines: readonly number[],
  { program, schedule, lowerings, onlyCopiesMeet }: Surroundings,
): Flow {
  const areAll = (lowering: Lowering) =>
    pipelines.length > 0 && pipelines.every((pipeline) => lowerings[pipeline] === lowering);
  const wanted = batchesUnderWay(fill.body, program, schedule.pace);
  if (!areAll('bulk') || !mayBeLate(fill, pipelines, program)) {
    const ahead = schedule.pace.hints && areAll('groups') ? Math.max(0, wanted - stages) : 0;
    return { inFlight: stages, ahead, turnsPerBarrier: 1 };
  }
  const inFlight = Math.min(stages, Math.max(2, Math.ceil(wanted / 2)));
  let turnsPerBarrier = 1;
  while (
    onlyCopiesMeet() &&
    2 * turnsPerBarrier <= stages - inFlight + 1 &&
    stages % (2 * turnsPerBarrier) === 0
  )
    turnsPerBarrier *= 2;
  return { inFlight, ahead: Math.max(0, wanted - inFlight), turnsPerBarrier };
}

/** Whether it makes no difference to a program, but for time, if a batch is fetched some turns later. */
function mayBeLate(fill: Loop, pipelines: readonly number[], program: Program): boolean {
  let late = fill.body.every((statement) => statement.kind === 'assign' || isCallOf(statement, pipelines));
  // What it reads in memory may have been written by then.
  forEachExpression(fill.body, ({ kind }) => {
    late &&= kind !== 'load';
  });
  for (const variable of assignedIn(fill.body))
    late &&= readsOf(variable, program.body) === readsOf(variable, [fill]);
  return late;
}

function isCallOf(statement: Statement, pipelines: readonly number[]): statement is Verb {
  return statement.kind === 'call' && 'pipeline' in statement && pipelines.includes(statement.pipeline);
}

/** The constant that a variable gets just before a loop; null if that is not seen there. */
export function startOf(variable: number, before: readonly Statement[]): number | null {
  for (const statement of before.toReversed()) {
    if (statement.kind !== 'assign') return null;
    if (statement.variable !== variable) continue;
    return statement.value.kind === 'constant' ? Number(statement.value.value) : null;
  }
  return null;
}

export function readsOf(variable: number, statements: readonly Statement[]): number {
  let reads = 0;
  forEachExpression(statements, (expression) => {
    if (isVariable(expression, variable)) ++reads;
  });
  return reads;
}
