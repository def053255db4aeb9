// Where lanes of a warp meet: to exchange values, or to synchronise by a mask.
//
// A gathering is of those lanes that call for the same with the same mask. It is complete when all
// lanes that the mask names, the block has and that have not returned are there; what each brought
// is kept for those who read it, and lanes that come later begin another.

import { binaryOperation, type Value } from '../../compiler/arithmetic.ts';
import type { Call } from '../../compiler/ir.ts';
import { reductions } from '../../compiler/ir-warps.ts';
import type { Range } from '../../diagnostics/source.ts';
import {
  type LaneMeeting,
  lanesOfTile,
  ownLaneUnnamed,
  readsAbsentLane,
  sourceLane,
  waitsForLanes,
  warpSize,
} from '../lanes.ts';
import { misuse } from './fault.ts';
import type { Thread, Wait } from './thread.ts';

export type WarpCall = Extract<Call, { intrinsic: 'warp' }>;

/** What lanes brought, by lane; complete when nobody is awaited any more. */
export interface Gathering {
  readonly key: string;
  /** Rank of lane 0. */
  readonly first: number;
  readonly named: number;
  readonly brought: Map<number, Value>;
  /** Where each came, by lane. */
  readonly places: Map<number, Range>;
  complete: boolean;
}

/** What a thread brings: a value, and of a shuffle which lane it asks for. */
interface Arrival {
  /** Threads of the tile, and the lanes that it names: null for all of the tile. */
  readonly size: number;
  readonly mask: number | null;
  readonly value: Value;
  readonly operand: number;
  readonly range: Range;
}

export class WarpMeetings {
  readonly #threads: number;
  readonly #open = new Map<string, Gathering>();
  /** What each thread takes part in, by rank. */
  readonly #own: { readonly gathering: Gathering; readonly operand: number }[] = [];
  readonly #returned = new Set<number>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  /** A thread arrives with what it brings. */
  begin(thread: Thread, meeting: LaneMeeting, { size, mask, value, operand, range }: Arrival): Wait {
    const { rank } = thread;
    const lane = rank % warpSize;
    const first = rank - lane;
    const warp = first / warpSize;
    if (mask !== null && ((mask >>> lane) & 1) === 0) {
      const { message, hint } = ownLaneUnnamed(meeting, warp, lane);
      throw misuse(thread, 'WS3010', range, message, hint);
    }
    const named = (lanesOfTile(size, rank, this.#threads) & (mask ?? -1)) >>> 0;
    const key = `${meeting} ${size} ${first} ${named}`;
    let gathering = this.#open.get(key);
    if (gathering === undefined) {
      gathering = { key, first, named, brought: new Map(), places: new Map(), complete: false };
      this.#open.set(key, gathering);
    }
    const joined = gathering;
    joined.brought.set(lane, value);
    joined.places.set(lane, range);
    this.#own[rank] = { gathering: joined, operand };
    this.#completeIfAll(joined);
    return {
      range,
      ready: () => joined.complete,
      describe: () =>
        waitsForLanes(meeting, warp, {
          named,
          arrived: bitsOf(joined.brought.keys()),
          returned: this.#returnedOf(joined),
        }),
      awaited: () => ({ at: 'lanes', ranks: this.#awaitedBy(joined), all: true }),
    };
  }

  /** What the thread takes part in, or took part in last: one object for each time that lanes meet. */
  gatheringOf(thread: Thread): Gathering {
    return this.#own[thread.rank]!.gathering;
  }

  /** All have arrived: what the thread gets. */
  resultOf(thread: Thread, { operator, width, range, value: { type } }: WarpCall): Value {
    const {
      gathering: { brought, first, named },
      operand,
    } = this.#own[thread.rank]!;
    const own = thread.rank - first;
    const values = [...brought].sort(([a], [b]) => a - b);
    const where = (test: (value: Value) => boolean) =>
      bitsOf(values.flatMap(([lane, value]) => (test(value) ? [lane] : [])));
    switch (operator) {
      case 'shfl':
      case 'shflUp':
      case 'shflDown':
      case 'shflXor': {
        const source = sourceLane(operator, own, operand, width);
        const value = brought.get(source);
        if (value !== undefined) return value;
        const absence = this.#absence(first + source, named, source);
        const { message, hint } = readsAbsentLane(operator, first / warpSize, source, absence);
        throw misuse(thread, 'WS3010', range, message, hint);
      }
      case 'ballot':
        return where((value) => value === true);
      case 'any':
        return values.some(([, value]) => value === true);
      case 'all':
        return values.every(([, value]) => value === true);
      case 'matchAny':
        return where((value) => Object.is(value, brought.get(own)));
      case 'matchAll': {
        const same = where((value) => Object.is(value, brought.get(own)));
        return same === bitsOf(brought.keys()) ? same : 0;
      }
      case 'activemask':
        throw new TypeError('nobody waits to know who is here');
      default: {
        const combine = binaryOperation(reductions[operator], type);
        return values.map(([, value]) => value).reduce((a, b) => combine(a, b));
      }
    }
  }

  leave(rank: number): void {
    this.#returned.add(rank);
    for (const gathering of this.#open.values()) this.#completeIfAll(gathering);
  }

  #completeIfAll(gathering: Gathering): void {
    if (this.#awaitedBy(gathering).length > 0) return;
    gathering.complete = true;
    this.#open.delete(gathering.key);
  }

  /** Ranks of the lanes that must still come. */
  #awaitedBy({ first, named, brought }: Gathering): number[] {
    const ranks: number[] = [];
    for (let lane = 0; lane < warpSize; lane += 1) {
      if (((named >>> lane) & 1) === 0 || brought.has(lane) || this.#returned.has(first + lane)) continue;
      ranks.push(first + lane);
    }
    return ranks;
  }

  #returnedOf({ first }: Gathering): number {
    const lanes = Array.from({ length: warpSize }, (_, lane) => lane);
    return bitsOf(lanes.filter((lane) => this.#returned.has(first + lane)));
  }

  #absence(rank: number, named: number, lane: number) {
    if (rank >= this.#threads) return 'missing';
    return (named >>> lane) & 1 ? 'returned' : 'unnamed';
  }
}

function bitsOf(lanes: Iterable<number>): number {
  let bits = 0;
  for (const lane of lanes) bits |= 1 << lane;
  return bits >>> 0;
}
