// What fences and atomic operations order together.
//
// A fence and a later atomic operation publish, at the place of the operation, what the thread had
// done and seen at the fence. Who operates on that place afterwards and then fences comes after it.
// An atomic operation keeps what earlier ones have published there. A fence of block scope counts
// among the threads of a block, and takes nothing from a wider one before it.
//
// An atomic operation with an order publishes at its own place alone, and takes what was published there at once.

import { bytesOf } from '../../kernel/layout.ts';
import type { Block } from '../interpreter/block.ts';
import type { Elements } from '../interpreter/memory.ts';
import type { AtomicCall } from '../interpreter/observer.ts';
import type { Thread } from '../interpreter/thread.ts';
import type { ProxyClocks } from './proxies.ts';

export type FenceScope = 'block' | 'device' | 'system';

/** What a thread knew at a fence: an object that it arrived at, and others may wait for. */
interface Published {
  readonly scope: FenceScope;
  readonly block: Block;
  /** By an atomic operation with an order: at its place alone, where later operations of the thread keep it. */
  readonly here: boolean;
}

/** A fence of block scope counts among the threads of its block alone. */
function countsInOthers({ scope }: Published): boolean {
  return scope !== 'block';
}

export class Fences {
  readonly #clocks: ProxyClocks;
  /** By thread: its last fence, and of those that count in other blocks the last. */
  readonly #last = new Map<Thread, readonly Published[]>();
  /** By thread: what was published where it operated, until a fence of the thread that it counts for. */
  readonly #read = new Map<Thread, Set<Published>>();
  /** By memory, or the block whose own it is, and address: what was published there, the last of each thread. */
  readonly #places = new Map<object, Map<number, Map<Thread, readonly Published[]>>>();

  constructor(clocks: ProxyClocks) {
    this.#clocks = clocks;
  }

  fenced(thread: Thread, scope: FenceScope): void {
    const { block } = thread;
    const read = this.#read.get(thread);
    for (const published of read ?? []) {
      if (published.block !== block && scope === 'block') continue;
      this.#clocks.waited(thread, published, 0);
      read!.delete(published);
    }
    const published = this.#publish(thread, scope, false);
    const wider = scope === 'block' ? (this.#last.get(thread) ?? []).filter(countsInOthers) : [];
    this.#last.set(thread, [...wider, published]);
  }

  /** The thread has operated on an element, which all blocks reach or its own alone. */
  operated(
    thread: Thread,
    { bytes, element }: Elements,
    index: number,
    space: 'global' | 'shared' | 'local',
    { operator = 'add', order = 'relaxed', scope = 'device' }: Partial<AtomicCall> = {},
  ): void {
    const memory = space === 'global' ? bytes.buffer : thread.block;
    const place = this.#placeOf(memory, bytes.byteOffset + index * bytesOf(element));
    if (place.size > 0) {
      const read = this.#read.get(thread) ?? new Set();
      const acquires = operator !== 'store' && order !== 'relaxed' && order !== 'release';
      for (const published of [...place.values()].flat()) {
        if (published.block !== thread.block && !countsInOthers(published)) continue;
        if (acquires && (published.block === thread.block || scope !== 'block'))
          this.#clocks.waited(thread, published, 0);
        else if (operator !== 'store') read.add(published);
      }
      this.#read.set(thread, read);
    }
    if (operator === 'load') return;
    const earlier = (place.get(thread) ?? []).filter(({ here }) => here).slice(-2);
    // What a store replaces, later readers do not find.
    if (operator === 'store') place.clear();
    const published = [...(this.#last.get(thread) ?? []), ...earlier];
    if (order !== 'relaxed' && order !== 'acquire') {
      if (scope !== 'block') published.splice(0);
      published.push(this.#publish(thread, scope, true));
    }
    if (published.length > 0) place.set(thread, published);
  }

  /** What the thread knows now. */
  #publish(thread: Thread, scope: FenceScope, here: boolean): Published {
    const published = { scope, block: thread.block, here };
    this.#clocks.arrived(thread, published, 0);
    if (countsInOthers(published)) this.#clocks.keep(published);
    return published;
  }

  /** A block ends: of its threads only what they have published is known from now on. */
  ended(block: Block): void {
    this.#places.delete(block);
    for (const thread of block.threads) {
      this.#last.delete(thread);
      this.#read.delete(thread);
    }
  }

  #placeOf(memory: object, address: number): Map<Thread, readonly Published[]> {
    const ofMemory = this.#places.get(memory) ?? new Map<number, Map<Thread, readonly Published[]>>();
    this.#places.set(memory, ofMemory);
    const place = ofMemory.get(address) ?? new Map<Thread, readonly Published[]>();
    ofMemory.set(address, place);
    return place;
  }
}
