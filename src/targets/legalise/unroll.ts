// Repeats the body of a loop over batches as often as its pipeline has stages.
//
// Which stage a batch has is a remainder of its number. In a loop of S bodies, where the number
// grows by S a round, the compiler knows every remainder. What lockstep.ts has rotated is so already.

import type { Program, Statement } from '../../compiler/ir.ts';
import type { Loop } from '../analysis/counters.ts';
import { anyStatement, countStatements, forEachExpression, forEachStatement } from '../analysis/walk.ts';
import { copyStatements, type LoopSchedule, newLabels } from './loop-schedule.ts';
import { negation } from './loops.ts';

/** Bodies are repeated so often at most. */
const mostBodies = 8;
/** And to so many statements at most: what overhead a longer body has matters less than its code's size. */
const mostStatements = 96;

/** The program with its small loops over the stages of pipelines repeated. */
export function unrollStages(program: Program, schedule: LoopSchedule): Program {
  const newLabel = newLabels(program.body);
  const list = (statements: readonly Statement[]): readonly Statement[] => statements.map(each);
  const each = (statement: Statement): Statement => {
    // What holds no loop stays the statement that it is, and so does a loop that is as it should be.
    if (!holdsLoop(statement) || schedule.fills.has(statement) || schedule.finished.has(statement))
      return statement;
    switch (statement.kind) {
      case 'if':
        return { ...statement, then: list(statement.then), otherwise: list(statement.otherwise) };
      case 'block':
        return { ...statement, body: list(statement.body) };
      case 'loop':
        if (statement.body.some(holdsLoop)) return { ...statement, body: list(statement.body) };
        return unroll(statement, program, schedule, newLabel);
      default:
        return statement;
    }
  };
  return { ...program, body: list(program.body) };
}

function holdsLoop(statement: Statement): boolean {
  return anyStatement([statement], ({ kind }) => kind === 'loop');
}

function unroll(loop: Loop, program: Program, schedule: LoopSchedule, newLabel: () => number): Statement {
  const bodies = stagesOf(loop, program);
  const turn = [...loop.body, ...loop.update];
  const jumps = anyStatement(turn, ({ kind }) => kind === 'continue' || kind === 'block');
  if (bodies < 2 || countStatements(turn) * bodies > mostStatements || jumps || !loop.testFirst) return loop;

  const { range, label, test } = loop;
  const round: Statement[] = [];
  for (let body = 0; body < bodies; ++body) {
    const turn = [...loop.body, ...(body < bodies - 1 || test === null ? loop.update : [])];
    round.push(...(body === 0 ? turn : copyStatements(turn, schedule, newLabel)));
    if (body === bodies - 1 || test === null) continue;
    round.push({
      kind: 'if',
      test: negation(test),
      then: [{ kind: 'break', label, range }],
      otherwise: [],
      range,
    });
  }
  return {
    ...loop,
    body: round,
    update: test === null ? [] : copyStatements(loop.update, schedule, newLabel),
  };
}

/** The number of stages of the pipelines that a loop uses, where it is a power of two; else 1. */
function stagesOf(loop: Loop, program: Program): number {
  const numbers = new Set<number>();
  let uses = false;
  forEachStatement(loop.body, (statement) => {
    if (statement.kind !== 'call' || !('pipeline' in statement)) return;
    uses = true;
    numbers.add(program.pipelines[statement.pipeline]!.stages);
  });
  if (!uses) return 1;
  // A pipeline of thread scope has no stages of its own: the program counts them.
  forEachExpression(loop.body, (expression) => {
    if (expression.kind !== 'binary' || expression.operator !== 'remainder') return;
    if (expression.right.kind === 'constant') numbers.add(Number(expression.right.value));
  });
  const powers = [...numbers].filter((n) => n <= mostBodies && (n & (n - 1)) === 0);
  return Math.max(1, ...powers);
}
