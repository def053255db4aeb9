// The thread that gives work to the copy engine for its block.
//
// Where the block is made of whole warps, its first warp takes the branch as a whole and elects a thread in
// it: a branch of whole warps costs the others one instruction, and a thread elected in it none. Else it is
// the block's first thread.

import type { Statement } from '../../compiler/ir.ts';
import type { Frame } from './frame.ts';
import type { Words } from './words.ts';

export class Copier {
  readonly #frame: Frame;
  /** Whether a thread's warp is the one that copies for the block, a bool; null where no warp does. */
  readonly warp: number | null;
  /** Whether the thread is the one that was elected of its warp last, a bool. */
  #elect: number | null = null;

  /** `isNeeded`: the kernel has bulk copies. */
  constructor(frame: Frame, isNeeded: boolean) {
    this.#frame = frame;
    this.warp = isNeeded && frame.wholeWarps ? frame.variable('copying_warp', 'bool') : null;
  }

  /** What the kernel begins with. */
  begin(): Statement[] {
    if (this.warp === null) return [];
    const words = this.#frame.words();
    const leader = this.#frame.variable('first_of_warp', 'i32');
    return [
      words.firstOfWarp(leader),
      words.assign(this.warp, words.compare('equal', words.read(leader, 'i32'), words.constant('i32', 0))),
    ];
  }

  /** What the one thread does that gives work to the copy engine. */
  run(words: Words, statements: Statement[]): Statement {
    if (this.warp === null) return words.when(words.isFirst({ kind: 'block' }), statements);
    return words.when(words.read(this.warp, 'bool'), this.elected(words, statements));
  }

  /** What one elected thread of the warp does. */
  elected(words: Words, statements: Statement[]): Statement[] {
    this.#elect ??= this.#frame.variable('elected', 'bool');
    const elected = words.read(this.#elect, 'bool');
    return [words.core({ kind: 'elect' }, this.#elect), words.when(elected, statements)];
  }
}
