// Who comes after whom for the copy engine.
//
// The copy engine reaches memory by a path of its own, its proxy. What threads read and wrote comes
// before a copy only if a proxy fence of that memory lies between, in the copy's block, on the way
// to the copy. So beside what it has seen, a thread knows for shared and for global memory which part
// of that has such a fence behind it. A fence makes the part the whole; arrivals and waits hand both on.
// What copies did needs no fence: who has seen their completion has seen them, whatever the proxy.

import type { Program } from '../../compiler/ir.ts';
import { anyStatement } from '../analysis/walk.ts';
import type { Block } from '../interpreter/block.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { Thread } from '../interpreter/thread.ts';
import { BlockClocks, Clocks, type ThreadClock } from './clocks.ts';

export type FencedSpace = 'shared' | 'global';

export class ProxyClocks {
  readonly general = new Clocks();
  /** Null for a program that gives the copy engine nothing. */
  readonly #fenced: Readonly<Record<FencedSpace, Clocks>> | null;

  constructor(program: Program) {
    this.#fenced = usesEngine(program) ? { shared: new Clocks(), global: new Clocks() } : null;
  }

  begin(block: Block): void {
    const general = this.general.begin(block);
    this.#forEachPart((part) => part.begin(block, BlockClocks.within(general)));
  }

  end(block: Block): void {
    this.general.end(block);
    this.#forEachPart((part) => part.end(block));
  }

  // The parts first: the thread's time goes on when its arrival is reported.
  arrived(thread: Thread, sync: object, phase: number): void {
    this.#forEachPart((part) => part.arrived(thread, sync, phase));
    this.general.arrived(thread, sync, phase);
  }

  waited(thread: Thread, sync: object, phase: number): void {
    this.#forEachPart((part) => part.waited(thread, sync, phase));
    this.general.waited(thread, sync, phase);
  }

  /** Keeps what was collected at an object when its block ends. */
  keep(sync: object): void {
    this.general.keep(sync);
    this.#forEachPart((part) => part.keep(sync));
  }

  fenced(thread: Thread, space: FencedSpace): void {
    this.#fenced?.[space].of(thread).catchUp();
  }

  /** What comes before an access to such memory that a copy makes. */
  ofCopy({ thread, proxy }: PendingCopy, space: 'global' | 'shared' | 'local'): ThreadClock {
    if (proxy === 'generic' || this.#fenced === null || space === 'local') return this.general.of(thread);
    return this.#fenced[space].of(thread);
  }

  #forEachPart(visit: (part: Clocks) => void): void {
    if (this.#fenced === null) return;
    visit(this.#fenced.shared);
    visit(this.#fenced.global);
  }
}

function usesEngine({ body }: Program): boolean {
  return anyStatement(body, (statement) => {
    if (statement.kind !== 'call' || statement.intrinsic !== 'core') return false;
    const { kind } = statement.operation;
    return kind === 'bulkCopy' || kind === 'bulkStore';
  });
}
