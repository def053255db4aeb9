// The calls that use a pipeline, and the step of a stage's use that each one is.

import type { Call, Program, Statement } from '../../compiler/ir.ts';
import { isStageCall, pipelineVerbs } from '../../compiler/ir-pipelines.ts';
import type { Loop } from '../analysis/counters.ts';
import { forEachStatement } from '../analysis/walk.ts';

export type Verb = Extract<Call, { pipeline: number }>;

/** Whether a statement uses a pipeline: to make it does not, and nor does to quit without asking for the result. */
export function isVerbOf(pipeline: number): (statement: Statement) => statement is Verb {
  return (statement): statement is Verb =>
    statement.kind === 'call' &&
    'pipeline' in statement &&
    statement.pipeline === pipeline &&
    statement.intrinsic !== 'makePipeline' &&
    !(statement.intrinsic === 'quit' && statement.result === null);
}

/** The step that a call is and that it asks nothing beside: so a wait that may time out has none. */
export function stageStepOf(call: Call): 'acquire' | 'copy' | 'commit' | 'wait' | 'release' | null {
  if (isStageCall(call)) return pipelineVerbs[call.intrinsic].step;
  return call.intrinsic === 'memcpyAsync' ? 'copy' : null;
}

/** Whether each turn of `fill` fills a stage, each of the loop around it uses one, and nothing else does either. */
export function usesStageEachTurn(outer: Loop, fill: Loop, pipeline: number, { body }: Program): boolean {
  const isVerb = isVerbOf(pipeline);
  const steps = (statements: readonly Statement[]) => statements.filter(isVerb).map(stageStepOf);
  const filling = steps(fill.body);
  const using = steps(outer.body);
  let uses = 0;
  forEachStatement(body, (statement) => {
    if (isVerb(statement)) ++uses;
  });
  return (
    /^acquire,(copy,)*commit$/.test(filling.join()) &&
    using.join() === 'wait,release' &&
    uses === filling.length + using.length
  );
}
