// Takes one synchronising statement of a lowered program away.

import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { listsOf } from '#warpstage/targets/analysis/walk.js';

const removable = new Set([
  'mbarrierInit',
  'mbarrierArrive',
  'mbarrierExpect',
  'mbarrierArriveAfterCopies',
  'mbarrierWait',
  'copyCommit',
  'copyWait',
  'copyWaitAll',
  'proxyFence',
  'fence',
]);

/** What a statement is that synchronises and does nothing else; null for any other. */
export function kindOf(statement: Statement): string | null {
  if (statement.kind !== 'call') return null;
  if (statement.intrinsic === 'sync') return 'sync';
  if (statement.intrinsic !== 'core' || statement.result !== null) return null;
  const { kind } = statement.operation;
  return removable.has(kind) ? kind : null;
}

/** Every statement, in the order of the text. */
export function forEachPlace(statements: readonly Statement[], visit: (statement: Statement) => void): void {
  for (const statement of statements) {
    visit(statement);
    for (const list of listsOf(statement)) forEachPlace(list, visit);
  }
}

/** The program without some of its statements that synchronise: by their kind and their number. */
export function without(program: Program, leaveOut: (kind: string, at: number) => boolean): Program {
  let seen = -1;
  const rest = (list: readonly Statement[]): Statement[] =>
    list.flatMap((statement): Statement[] => {
      const kind = kindOf(statement);
      if (kind !== null) {
        seen += 1;
        if (leaveOut(kind, seen)) return [];
      }
      switch (statement.kind) {
        case 'if':
          return [{ ...statement, then: rest(statement.then), otherwise: rest(statement.otherwise) }];
        case 'loop':
          return [{ ...statement, body: rest(statement.body), update: rest(statement.update) }];
        case 'block':
          return [{ ...statement, body: rest(statement.body) }];
        default:
          return [statement];
      }
    });
  return { ...program, body: rest(program.body) };
}
