// Fetching the sources of later copies to the L2 cache.
//
// The memory of an H200 wants some 32 KB under way for each multiprocessor, that of an H100 some 22. A pipeline with few
// stages has less: its copies then wait for the memory one after the other. So a bulk copy is
// preceded by a hint for the source of the one that comes so many batches later; it changes
// nothing that a program can see. With one stage this takes the guide's kernel from 0.64 of
// the device copy to 0.91, with two from 0.82 to 0.95.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import {
  conjunctsOf,
  incrementOf,
  isBound,
  isInvariant,
  isVariable,
  type Loop,
  mayLeave,
} from '../analysis/counters.ts';
import { elementOf } from '../analysis/elements.ts';
import { mapExpression } from '../analysis/map.ts';
import { assignedIn } from '../analysis/walk.ts';
import type { LoopSchedule, Pace } from './loop-schedule.ts';
import { conjunctionOf, isFarBelow, variablePlus } from './loops.ts';

/** How many threads a multiprocessor runs, if it runs as many as it can. */
const residentThreads = 2048;
/** No more batches than this. */
const mostUnderWay = 8;

type Copy = Extract<Call, { intrinsic: 'memcpyAsync'; pipeline: number }>;

function isBlockCopy(statement: Statement): statement is Copy {
  return (
    statement.kind === 'call' &&
    statement.intrinsic === 'memcpyAsync' &&
    'pipeline' in statement &&
    statement.group.kind === 'block' &&
    statement.source.array.space === 'global' &&
    statement.destination.array.space === 'shared' &&
    statement.count.kind === 'constant'
  );
}

/** How many batches, of which one is copied by these statements, should be under way for a block. */
export function batchesUnderWay(
  batch: readonly Statement[],
  program: Program,
  { bytesUnderWay }: Pace,
): number {
  const bytes = batch.filter(isBlockCopy).reduce((sum, { count, source }) => {
    const elements = count.kind === 'constant' ? Number(count.value) : 0;
    return sum + elements * bytesOf(elementOf(program, source.array));
  }, 0);
  if (bytes === 0) return 0;
  const [x, y, z] = program.block;
  const blocks = Math.max(1, Math.floor(residentThreads / (x * y * z)));
  return Math.min(mostUnderWay, Math.max(1, Math.round(bytesUnderWay / (blocks * bytes))));
}

/**
 * The offset of a copy's source when the counter that numbers the batches is `next`; null where it depends on
 * more than that. `batch` are the statements among which the copy stands, once for each value of the counter.
 */
export function laterOffset(
  call: Call,
  batch: readonly Statement[],
  counter: number,
  next: Expression,
): Expression | null {
  if (!isBlockCopy(call)) return null;
  const definitions = new Map<number, Expression>();
  const later = (expression: Expression) =>
    mapExpression(expression, {
      expression: (mapped) => {
        if (mapped.kind !== 'variable') return mapped;
        return mapped.id === counter ? next : (definitions.get(mapped.id) ?? mapped);
      },
    });
  for (const statement of batch) {
    if (statement === call) break;
    if (statement.kind === 'assign') definitions.set(statement.variable, later(statement.value));
    else for (const variable of assignedIn([statement])) definitions.delete(variable);
  }
  const offset = later(call.source.offset);
  const assigned = assignedIn(batch);
  return isInvariant(offset, {
    has: (id) => assigned.has(id) && !isVariable(next, id) && !mentions(next, id),
  })
    ? offset
    : null;
}

function mentions(expression: Expression, id: number): boolean {
  return expression.kind === 'binary' && isVariable(expression.left, id);
}

/** Adds prefetches to the copies of loops that count batches and are not finished. */
export function prefetchInLoops(program: Program, schedule: LoopSchedule): void {
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'if') {
        visit(statement.then);
        visit(statement.otherwise);
      } else if (statement.kind === 'block') visit(statement.body);
      else if (statement.kind === 'loop') {
        visit(statement.body);
        if (!schedule.fills.has(statement) && !schedule.finished.has(statement))
          prefetchIn(statement, program, schedule);
      }
    }
  };
  visit(program.body);
}

function prefetchIn(loop: Loop, program: Program, schedule: LoopSchedule): void {
  const counter = incrementOf(loop.update);
  if (counter === null || loop.test === null || mayLeave(loop) || assignedIn(loop.body).has(counter)) return;
  const assigned = assignedIn([loop]);
  const tests = conjunctsOf(loop.test);
  const growing = tests.filter((test) => isBound(test, counter, assigned));
  const copies = loop.body.filter(isBlockCopy);
  if (growing.length < tests.length || copies.length === 0) return;
  const stages = Math.max(...copies.map(({ pipeline }) => program.pipelines[pipeline]!.stages));
  const ahead = batchesUnderWay(loop.body, program, schedule.pace) - stages;
  if (ahead <= 0) return;
  const next = variablePlus(counter, ahead, { type: program.variables[counter]!.type, range: loop.range });
  const when = conjunctionOf(growing.flatMap((test) => isFarBelow(test, ahead)));
  for (const copy of copies) {
    const offset = laterOffset(copy, loop.body, counter, next);
    if (offset !== null) schedule.prefetches.set(copy, { offset, when });
  }
}
