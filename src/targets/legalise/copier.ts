// The thread that gives work to the copy engine for its block.
//
// Where the block is made of whole warps, its first warp takes the branch as a whole and elects a thread in
// it: a branch of whole warps costs the others one instruction, and a thread elected in it none. Else it is
// the block's first thread.

import type { Statement } from '../../compiler/ir.ts';
import { isVariable } from '../analysis/counters.ts';
import type { Frame } from './frame.ts';
import type { Words } from './words.ts';

export class Copier {
  readonly #frame: Frame;
  #warp: number | null = null;
  /** Whether the thread is the one that was elected of its warp last, a bool. */
  #elect: number | null = null;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  /** Whether a thread's warp is the one that copies for the block, a bool; null where blocks are no whole warps. */
  get warp(): number | null {
    if (this.#frame.wholeWarps) this.#warp ??= this.#frame.variable('copying_warp', 'bool');
    return this.#warp;
  }

  /** What the kernel begins with, once all of it is lowered. */
  begin(): Statement[] {
    if (this.#warp === null) return [];
    const words = this.#frame.words();
    const leader = this.#frame.variable('first_of_warp', 'i32');
    return [
      words.firstOfWarp(leader),
      words.assign(this.#warp, words.compare('equal', words.read(leader, 'i32'), words.constant('i32', 0))),
    ];
  }

  /** What the one thread does that gives work to the copy engine. */
  run(words: Words, statements: Statement[]): Statement {
    const { warp } = this;
    if (warp === null) return words.when(words.isFirst({ kind: 'block' }), statements);
    return words.when(words.read(warp, 'bool'), this.elected(words, statements));
  }

  /** What one elected thread of the warp does. */
  elected(words: Words, statements: Statement[]): Statement[] {
    this.#elect ??= this.#frame.variable('elected', 'bool');
    const elected = words.read(this.#elect, 'bool');
    return [words.core({ kind: 'elect' }, this.#elect), words.when(elected, statements)];
  }
}

/**
 * The same statements, with one election where the same warp's elected thread runs several of them one after the
 * other: all threads of the block wait for what it does.
 */
export function inOneElection(statements: readonly Statement[]): Statement[] {
  const merged: Statement[] = [];
  for (const statement of statements) {
    const last = merged.at(-1);
    const [before, after] = [last && byElected(last), byElected(statement)];
    if (before && after && isVariable(before.warp, after.warp.id))
      merged.splice(-1, 1, before.then([...before.body, ...after.body]));
    else merged.push(statement);
  }
  return merged;
}

/** What the copying warp's elected thread does in such a statement, and the statement with that replaced. */
function byElected(statement: Statement) {
  if (statement.kind !== 'if' || statement.test.kind !== 'variable' || statement.otherwise.length > 0)
    return null;
  const {
    test: warp,
    then: [elect, run, more],
  } = statement;
  if (elect?.kind !== 'call' || elect.intrinsic !== 'core' || elect.operation.kind !== 'elect') return null;
  if (run?.kind !== 'if' || elect.result === null || !isVariable(run.test, elect.result)) return null;
  if (more !== undefined || run.otherwise.length > 0) return null;
  const then = (body: readonly Statement[]): Statement => ({
    ...statement,
    then: [elect, { ...run, then: body }],
  });
  return { warp, body: run.then, then };
}
