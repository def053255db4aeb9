// Which arrays' elements each belong to one thread of the block.
//
// For each thread, an index is known or is congruent to a residue modulo a power of two (analysis/facts.ts).
// Two threads whose residues differ modulo the smaller power never meet in an element,
// whatever the turn, the block and the arguments. `batch * 256 + threadRank` is such an index; with
// `threadRank / 2` it is one where the tests around it let only every second thread come.

import type { Expression, Program } from '../../compiler/ir.ts';
import { factsOf } from '../analysis/facts.ts';
import { type Fact, mostModulus } from '../analysis/values.ts';

/** An access of an array, and the tests that a thread has passed to come to it. */
export interface GuardedIndex {
  readonly index: Expression;
  readonly guards: readonly Guard[];
}

export interface Guard {
  readonly test: Expression;
  readonly holds: boolean;
}

/** A function that says whether no two threads of the block meet in an element by these accesses of one array. */
export function ownPlaces(program: Program): (accesses: readonly GuardedIndex[]) => boolean {
  const facts = factsOf(program);
  const [x, y, z] = program.block;
  return (accesses) => {
    const places: { readonly thread: number; readonly at: Fact }[] = [];
    for (let thread = 0; thread < x * y * z; ++thread) {
      const factOf = facts.inThread(thread);
      for (const { index, guards } of accesses) {
        const isThere = guards.every(({ test, holds }) => factOf(test).value !== !holds);
        if (isThere) places.push({ thread, at: factOf(index) });
      }
    }
    const isExact = places.every(({ at }) => at.least === at.most);
    const modulus = places.reduce((least, { at }) => Math.min(least, at.modulus), mostModulus);
    const owners = new Map<number, number>();
    return places.every(({ thread, at }) => {
      const place = isExact ? at.least : at.residue % modulus;
      const owner = owners.get(place) ?? thread;
      owners.set(place, owner);
      return owner === thread;
    });
  };
}
