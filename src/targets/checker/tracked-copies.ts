// Asynchronous copies between their issue and the moment when a thread may rely on them.
//
// A copy is complete for a thread when it has seen the phase to which the copy was bound. A group's
// copy is complete when that holds for the shares of all its threads: which thread copies which
// element is nobody's promise. Nothing here looks at whether the bytes were moved. A copy is an actor
// like a thread, by a number below zero.

import type { Range } from '../../diagnostics/source.ts';
import { membership } from '../interpreter/barrier.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import { type Elements, elementSize } from '../interpreter/memory.ts';
import type { StageUse } from '../interpreter/observer.ts';
import type { BlockClocks, Knowledge, ThreadClock } from './clocks.ts';
import { IssueOrder } from './issue-order.ts';
import type { Access } from './shadow.ts';

/** The shares of one copy of a group. */
export interface CopyGroup {
  readonly size: number;
  readonly members: TrackedCopy[];
  /** How many are bound. */
  bound: number;
  readonly order: IssueOrder;
  /** To which phase all of them are bound: the common case. Null if they are not, or none is. */
  together: Completion | null;
}

/** When a copy is complete: when a component of a block's clocks is at a time. */
interface Completion {
  readonly block: BlockClocks;
  readonly component: number;
  readonly time: number;
}

/** One thread's share of a copy. */
export class TrackedCopy {
  /** Below zero. */
  readonly actor: number;
  readonly copy: PendingCopy;
  readonly issuer: ThreadClock;
  readonly group: CopyGroup;
  /** The stage that its commit was for. */
  use: StageUse | null = null;
  /** A thread's own copy may be bound to a batch of its queue and to a barrier: either wait has it. */
  readonly #completions: Completion[] = [];

  constructor(actor: number, copy: PendingCopy, issuer: ThreadClock, group: CopyGroup) {
    this.actor = actor;
    this.copy = copy;
    this.issuer = issuer;
    this.group = group;
  }

  get bound(): boolean {
    return this.#completions.length > 0;
  }

  bind(completion: Completion): void {
    this.#completions.push(completion);
    const { group } = this;
    if (this.#completions.length > 1) {
      group.together = null;
      return;
    }
    const { component, time } = completion;
    if (group.bound === 0) group.together = completion;
    else if (group.together?.component !== component || group.together.time !== time) group.together = null;
    group.bound += 1;
  }

  /** Whether this share is complete for a thread. */
  isOwnSeenBy(thread: Knowledge): boolean {
    return this.#completions.some((completion) => hasSeen(thread, completion));
  }

  /** Whether the whole copy is complete for a thread. */
  isSeenBy(thread: Knowledge): boolean {
    const { size, members, together, bound } = this.group;
    if (bound < size) return false;
    return together === null
      ? members.every((member) => member.isOwnSeenBy(thread))
      : hasSeen(thread, together);
  }
}

function hasSeen(thread: Knowledge, { block, component, time }: Completion): boolean {
  return thread.hasSeen(block, component, time);
}

/**
 * Finds the shares of a group's copy together: the n-th time that each thread of the group comes to a call. A call
 * is known by its place, as threads of different rank groups have it in programs of their own.
 */
class CopyGroups {
  readonly #rounds = new Map<Range, Map<number, number>>();
  readonly #open = new Map<Range, Map<string, CopyGroup>>();

  track(actor: number, copy: PendingCopy, issuer: ThreadClock): TrackedCopy {
    const { call, thread } = copy;
    const { index, size } = membership(call.group, thread.rank, thread.block.threads.length);
    const group =
      size === 1 ? newGroup(1) : this.#groupOf(call.range, issuer.actor, issuer.block, index, size);
    const tracked = new TrackedCopy(actor, copy, issuer, group);
    group.members.push(tracked);
    return tracked;
  }

  #groupOf(place: Range, actor: number, block: BlockClocks, index: number, size: number): CopyGroup {
    const rounds = entryOf(this.#rounds, place, () => new Map<number, number>());
    const round = rounds.get(actor) ?? 0;
    rounds.set(actor, round + 1);
    const open = entryOf(this.#open, place, () => new Map<string, CopyGroup>());
    const key = `${block.firstActor} ${index} ${round}`;
    const group = entryOf(open, key, () => newGroup(size));
    if (group.members.length === size - 1) open.delete(key);
    return group;
  }
}

function newGroup(size: number): CopyGroup {
  return { size, members: [], bound: 0, together: null, order: new IssueOrder(size) };
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** The copies of a launch. */
export class TrackedCopies {
  readonly #groups = new CopyGroups();
  readonly #all: TrackedCopy[] = [];
  /** Copies that may be bound yet. */
  readonly #bindable = new Map<PendingCopy, TrackedCopy>();
  /** Whether what is bound may be bound once more: to a thread's queue and a barrier, or to several arrivals. */
  readonly #bindsAgain: boolean;

  constructor(bindsAgain: boolean) {
    this.#bindsAgain = bindsAgain;
  }

  add(copy: PendingCopy, issuer: ThreadClock): TrackedCopy {
    const tracked = this.#groups.track(-1 - this.#all.length, copy, issuer);
    this.#all.push(tracked);
    this.#bindable.set(copy, tracked);
    return tracked;
  }

  of(actor: number): TrackedCopy {
    return this.#all[-actor - 1]!;
  }

  committed(use: StageUse, copies: readonly PendingCopy[]): void {
    for (const copy of copies) {
      const tracked = this.#bindable.get(copy);
      if (tracked !== undefined) tracked.use = use;
    }
  }

  bound(copies: readonly PendingCopy[], completionOf: (copy: PendingCopy) => Completion): void {
    for (const copy of copies) {
      const tracked = this.#bindable.get(copy);
      if (tracked === undefined) continue;
      tracked.bind(completionOf(copy));
      if (!this.#bindsAgain) this.#bindable.delete(copy);
    }
  }

  /** Whether two copies write the same value to an element, as copies of a tile's tail may. */
  writeTheSame(earlier: Access, later: Access, array: Elements, index: number): boolean {
    if (earlier.actor > 0 || later.actor > 0) return false;
    const sourceOf = ({ actor }: Access) => {
      const { from, to, copied } = this.of(actor).copy;
      if (to.elements !== array) return undefined;
      const i = index - to.offset;
      if (i >= copied) return 0;
      const size = elementSize(from.elements);
      return String(from.elements.bytes.subarray((from.offset + i) * size, (from.offset + i + 1) * size));
    };
    const value = sourceOf(earlier);
    return value !== undefined && value === sourceOf(later);
  }
}
