// The operations on files, by number, at which tests let something happen. What a run does first and last is of one kind
// each; between, the same comes again with every chunk. So at length all ways in which something happens meet each operation
// of both ends, and take turns at those between: together they meet each.

import { atLength, isInTurn } from '../support/thorough.ts';

const begin = 8;
const end = 12;

/**
 * Numbers from 1, for the way `turn` of `turns`, of a run that has about `count` operations; in `npm test` each `stride`-th.
 * They go on beyond `count`: who takes them ends with the first run that goes through.
 */
export function* moments(count: number, stride: number, turn: number, turns: number): Generator<number> {
  for (let n = 1; ; n++) {
    const isMet = !isInTurn || n <= begin || n > count - end || n % turns === turn % turns;
    if (n > count || (atLength ? isMet : n % stride === 0)) yield n;
  }
}
