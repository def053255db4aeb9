// Whether chunk copies of a thread may be under way when it comes to the end of a lowered program.
//
// A correct kernel has waited for all that it copied; where that does not follow from the text, as behind a loop that
// keeps some stages ahead, one that forgot its last waits looks the same.

import type { Statement } from '../../compiler/ir.ts';
import { constantOf } from '../analysis/elements.ts';
import { anyStatement } from '../analysis/walk.ts';

/** What a thread has under way: nothing, whole groups, or copies that are in no group. */
const underWay = { nothing: 0, groups: 1, copies: 2 } as const;
type UnderWay = (typeof underWay)[keyof typeof underWay];

export function leavesCopies(body: readonly Statement[]): boolean {
  return after(body, underWay.nothing) !== underWay.nothing;
}

function after(list: readonly Statement[], before: UnderWay): UnderWay {
  return list.reduce(afterOne, before);
}

function afterOne(before: UnderWay, statement: Statement): UnderWay {
  switch (statement.kind) {
    case 'if':
      return more(after(statement.then, before), after(statement.otherwise, before));
    case 'loop':
    case 'block': {
      // Some way through it may leave it anywhere.
      const copies = anyStatement([statement], (each) => isCore(each, 'copyChunks'));
      return copies ? underWay.copies : before;
    }
    case 'call':
      if (isCore(statement, 'copyChunks')) return underWay.copies;
      if (isCore(statement, 'copyWaitAll')) return underWay.nothing;
      if (isCore(statement, 'copyCommit')) return before === underWay.nothing ? before : underWay.groups;
      if (statement.intrinsic !== 'core' || statement.operation.kind !== 'copyWait') return before;
      return before === underWay.groups && constantOf(statement.operation.allBut) === 0
        ? underWay.nothing
        : before;
    default:
      return before;
  }
}

function more(one: UnderWay, other: UnderWay): UnderWay {
  return one > other ? one : other;
}

function isCore(statement: Statement, kind: string): boolean {
  return statement.kind === 'call' && statement.intrinsic === 'core' && statement.operation.kind === kind;
}
