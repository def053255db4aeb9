// cuda.barrier: the threads of a group meet, and come away with the same barriers.

import type { Barrier, BarrierCall } from '../../compiler/ir-barriers.ts';
import { mostArrivals } from '../../compiler/ir-barriers.ts';
import { differentExpected, wrongExpected } from '../barrier-misuse.ts';
import { waitsToMakeBarrier } from '../waiting.ts';
import { GroupBarriers, makersOf, type PhaseBarrier } from './barrier.ts';
import { type BarrierFamily, BlockBarrier } from './block-barrier.ts';
import { barrierMisuse } from './fault.ts';
import { LaneBarriers } from './lane-barriers.ts';
import type { Thread, Wait } from './thread.ts';

type MakeCall = Extract<BarrierCall, { intrinsic: 'makeBarrier' }>;

/** What one group has made, or is about to. */
interface Making {
  readonly meeting: PhaseBarrier;
  /** How many times the group has met there when this round completes. */
  readonly round: number;
  expected: number | null;
  readonly family: BarrierFamily;
  /** Ranks of those that have come. */
  readonly callers: Set<number>;
  barriers: readonly BlockBarrier[] | null;
}

/** One place of the program that makes barriers, in one block. */
export class BarrierMaker {
  readonly #declaration: Barrier;
  readonly #meetings: GroupBarriers | LaneBarriers;
  readonly #blockSize: number;
  readonly #makings: Making[] = [];
  /** What each thread takes part in, by rank. */
  readonly #ownMakings: (Making | undefined)[] = [];

  constructor(declaration: Barrier, blockSize: number) {
    this.#declaration = declaration;
    const { group } = declaration;
    this.#meetings = group.kind === 'lanes' ? new LaneBarriers() : new GroupBarriers(group, blockSize);
    this.#blockSize = blockSize;
  }

  /**
   * A thread arrives with the number that the barrier shall expect, or null, and with masks where its group is of lanes; it
   * must wait for the others of its group.
   */
  begin(thread: Thread, expected: number | null, masks: readonly number[] | null, call: MakeCall): Wait {
    const { name, count, completes, group } = this.#declaration;
    const { rank } = thread;
    const members = makersOf(group, rank, this.#blockSize, masks);
    const meetings = this.#meetings;
    const meeting = meetings instanceof LaneBarriers ? meetings.join(rank, members) : meetings.of(rank);
    const round = meeting.phase + 1;
    let making = this.#makings[members[0]!];
    if (making?.meeting !== meeting || making.round !== round) {
      const { left: returned } = meetings.progress(rank);
      const family = { name, count, completes, members, returned };
      making = { meeting, round, expected: null, family, callers: new Set(), barriers: null };
      this.#makings[members[0]!] = making;
    }
    this.#ownMakings[thread.rank] = making;
    const { family, callers } = making;
    callers.add(thread.rank);
    this.#expect(thread, making, expected ?? members.length, call);
    thread.observer?.arrived(thread, meeting, meeting.phase, call.range);
    meeting.arrive();
    return {
      range: call.range,
      ready: () => meeting.phase >= round,
      describe: () => waitsToMakeBarrier(name, this.#meetings.progress(thread.rank)),
      awaited: () => ({
        at: 'making',
        ranks: family.members.filter((rank) => !callers.has(rank)),
        all: true,
      }),
    };
  }

  /** All have arrived: the barriers. */
  end(thread: Thread, call: MakeCall): readonly BlockBarrier[] {
    const meeting = this.#meetings.of(thread.rank);
    thread.observer?.waited(thread, meeting, meeting.phase - 1, call.range);
    const making = this.#ownMakings[thread.rank]!;
    const { family, expected } = making;
    making.barriers ??= Array.from(
      { length: this.#declaration.count ?? 1 },
      (_, index) => new BlockBarrier(family, index, expected!),
    );
    return making.barriers;
  }

  leave(thread: Thread): void {
    this.#meetings.leave(thread);
    const making = this.#ownMakings[thread.rank];
    if (making !== undefined) making.family.returned += 1;
  }

  #expect(thread: Thread, making: Making, expected: number, call: MakeCall): void {
    const { name } = this.#declaration;
    if (!(expected >= 1 && expected <= mostArrivals)) {
      throw barrierMisuse(thread, call.range, wrongExpected(name, expected));
    }
    making.expected ??= expected;
    if (making.expected === expected) return;
    throw barrierMisuse(thread, call.range, differentExpected(name, [making.expected, expected]));
  }
}
