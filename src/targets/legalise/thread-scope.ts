// Pipelines of thread scope whose threads together copy what a block would copy: they become the block's.
//
//   for (c, f = 0; c < n; ++c) {                        for (c, f = 0; c < n; ++c) {
//     for (; f < n && f < c + S; ++f)                     for (; f < n && f < c + S; ++f)
//       { acquire; copy own part; commit }          →       { acquire; block copies all; commit }
//     wait; sync; use; release; sync                      wait; use; release
//   }                                                   }
//
// A pipeline of the block with S stages waits in its acquires and waits for what the syncs were for. It may
// take their place where copies are all that has to be ordered (only-copies.ts), and what they fill is read
// between the wait and the release alone. No thread waits in another order than before: at an acquire it
// has released the stage itself.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import type { Pipeline } from '../../compiler/ir-pipelines.ts';
import type { Loop } from '../analysis/counters.ts';
import { factsOf } from '../analysis/facts.ts';
import { mapStatements } from '../analysis/map.ts';
import { anyExpression, anyStatement, forEachStatement } from '../analysis/walk.ts';
import { type Copy, forEachCall, returnsAmongCopies } from './calls.ts';
import { asThread, together } from './neighbours.ts';
import { stepOf } from './parts.ts';
import { isVerbOf, usesStageEachTurn, type Verb } from './verbs.ts';
import { Words } from './words.ts';

/** The program with a pipeline of thread scope as one of the block; null where that is not known to be the same. */
export function threadsAsBlock(program: Program, id: number): Program | null {
  const { body, pipelines } = program;
  const isVerb = isVerbOf(id);
  const position = body.findIndex((each) => anyStatement([each], isVerb));
  const outer = body[position];
  if (outer?.kind !== 'loop' || returnsAmongCopies(body)) return null;
  const step = stepOf(outer, body.slice(0, position));
  const fill = outer.body[0] as Loop;
  if (step === null || step.capacity > 255) return null;
  if (!usesStageEachTurn(outer, fill, id, program) || !isReadInBetween(program, outer, isVerb)) return null;

  const copies = blockCopies(program, fill, isVerb);
  if (copies === null) return null;
  const rewritten = mapStatements(
    body.map((each) => (each === outer ? withoutSyncs(outer) : each)),
    {
      expression: (each) => each,
      statement: (mapped, original) => copies.get(original) ?? mapped,
    },
  );
  const state = Math.max(0, ...pipelines.map((each) => (each.state ?? -1) + 1));
  const ofBlock: Pipeline = {
    ...pipelines[id]!,
    scope: 'block',
    stages: step.capacity,
    state,
    group: { kind: 'block' },
    partition: 'unified',
  };
  return { ...program, pipelines: pipelines.map((each, n) => (n === id ? ofBlock : each)), body: rewritten };
}

/** Whether what copies fill is read between the wait and the release alone, and threads meet there where all come. */
function isReadInBetween(
  program: Program,
  outer: Loop,
  isVerb: (statement: Statement) => statement is Verb,
): boolean {
  const filled = new Set<number>();
  forEachCall(program.body, (call) => {
    if (call.intrinsic === 'memcpyAsync') filled.add(call.destination.array.id);
  });
  const [wait, release] = [...outer.body.keys()].filter((at) => isVerb(outer.body[at]!));
  const isRead = ({ array, kind }: Partial<Extract<Expression, { kind: 'load' }>>) =>
    kind === 'load' && array!.space === 'shared' && filled.has(array!.id);
  const between = new Set(outer.body.slice(wait, release));
  const outside = program.body.flatMap((each) =>
    each === outer ? outer.body.filter((inner) => !between.has(inner)) : [each],
  );
  if (anyExpression(outside, (each) => isRead(each as Partial<Extract<Expression, { kind: 'load' }>>)))
    return false;
  // Syncs within what a turn does may be some threads' alone.
  return !anyStatement(outer.body, (each) => isSync(each) && !outer.body.includes(each));
}

function isSync(statement: Statement): boolean {
  return statement.kind === 'call' && statement.intrinsic === 'sync';
}

function withoutSyncs(outer: Loop): Loop {
  return {
    ...outer,
    body: outer.body.filter(
      (each) => !(each.kind === 'call' && each.intrinsic === 'sync' && each.group.kind === 'block'),
    ),
  };
}

/** Each copy as the block makes it for its threads; null where their parts are not known to be one. */
function blockCopies(
  program: Program,
  fill: Loop,
  isVerb: (statement: Statement) => statement is Verb,
): ReadonlyMap<Statement, Copy> | null {
  const [x, y, z] = program.block;
  const ranks = Array.from({ length: x * y * z }, (_, rank) => rank);
  const facts = factsOf(program);
  const known = new Map(ranks.map((rank) => [rank, facts.inThread(rank)]));
  const factOf = (rank: number) => known.get(rank)!;
  const copies = new Map<Statement, Copy>();
  let areOne = true;
  forEachStatement(fill.body, (copy) => {
    if (!isVerb(copy) || copy.intrinsic !== 'memcpyAsync') return;
    const all = copy.group.kind === 'thread' ? together(copy, ranks, program, factOf) : null;
    const at = (offset: Expression) => (all === null ? null : asThread(offset, program, factOf(all.first)));
    const [to, from] = [at(copy.destination.offset), at(copy.source.offset)];
    areOne &&= to !== null && from !== null && all?.count != null;
    if (!areOne) return;
    copies.set(copy, {
      ...copy,
      group: { kind: 'block' },
      destination: { ...copy.destination, offset: to! },
      source: { ...copy.source, offset: from! },
      count: new Words(copy.range, program.indexType).index(all!.count!),
    });
  });
  return areOne && copies.size > 0 ? copies : null;
}
