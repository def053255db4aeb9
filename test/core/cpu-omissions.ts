// Takes away what orders or keeps values in a program that its block runs, one thing at a time: the ends of
// regions, so that what the block did becomes what each thread does by itself; statements; and kept variables.

import { builtin, compare, numberConstant } from '#warpstage/compiler/build.js';
import type { Program, Region, Statement } from '#warpstage/compiler/ir.js';
import { analyseLiveness, bit, has } from '#warpstage/targets/analysis/liveness.js';
import { assignedIn, forEachStatement, listsOf } from '#warpstage/targets/analysis/walk.js';

/** For each way to change one statement, given as what stands in its place, the program with it changed. */
export function eachChange(
  program: Program,
  changes: (statement: Statement) => readonly (readonly Statement[])[],
): Program[] {
  const ofList = (list: readonly Statement[]): (readonly Statement[])[] =>
    list.flatMap((statement, at) => {
      const put = (others: readonly Statement[]) => [...list.slice(0, at), ...others, ...list.slice(at + 1)];
      const inside = (['then', 'otherwise', 'body', 'update'] as const).flatMap((name) => {
        const inner = (statement as { readonly [name: string]: unknown })[name];
        if (!Array.isArray(inner)) return [];
        return ofList(inner).map((changed) => put([{ ...statement, [name]: changed } as Statement]));
      });
      return [...changes(statement).map(put), ...inside];
    });
  return ofList(program.body).map((body) => ({ ...program, body }));
}

/** The program without each of the variables that its regions find, leave or begin with, one at a time. */
export function withoutKept(program: Program): Program[] {
  return eachChange(program, (statement) => {
    if (statement.kind !== 'region') return [];
    return (['loads', 'stores', 'resets'] as const).flatMap((name) =>
      statement[name].map((id) => [{ ...statement, [name]: statement[name].filter((each) => each !== id) }]),
    );
  });
}

/** What threads do among other statements: regions, and copies that the block makes as a whole. */
const worksInMemory = (statement: Statement): boolean =>
  statement.kind === 'region' ||
  (statement.kind === 'call' && statement.intrinsic === 'core' && statement.operation.kind === 'copyNow') ||
  listsOf(statement).some((list) => list.some(worksInMemory));

/** A program with fewer ends of regions, and what was taken away. */
export interface Flattened {
  readonly what: string;
  readonly program: Program;
}

/** For each end of a region or a copy, and each loop over such ends, the program without it. */
export function flattened(program: Program): Flattened[] {
  const found: Flattened[] = [];
  const perThread = new Set<number>();
  forEachStatement(program.body, (statement) => {
    if (statement.kind !== 'region') return;
    for (const id of [...statement.loads, ...statement.stores]) perThread.add(id);
  });
  const put = (list: readonly Statement[], rebuild: (list: readonly Statement[]) => readonly Statement[]) => {
    const busy = list.flatMap((statement, at) => (worksInMemory(statement) ? [at] : []));
    const without = (what: string, from: number, to: number) => {
      const region = inOne(list.slice(from, to + 1), perThread, program.indexType);
      const body = rebuild([...list.slice(0, from), region, ...list.slice(to + 1)]);
      found.push({ what, program: { ...program, body } });
    };
    busy.slice(1).forEach((at, before) => {
      without(`between ${list[busy[before]!]!.kind} and ${list[at]!.kind}`, busy[before]!, at);
    });
    for (const at of busy) {
      const statement = list[at]!;
      if (statement.kind === 'region' || statement.kind === 'call') continue;
      if (statement.kind === 'loop') without('all in a loop', at, at);
      const inside = (name: string, inner: readonly Statement[]) =>
        put(inner, (changed) =>
          rebuild(
            list.map((each, i) => (i === at ? ({ ...statement, [name]: changed } as Statement) : each)),
          ),
        );
      if (statement.kind === 'if') {
        inside('then', statement.then);
        inside('otherwise', statement.otherwise);
      } else if (statement.kind === 'loop' || statement.kind === 'block') inside('body', statement.body);
    }
  };
  put(program.body, (list) => list);
  return found;
}

/** Statements of the block as one region, in which each thread goes its own way. */
function inOne(
  statements: readonly Statement[],
  perThread: ReadonlySet<number>,
  indexType: 'i32' | 'i64',
): Region {
  const body = statements.flatMap((statement) => ofThread(statement, indexType));
  const assigned = [...assignedIn(body)];
  const stores = assigned.filter((id) => perThread.has(id));
  const { atStart } = analyseLiveness(
    body,
    stores.reduce((set, id) => set | bit(id), 0n),
  );
  const loads = [...perThread].filter((id) => has(atStart, id));
  const resets = assigned.filter((id) => !perThread.has(id) && has(atStart, id));
  return { kind: 'region', body, loads, stores, resets, range: statements[0]!.range };
}

/** What the block does as a whole, one of its threads does by itself, as it were. */
function ofThread(statement: Statement, indexType: 'i32' | 'i64'): Statement[] {
  const list = (statements: readonly Statement[]) => statements.flatMap((each) => ofThread(each, indexType));
  switch (statement.kind) {
    case 'region':
      return [...statement.body];
    case 'if':
      return [{ ...statement, then: list(statement.then), otherwise: list(statement.otherwise) }];
    case 'loop':
      return [{ ...statement, body: list(statement.body), update: list(statement.update) }];
    case 'block':
      return [{ ...statement, body: list(statement.body) }];
    case 'call': {
      const { range } = statement;
      if (statement.intrinsic !== 'core' || statement.operation.kind !== 'copyNow') return [statement];
      const operation = { ...statement.operation, group: { kind: 'thread' } } as const;
      const test = compare(
        'equal',
        builtin('threadRank', indexType, range),
        numberConstant(indexType, 0, range),
        range,
      );
      return [{ kind: 'if', test, then: [{ ...statement, operation }], otherwise: [], range }];
    }
    default:
      return [statement];
  }
}
