// A program brought down to what a GPU has: mbarriers, copies of chunks and of the copy engine, fences.
//
// Pipelines, barriers and their copies are gone afterwards; syncs of groups, lanes of warps and
// atomic operations stay. A target prints what is left, operation by operation, and decides nothing
// about synchronisation. The interpreter executes it too.

import type { Call, Program, Statement } from '../../compiler/ir.ts';
import { BarrierLegaliser, isOfBarrier } from './barriers.ts';
import { returnsAmongCopies } from './calls.ts';
import { inOneElection } from './copier.ts';
import { CopyLegaliser } from './copies.ts';
import type { Decisions } from './decisions.ts';
import { Frame } from './frame.ts';
import { leavesCopies } from './left-copies.ts';
import { Meetings } from './meetings.ts';
import { PipelineLegaliser } from './pipelines.ts';
import { calmAround } from './surroundings.ts';

/** Lowers a program; what the decisions say of its statements counts for those of `program` itself. */
export function legaliseForGpu(program: Program, decisions: Decisions): Program {
  const frame = new Frame(program);
  const copies = new CopyLegaliser(program, decisions.alignments);
  const barriers = new BarrierLegaliser(frame, decisions, copies, () => meetings);
  const isBulk = (call: Call): boolean => {
    if (call.intrinsic !== 'memcpyAsync') return false;
    return isOfBarrier(call) ? barriers.isBulk(call) : decisions.lowerings[call.pipeline] === 'bulk';
  };
  const calm = calmAround(program, decisions, isBulk);
  const meetings = new Meetings(program, isBulk, calm, decisions.isApart);
  const pipelines = new PipelineLegaliser(frame, decisions, copies, meetings, calm);
  // A thread that ends leaves no chunk copy of its own behind: the memory may be another block's by then.
  const finishesCopies = returnsAmongCopies(program.body);

  // In rounds of turns one election in place of two cost a checked kernel a fifth of its speed, elsewhere it gains.
  const lower = (list: readonly Statement[], inRound = false): Statement[] => {
    const all = list.flatMap(lowerOne);
    return inRound ? all : inOneElection(all);
  };
  const lowerOne = (statement: Statement): Statement[] => {
    const words = frame.words(statement.range);
    switch (statement.kind) {
      case 'if': {
        const otherwise =
          statement.otherwise.length > 0
            ? lower(statement.otherwise)
            : pipelines.insteadOfRefill(statement, words);
        return [{ ...statement, then: lower(statement.then), otherwise }];
      }
      case 'loop': {
        const loop = {
          ...statement,
          body: lower(statement.body, decisions.schedule.rounds.has(statement)),
          update: lower(statement.update),
        };
        return [loop, ...pipelines.afterFill(statement, words)];
      }
      case 'block':
        return [{ ...statement, body: lower(statement.body) }];
      case 'return':
        return finishesCopies ? [words.core({ kind: 'copyWaitAll' }), statement] : [statement];
      case 'call':
        break;
      default:
        return [statement];
    }
    if (isOfBarrier(statement)) return barriers.lower(statement, words);
    if ('pipeline' in statement) return pipelines.lower(statement, words);
    if (statement.intrinsic !== 'sync' || statement.group.kind !== 'block') return [statement];
    return meetings.syncOfCall(statement, words);
  };

  const body = lower(program.body);
  const end = [
    ...(leavesCopies(body) ? [frame.words().core({ kind: 'copyWaitAll' })] : []),
    ...pipelines.end(),
  ];
  return frame.finish([...pipelines.begin(), ...body, ...end]);
}
