// Races: two accesses to the same memory, at least one of them a write, of which neither comes
// before the other.
//
// Vector clocks say what comes before what, not by the order in which this run happened to
// go. So a race is found in any schedule that makes both accesses, however far apart they were. An
// asynchronous copy reads its source and writes its destination at any time between its issue and
// its completion: it comes after what its issuer did before, and before what a thread does that has
// seen it complete. Everything else races with it, whether its bytes have moved yet or not.
//
// No races are: atomic operations among themselves; two threads that store the same value; two
// copies of the same values.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Program } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { binds } from '../interpreter/barrier-calls.ts';
import type { Block } from '../interpreter/block.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { Launch } from '../interpreter/launch.ts';
import type { Elements } from '../interpreter/memory.ts';
import type { AtomicCall, StageUse } from '../interpreter/observer.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import type { Thread } from '../interpreter/thread.ts';
import { placeIn } from '../place-in.ts';
import type { Budget } from './budget.ts';
import type { Knowledge, ThreadClock } from './clocks.ts';
import { type FenceScope, Fences } from './fences.ts';
import type { Findings } from './finding.ts';
import type { IssueOrder } from './issue-order.ts';
import { referenceOf } from './launch-arrays.ts';
import { Sites } from './places.ts';
import { type FencedSpace, ProxyClocks } from './proxies.ts';
import { type Conflict, type ConflictingAccess, RaceReports } from './race-reports.ts';
import { type Access, type Accesses, type Page, Shadow } from './shadow.ts';
import { cellsOf, type TrackedArray, TrackedArrays } from './tracked-arrays.ts';
import { type CopyGroup, TrackedCopies } from './tracked-copies.ts';
import { sameValue } from './values.ts';

/** What an access does to memory. */
export type AccessKind = 'read' | 'write' | 'update';

const accessKinds: readonly AccessKind[] = ['read', 'write', 'update'];

/** Bytes that a copy is remembered with. */
const copyBytes = 320;

export class Races implements PartialObserver {
  readonly #arrays: TrackedArrays;
  readonly #budget: Budget;
  readonly #reports: RaceReports;
  readonly #sites = new Sites();
  readonly #clocks: ProxyClocks;
  readonly #fences: Fences;
  /** Before the first fence, nothing is published by one. */
  #hasFences = false;
  /** Sites of atomic operations that only read, and of those that are atomic within a block alone. */
  readonly #loads = new Set<number>();
  readonly #narrow = new Set<number>();
  readonly #copies: TrackedCopies;
  #launch: Launch | null = null;
  #blockSize = 1;

  constructor(program: Program, budget: Budget, findings: Findings, advice: boolean) {
    this.#arrays = new TrackedArrays(program, budget);
    this.#budget = budget;
    this.#clocks = new ProxyClocks(program);
    this.#fences = new Fences(this.#clocks);
    this.#copies = new TrackedCopies(binds(program) || program.mbarriers !== undefined);
    this.#reports = new RaceReports(findings, advice);
  }

  launchBegan(launch: Launch): void {
    const [x, y, z] = launch.program.block;
    this.#launch = launch;
    this.#blockSize = x * y * z;
    this.#arrays.launchBegan(launch);
  }

  blockBegan(block: Block): void {
    this.#clocks.begin(block);
    this.#arrays.blockBegan(block);
  }

