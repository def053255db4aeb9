// What comes before a copy that a group makes.
//
// Which thread copies which element is nobody's promise. So an access comes before the copy only if each thread
// of the group knew of it when it came to the call; that the thread knew whose share it is here is not enough.
// Accesses that a share comes after are remembered until the last thread has come, and are then held against
// what all of them knew.

import type { BlockClocks, Knowledge, ThreadClock, Times } from './clocks.ts';
import type { AccessKind } from './races.ts';
import type { Access } from './shadow.ts';
import type { TrackedArray } from './tracked-arrays.ts';

/** The times that all of some threads of a block have seen. Against what other blocks did it says nothing. */
class Common implements Knowledge {
  readonly #block: BlockClocks;
  readonly #times: Times;

  constructor({ block, seen }: ThreadClock) {
    this.#block = block;
    this.#times = seen.slice();
  }

  meet({ seen }: ThreadClock): void {
    const times = this.#times;
    for (let i = 0; i < times.length; i += 1) times[i] = Math.min(times[i]!, seen[i] ?? 0);
  }

  hasSeen(block: BlockClocks, component: number, time: number): boolean {
    return block !== this.#block || (this.#times[component] ?? 0) >= time;
  }
}

/** An access, and what part of the copy must come after it. */
export interface EarlierAccess {
  readonly access: Access;
  readonly kind: AccessKind;
  readonly array: TrackedArray;
  readonly index: number;
  /** What the copy does there. */
  readonly copyKind: 'read' | 'write';
}

/** The order of one copy. */
export class IssueOrder {
  readonly #size: number;
  /** By actor: the latest of each kind, and of each thing that the copy does. */
  readonly #earlier = new Map<number, EarlierAccess[]>();
  #came = 0;
  #common: Common | null = null;

  /** For a group of so many threads. */
  constructor(size: number) {
    this.#size = size;
  }

  /** A share of the copy comes after an access. */
  note(earlier: EarlierAccess): void {
    const { access, kind, copyKind } = earlier;
    const ofActor = this.#earlier.get(access.actor);
    if (ofActor === undefined) {
      this.#earlier.set(access.actor, [earlier]);
      return;
    }
    const at = ofActor.findIndex((each) => each.kind === kind && each.copyKind === copyKind);
    if (at < 0) ofActor.push(earlier);
    else if (ofActor[at]!.access.time < access.time) ofActor[at] = earlier;
  }

  /** A thread has come, and its share is noted. When all have: what comes before the copies of some of them alone. */
  came(clock: ThreadClock, isBefore: (access: Access, all: Knowledge) => boolean): EarlierAccess[] {
    if (this.#common === null) this.#common = new Common(clock);
    else this.#common.meet(clock);
    this.#came += 1;
    if (this.#came < this.#size) return [];
    const common = this.#common;
    const late = [...this.#earlier.values()].flat().filter(({ access }) => !isBefore(access, common));
    this.#earlier.clear();
    return late;
  }
}
