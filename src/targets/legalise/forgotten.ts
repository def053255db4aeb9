// Whether copies of a pipeline may be under way when its block comes to the end: stages that are committed and that
// nothing waits for, or copies that are not committed. A kernel that leaves a loop early may do that, or one that forgot.
//
// Counted is along the text: what is under way behind a statement follows from what was before it, or is not known. A loop
// leaves what it found, or nothing is known. What loops do in step is said by lockstep.ts.

import type { Statement } from '../../compiler/ir.ts';
import { isTimedWait } from '../../compiler/ir-pipelines.ts';
import { anyStatement } from '../analysis/walk.ts';
import { isVerbOf, stageStepOf, type Verb } from './verbs.ts';

/** What is under way of a pipeline. */
interface UnderWay {
  readonly stages: number;
  /** Whether something was copied that is not committed. */
  readonly isOpen: boolean;
}

/** Whether copies of a pipeline may be under way at the end of a program. */
export function mayBeForgotten(body: readonly Statement[], pipeline: number): boolean {
  const isVerb = isVerbOf(pipeline);
  const nothing: UnderWay = { stages: 0, isOpen: false };
  const after = (list: readonly Statement[], before: UnderWay): UnderWay | null =>
    list.reduce<UnderWay | null>((state, statement) => state && afterOne(statement, state), before);
  const afterOne = (statement: Statement, before: UnderWay): UnderWay | null => {
    if (isVerb(statement)) return afterVerb(statement, before);
    if (!anyStatement([statement], isVerb)) return anyStatement([statement], jumps) ? null : before;
    switch (statement.kind) {
      case 'if': {
        const [then, otherwise] = [after(statement.then, before), after(statement.otherwise, before)];
        return isSame(then, otherwise) ? then : null;
      }
      case 'loop': {
        const turn = [...statement.body, ...statement.update];
        const back = after(turn, before);
        return isSame(back, before) ? before : null;
      }
      default:
        return null;
    }
  };
  const end = after(body, nothing);
  return end === null || end.stages > 0 || end.isOpen;
}

function afterVerb(verb: Verb, before: UnderWay): UnderWay | null {
  if ('prior' in verb) return { ...before, stages: Math.min(before.stages, verb.prior) };
  switch (stageStepOf(verb)) {
    case 'copy':
      return { ...before, isOpen: true };
    case 'commit':
      return { stages: before.stages + 1, isOpen: false };
    case 'wait':
      return before.stages > 0 && !isTimedWait(verb) ? { ...before, stages: before.stages - 1 } : null;
    case 'acquire':
    case 'release':
      return before;
    default:
      return verb.intrinsic === 'quit' ? before : null;
  }
}

function isSame(one: UnderWay | null, other: UnderWay | null): boolean {
  return one !== null && other !== null && one.stages === other.stages && one.isOpen === other.isOpen;
}

/** Goes on elsewhere than behind it. Where the copy engine copies, threads return only where nothing is under way (lowering.ts). */
function jumps({ kind }: Statement): boolean {
  return kind === 'break' || kind === 'continue';
}
