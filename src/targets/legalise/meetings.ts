// Where threads meet, and what the copy engine must know of what they did before.

import type { Call, Group, Program, Statement } from '../../compiler/ir.ts';
import { type Copy, forEachCall, storesToShared } from './calls.ts';
import type { Calm } from './calm.ts';
import type { Words } from './words.ts';

export class Meetings {
  /** Whether the copy engine may overwrite what threads wrote to shared memory. */
  readonly #fencesWrites: boolean;

  readonly #calm: Calm;
  readonly #isApart: (call: Call) => boolean;

  constructor(
    program: Program,
    isBulk: (call: Call) => boolean,
    calm: Calm,
    isApart: (call: Call) => boolean,
  ) {
    this.#calm = calm;
    this.#isApart = isApart;
    let [bulk, copied] = [false, false];
    forEachCall(program.body, (call) => {
      if (call.intrinsic !== 'memcpyAsync') return;
      if (isBulk(call)) bulk = true;
      else copied ||= call.destination.array.space === 'shared';
    });
    this.#fencesWrites = bulk && (copied || storesToShared(program.body));
  }

  /** What threads wrote to shared memory lies before what the copy engine does there after they meet. */
  fenceWrites(words: Words): Statement[] {
    return this.#fencesWrites ? [words.core({ kind: 'proxyFence', space: 'shared' })] : [];
  }

  sync(group: Group, words: Words): Statement[] {
    if (group.kind === 'thread') return [];
    return group.kind === 'block' ? [...this.fenceWrites(words), words.sync(group)] : [words.sync(group)];
  }

  /** A sync where parts of a warp may come on different ways, which the plain one forbids. */
  syncOfCall(call: Call & { readonly group: Group }, words: Words): Statement[] {
    const { group } = call;
    if (group.kind !== 'block' || !this.#isApart(call)) return this.sync(group, words);
    return [...this.fenceWrites(words), words.sync(group, true)];
  }

  /** A thread that copies for its group must know of what the others did to the places it copies to. */
  before(copy: Copy, words: Words): Statement[] {
    return this.#calm.afterBarrier.has(copy) ? [] : this.syncOfCall(copy, words);
  }
}
