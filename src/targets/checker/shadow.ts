// Shadow memory: for every element of an array, who accessed it last.
//
// Of writes the last one is kept; an earlier one either came before it or was a finding. Of reads
// and of atomic operations those are kept that no later one of the same kind comes after: nearly
// always one, and only else a list. Shadows are made page by page, for elements that are
// accessed, so that the memory goes with what a launch touches and not with what it was given.
//
// An access is three numbers. `actor` is a thread (from 1 on, over the whole launch) or, below
// zero, a copy; 0 says that there was none. `time` is the thread's own; `site` is the place.

import type { Budget } from './budget.ts';

/** One access that is remembered. */
export interface Access {
  readonly actor: number;
  readonly time: number;
  readonly site: number;
}

/** The actor of a cell that has a list. */
const several = 0x7fffffff;

const accessBytes = 12;
/** Of an entry of a list, as the engine keeps it. */
const entryBytes = 96;

/** Accesses of several actors to one cell: the last one of each. */
class AccessList {
  readonly #byActor = new Map<number, Access>();
  // Going through the list at every access would cost its length; it is done when it has doubled.
  #pruneAt = 8;

  constructor(accesses: Iterable<Access>) {
    for (const access of accesses) this.#byActor.set(access.actor, access);
  }

  get length(): number {
    return this.#byActor.size;
  }

  get accesses(): Iterable<Access> {
    return this.#byActor.values();
  }

  /** By how much the list has grown. */
  add(access: Access, before: (earlier: Access) => boolean): number {
    const length = this.#byActor.size;
    if (length >= this.#pruneAt) {
      for (const earlier of this.#byActor.values()) {
        if (before(earlier)) this.#byActor.delete(earlier.actor);
      }
      this.#pruneAt = Math.max(8, 2 * this.#byActor.size);
    }
    this.#byActor.set(access.actor, access);
    return this.#byActor.size - length;
  }
}

/** Accesses of one kind to the cells of a page. */
export class Accesses {
  readonly actors: Int32Array;
  readonly times: Uint32Array;
  readonly sites: Int32Array;
  readonly #budget: Budget;
  #lists: Map<number, AccessList> | null = null;

  constructor(cells: number, budget: Budget) {
    budget.take(cells * accessBytes);
    this.actors = new Int32Array(cells);
    this.times = new Uint32Array(cells);
    this.sites = new Int32Array(cells);
    this.#budget = budget;
  }

  /** Forgets all others. */
  set(cell: number, actor: number, time: number, site: number): void {
    if (this.actors[cell] === several) this.#dropList(cell);
    this.actors[cell] = actor;
    this.times[cell] = time;
    this.sites[cell] = site;
  }

  clear(cell: number): void {
    if (this.actors[cell] === several) this.#dropList(cell);
    this.actors[cell] = 0;
  }

  #dropList(cell: number): void {
    this.#budget.giveBack(this.#lists!.get(cell)!.length * entryBytes);
    this.#lists!.delete(cell);
  }

  /** Remembers an access beside the others of the cell. `before` tells which of them it comes after. */
  add(cell: number, access: Access, before: (earlier: Access) => boolean): void {
    this.#lists ??= new Map();
    let list = this.#lists.get(cell);
    if (list === undefined) {
      list = new AccessList(this.at(cell));
      this.#budget.take(list.length * entryBytes);
      this.#lists.set(cell, list);
      this.actors[cell] = several;
    }
    this.#budget.take(list.add(access, before) * entryBytes);
  }

  /** All that are remembered of a cell. */
  at(cell: number): Iterable<Access> {
    const actor = this.actors[cell]!;
    if (actor === 0) return [];
    if (actor === several) return this.#lists!.get(cell)!.accesses;
    return [{ actor, time: this.times[cell]!, site: this.sites[cell]! }];
  }

  /** Whether more than one access is remembered of a cell. */
  hasSeveral(cell: number): boolean {
    return this.actors[cell] === several;
  }
}

/** The cells of a stretch of an array. Reads and atomic operations only where there are any. */
export class Page {
  readonly #budget: Budget;
  readonly writes: Accesses;
  #reads: Accesses | null = null;
  #updates: Accesses | null = null;

  constructor(cells: number, budget: Budget) {
    this.#budget = budget;
    this.writes = new Accesses(cells, budget);
  }

  get reads(): Accesses | null {
    return this.#reads;
  }

  get updates(): Accesses | null {
    return this.#updates;
  }

  of(kind: 'read' | 'write' | 'update'): Accesses | null {
    return kind === 'write' ? this.writes : kind === 'read' ? this.#reads : this.#updates;
  }

  madeReads(): Accesses {
    this.#reads ??= new Accesses(this.writes.actors.length, this.#budget);
    return this.#reads;
  }

  madeUpdates(): Accesses {
    this.#updates ??= new Accesses(this.writes.actors.length, this.#budget);
    return this.#updates;
  }
}

const pageBits = 12;
const pageMask = 2 ** pageBits - 1;

/** The shadow of a stretch of memory, in cells of `cellBytes`. */
export class Shadow {
  readonly cellBytes: number;
  readonly #cells: number;
  readonly #budget: Budget;
  readonly #pages: (Page | undefined)[] = [];

  constructor(cells: number, cellBytes: number, budget: Budget) {
    this.#cells = cells;
    this.cellBytes = cellBytes;
    this.#budget = budget;
  }

  page(cell: number): Page {
    const number = cell >>> pageBits;
    this.#pages[number] ??= this.#newPage(number);
    return this.#pages[number];
  }

  #newPage(number: number): Page {
    const first = number << pageBits;
    return new Page(Math.min(this.#cells - first, pageMask + 1), this.#budget);
  }

  /** Where in its page a cell is. */
  static within(cell: number): number {
    return cell & pageMask;
  }
}
