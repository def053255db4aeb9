// What a lowering asks of the calls of a program.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import { alignmentOf, bytesOf } from '../../kernel/layout.ts';

import { elementOf } from '../analysis/elements.ts';
import { factsOf } from '../analysis/facts.ts';
import { divisorOf } from '../analysis/values.ts';
import { anyStatement, forEachStatement } from '../analysis/walk.ts';

export type Copy = Extract<Call, { intrinsic: 'memcpyAsync' }>;

/** Calls `visit` for every call of the program. */
export function forEachCall(statements: readonly Statement[], visit: (call: Call) => void): void {
  forEachStatement(statements, (statement) => {
    if (statement.kind === 'call') visit(statement);
  });
}

/** The pipelines or barriers that statements make inside of loops. */
export function madeInLoops(statements: readonly Statement[], what: 'pipeline' | 'barrier'): Set<number> {
  const made = new Set<number>();
  forEachStatement(statements, (statement) => {
    if (statement.kind !== 'loop') return;
    forEachCall([statement], (call) => {
      if (what === 'pipeline' && call.intrinsic === 'makePipeline') made.add(call.pipeline);
      if (what === 'barrier' && call.intrinsic === 'makeBarrier') made.add(call.barrier);
    });
  });
  return made;
}

/** Whether a kernel writes to shared arrays by itself, by stores or atomics. */
export function storesToShared(statements: readonly Statement[]): boolean {
  return anyStatement(statements, (statement) => {
    const writes =
      statement.kind === 'store' || (statement.kind === 'call' && statement.intrinsic === 'atomic');
    return writes && statement.array.space === 'shared';
  });
}

/** Whether threads may return while copies are under way: behind the first statement that copies, or inside it. */
export function returnsAmongCopies(body: readonly Statement[]): boolean {
  const first = body.findIndex((statement) =>
    anyStatement([statement], (each) => each.kind === 'call' && each.intrinsic === 'memcpyAsync'),
  );
  return first >= 0 && anyStatement(body.slice(first), ({ kind }) => kind === 'return');
}

/** The greatest power of two that divides a number of bytes. */
export function powerIn(bytes: number): number {
  return bytes & -bytes;
}

/** A function that gives the power of two bytes, up to 16, that both addresses and the size of a copy are multiples of. */
export function copyAlignment(program: Program, alignments: readonly number[]): (copy: Copy) => number {
  const facts = factsOf(program);
  return (copy) => {
    const { destination, source, count, alignment } = copy;
    const factOf = facts.at(copy);
    const element = elementOf(program, source.array);
    const bytes = powerIn(bytesOf(element));
    const base = ({ space, id }: Copy['source']['array']) =>
      space === 'global' ? (alignments[id] ?? alignmentOf(element)) : 16;
    const proven = (offset: Expression) => bytes * divisorOf(factOf(offset));
    const addresses = Math.min(
      base(destination.array),
      base(source.array),
      proven(destination.offset),
      proven(source.offset),
    );
    return Math.min(16, Math.max(Math.min(addresses, proven(count)), alignment));
  };
}
