// Where lanes of a warp come to make something together: a barrier for each set of lanes that does.
//
// Which lanes are one group is known when they come. One that has returned is not expected any more.

import type { Progress } from '../waiting.ts';
import { PhaseBarrier } from './barrier.ts';
import type { Thread } from './thread.ts';

class LaneBarrier extends PhaseBarrier {
  readonly members: readonly number[];

  constructor(members: readonly number[]) {
    super(members.length);
    this.members = members;
  }
}

export class LaneBarriers {
  /** By the lowest rank of the lanes. */
  readonly #open = new Map<number, LaneBarrier>();
  /** By rank, where each came last. */
  readonly #own: LaneBarrier[] = [];
  readonly #returned = new Set<number>();

  /** Where a thread meets the others of its group now: those that have the same lowest lane wait for the same. */
  join(rank: number, members: readonly number[]): PhaseBarrier {
    const [leader] = members as [number];
    let barrier = this.#open.get(leader);
    if (barrier === undefined || barrier.phase > 0 || !sameRanks(barrier.members, members)) {
      barrier = new LaneBarrier(members);
      for (const member of members) if (this.#returned.has(member)) barrier.drop();
      this.#open.set(leader, barrier);
    }
    this.#own[rank] = barrier;
    return barrier;
  }

  of(rank: number): PhaseBarrier {
    return this.#own[rank]!;
  }

  leave({ rank }: Thread): void {
    this.#returned.add(rank);
    for (const barrier of this.#open.values())
      if (barrier.phase === 0 && barrier.members.includes(rank)) barrier.drop();
  }

  progress(rank: number): Progress {
    const { arrived, expected, members } = this.#own[rank]!;
    return { arrived, expected, left: members.filter((each) => this.#returned.has(each)).length };
  }
}

function sameRanks(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((rank, i) => rank === b[i]);
}