  blockEnded(block: Block): void {
    this.#arrays.blockEnded(block);
    if (this.#hasFences) this.#fences.ended(block);
    this.#clocks.end(block);
  }

  launchEnded(): void {
    this.#reports.finish();
  }

  // What orders threads and copies

  arrived(thread: Thread, sync: object, phase: number): void {
    this.#clocks.arrived(thread, sync, phase);
  }

  waited(thread: Thread, sync: object, phase: number): void {
    this.#clocks.waited(thread, sync, phase);
  }

  proxyFenced(thread: Thread, space: FencedSpace): void {
    this.#clocks.fenced(thread, space);
  }

  fenced(thread: Thread, scope: FenceScope): void {
    this.#fences.fenced(thread, scope);
    this.#hasFences = true;
  }

  committed(_thread: Thread, use: StageUse, copies: readonly PendingCopy[]): void {
    this.#copies.committed(use, copies);
  }

  bound(copies: readonly PendingCopy[], sync: object, phase: number): void {
    const time = phase + 1;
    this.#copies.bound(copies, ({ thread }) => ({ ...this.#clocks.general.agentOf(thread, sync), time }));
  }

  // Accesses

  read(thread: Thread, array: Elements, index: number, range: Range, component: number): void {
    const tracked = this.#arrays.of(thread, array);
    if (tracked === null || !(index >= 0 && index < array.length)) return;
    const clock = this.#clocks.general.of(thread);
    const site = this.#sites.of(range);
    const { shadow } = tracked;
    const [first, end] = cellsOf(tracked, index, component);
    for (let cell = first; cell < end; cell += 1) {
      this.#readCell(tracked, index, shadow.page(cell), Shadow.within(cell), clock, clock.actor, site);
    }
  }

  write(thread: Thread, array: Elements, index: number, value: Value, range: Range, component: number): void {
    const tracked = this.#arrays.of(thread, array);
    if (tracked === null || !(index >= 0 && index < array.length)) return;
    const clock = this.#clocks.general.of(thread);
    const site = this.#sites.of(range);
    const { shadow, firstCell, width } = tracked;
    const part = width / array.parts.length;
    const first = firstCell + index * width + component * part;
    // Which part it is that an element has already is not reported.
    const compared = array.parts.length === 1 ? value : null;
    for (let cell = first; cell < first + part; cell += 1) {
      const at = Shadow.within(cell);
      this.#writeCell(tracked, index, shadow.page(cell), at, clock, clock.actor, site, compared);
    }
  }

  update(thread: Thread, array: Elements, index: number, range: Range, call?: AtomicCall): void {
    if (call?.order !== undefined) this.#hasFences = true;
    if (call !== undefined) this.#reports.noteOperation(range, call);
    if (this.#hasFences) this.#fences.operated(thread, array, index, referenceOf(array, thread).space, call);
    const tracked = this.#arrays.of(thread, array);
    if (tracked === null || !(index >= 0 && index < array.length)) return;
    const clock = this.#clocks.general.of(thread);
    const { shadow, firstCell, width } = tracked;
    const first = firstCell + index * width;
    const access = { actor: clock.actor, time: clock.now, site: this.#sites.of(range) };
    if (call?.operator === 'load') this.#loads.add(access.site);
    if (call?.scope === 'block' && tracked.space === 'global') this.#narrow.add(access.site);
    for (let cell = first; cell < first + width; cell += 1) {
      const page = shadow.page(cell);
      const at = Shadow.within(cell);
      this.#compare(page.writes, 'write', at, tracked, index, clock, access, 'update');
      if (page.reads !== null && call?.operator !== 'load')
        this.#compare(page.reads, 'read', at, tracked, index, clock, access, 'update');
      if (page.updates !== null && this.#narrow.size > 0)
        this.#compare(page.updates, 'update', at, tracked, index, clock, access, 'update');
      this.#note(page.madeUpdates(), at, access.actor, access.time, access.site, clock);
    }
  }

  issued(copy: PendingCopy): void {
    const { thread, call, count, first, stride } = copy;
    const clock = this.#clocks.general.of(thread);
    const from = this.#arrays.of(thread, copy.from.elements);
    const to = this.#arrays.of(thread, copy.to.elements);
    // A share of no elements is one of its group's shares too.
    if (from === null && to === null) return;
    this.#budget.take(copyBytes);
    const { actor, group } = this.#copies.add(copy, clock);
    const site = this.#sites.of(call.range);
    const reading = this.#clocks.ofCopy(copy, from?.space ?? 'local');
    const writing = this.#clocks.ofCopy(copy, to?.space ?? 'local');
    for (let i = first; i < count; i += stride) {
      if (from !== null && i < copy.copied) {
        const index = copy.from.offset + i;
        const begin = from.firstCell + index * from.width;
        for (let cell = begin; cell < begin + from.width; cell += 1) {
          if (group.size > 1) this.#noteEarlier(group.order, from, index, cell, 'read', reading);
          this.#readCell(from, index, from.shadow.page(cell), Shadow.within(cell), reading, actor, site);
        }
      }
      if (to !== null) {
        const index = copy.to.offset + i;
        const begin = to.firstCell + index * to.width;
        for (let cell = begin; cell < begin + to.width; cell += 1) {
          if (group.size > 1) this.#noteEarlier(group.order, to, index, cell, 'write', writing);
          this.#writeCell(to, index, to.shadow.page(cell), Shadow.within(cell), writing, actor, site, null);
        }
      }
    }
    if (group.size > 1) this.#compareAll(group, clock);
  }

  /** Accesses that a share of a group's copy comes after, as the shares of the others must. */
  #noteEarlier(
    order: IssueOrder,
    array: TrackedArray,
    index: number,
    cell: number,
    copyKind: 'read' | 'write',
    clock: ThreadClock,
  ): void {
    if (array.space === 'local') return;
    const page = array.shadow.page(cell);
    const at = Shadow.within(cell);
    for (const kind of accessKinds) {
      const accesses = page.of(kind);
      if (accesses === null || (kind === 'read' && copyKind === 'read')) continue;
      for (const access of accesses.at(at)) {
        if (this.#isBefore(access.actor, access.time, clock))
          order.note({ access, kind, array, index, copyKind });
      }
    }
  }

  /** When all threads have come to a copy: reports what comes before the shares of some of them alone. */
  #compareAll({ order, members }: CopyGroup, clock: ThreadClock): void {
    const { block } = clock;
    const isBefore = ({ actor, time }: Access, all: Knowledge) => {
      if (actor < 0) return this.#copies.of(actor).isSeenBy(all);
      const rank = actor - block.firstActor;
      return rank < 0 || rank >= this.#blockSize || all.hasSeen(block, rank, time);
    };
    for (const { access, kind, array, index, copyKind } of order.came(clock, isBefore)) {
      const earlier = this.#conflictingAccess(access, kind);
      const { actor, copy, issuer } = members.find((member) => member.issuer.rank !== earlier.rank)!;
      const site = this.#sites.of(copy.call.range);
      this.#reports.add({
        array: array.array,
        space: array.space,
        index,
        earlier,
        later: this.#conflictingAccess({ actor, time: 0, site }, copyKind),
        clock: issuer,
        sameValue: false,
        byAnother: true,
      });
    }
  }

  #readCell(
    tracked: TrackedArray,
    index: number,
    page: Page,
    at: number,
    clock: ThreadClock,
    actor: number,
    site: number,
  ): void {
    const { writes, updates } = page;
    const writer = writes.actors[at]!;
    if (writer !== 0 && !(writer === actor && actor > 0)) {
      this.#compare(writes, 'write', at, tracked, index, clock, { actor, time: clock.now, site }, 'read');
    }
    if (updates !== null && updates.actors[at] !== 0) {
      this.#compare(updates, 'update', at, tracked, index, clock, { actor, time: clock.now, site }, 'read');
    }
    this.#note(page.madeReads(), at, actor, clock.now, site, clock);
  }

  #writeCell(
    tracked: TrackedArray,
    index: number,
    page: Page,
    at: number,
    clock: ThreadClock,
    actor: number,
    site: number,
    value: Value | null,
  ): void {
    const { writes, reads, updates } = page;
    const time = clock.now;
    if (writes.actors[at] !== 0) {
      const access = { actor, time, site };
      this.#compare(writes, 'write', at, tracked, index, clock, access, 'write', value);
    }
    if (reads !== null && reads.actors[at] !== 0) {
      this.#compare(reads, 'read', at, tracked, index, clock, { actor, time, site }, 'write');
      reads.clear(at);
    }
    if (updates !== null && updates.actors[at] !== 0) {
      this.#compare(updates, 'update', at, tracked, index, clock, { actor, time, site }, 'write');
      updates.clear(at);
    }
    writes.set(at, actor, time, site);
  }

  /** Remembers a read or an atomic operation. */
  #note(accesses: Accesses, at: number, actor: number, time: number, site: number, clock: ThreadClock): void {
    const last = accesses.actors[at]!;
    const replaces =
      last === 0 ||
      last === actor ||
      (!accesses.hasSeveral(at) && this.#isBefore(last, accesses.times[at]!, clock));
    if (replaces) accesses.set(at, actor, time, site);
    else {
      const before = (earlier: Access) => this.#isBefore(earlier.actor, earlier.time, clock);
      accesses.add(at, { actor, time, site }, before);
    }
  }

  /** Reports those of the earlier accesses to a cell that do not come before this one. */
  #compare(
    accesses: Accesses,
    kind: AccessKind,
    at: number,
    tracked: TrackedArray,
    index: number,
    clock: ThreadClock,
    access: Access,
    accessKind: AccessKind,
    value: Value | null = null,
  ): void {
    if (!accesses.hasSeveral(at)) {
      // Nearly always: one access, which comes before.
      const actor = accesses.actors[at]!;
      if (actor === 0 || this.#isBefore(actor, accesses.times[at]!, clock)) return;
    }
    for (const earlier of accesses.at(at)) {
      if (this.#isBefore(earlier.actor, earlier.time, clock)) continue;
      if (kind === 'update' && !this.#isAgainst(earlier, access, accessKind)) continue;
      if (
        kind === 'write' &&
        accessKind === 'write' &&
        this.#copies.writeTheSame(earlier, access, tracked.array, index)
      )
        continue;
      const conflict: Conflict = {
        array: tracked.array,
        space: tracked.space,
        index,
        earlier: this.#conflictingAccess(earlier, kind),
        later: this.#conflictingAccess(access, accessKind),
        clock,
        sameValue:
          kind === 'write' &&
          value !== null &&
          earlier.actor > 0 &&
          sameValue(tracked.array, index, 0, value),
      };
      this.#reports.add(conflict);
    }
  }

  /**
   * Whether an atomic operation and a later access that nothing orders are a race: one that only reads is none with
   * another read, and two are one only across blocks, if the scope of either is a block.
   */
  #isAgainst(earlier: Access, { actor, site }: Access, kind: AccessKind): boolean {
    if (kind === 'read') return !this.#loads.has(earlier.site);
    if (kind === 'write') return true;
    if (this.#loads.has(earlier.site) && this.#loads.has(site)) return false;
    const blockOf = (of: number) => Math.floor((of - 1) / this.#blockSize);
    return (
      (this.#narrow.has(earlier.site) || this.#narrow.has(site)) && blockOf(earlier.actor) !== blockOf(actor)
    );
  }

  #isBefore(actor: number, time: number, clock: ThreadClock): boolean {
    if (actor < 0) return this.#copies.of(actor).isSeenBy(clock.general);
    const rank = actor - clock.block.firstActor;
    if (rank >= 0 && rank < this.#blockSize) return clock.seen[rank]! >= time;
    const foreignRank = (actor - 1) % this.#blockSize;
    const times = clock.foreign?.get(actor - foreignRank);
    return times !== undefined && times[foreignRank]! >= time;
  }

  #conflictingAccess({ actor, site }: Access, kind: AccessKind): ConflictingAccess {
    const range = this.#sites.range(site);
    const copy = actor < 0 ? this.#copies.of(actor) : null;
    const thread = (copy === null ? actor : copy.issuer.actor) - 1;
    const block = Math.floor(thread / this.#blockSize);
    return {
      kind,
      range,
      copy,
      rank: thread % this.#blockSize,
      block: placeIn(this.#launch!.grid, block),
    };
  }
}
