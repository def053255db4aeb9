// Atomic operations as locks and flags make them, which order nothing: what guards an element from a race is their order.
//
// Which of them is a lock nobody says. Those that are made to take a value or to wait for one are looked at (CAS, exchange,
// load, store), and not those that add up; all that have no order are named together.

import type { Range } from '../../diagnostics/source.ts';
import type { AtomicCall } from '../interpreter/observer.ts';
import type { OrderToWrite } from './finding.ts';

/** The order that an operation of a lock or a flag needs: to take what was published, to publish, or both. */
const orders: Readonly<Record<string, OrderToWrite['order']>> = {
  cas: 'acquire',
  load: 'acquire',
  store: 'release',
  exch: 'acq_rel',
};

export class LockOperations {
  readonly #found = new Map<string, OrderToWrite>();

  note(range: Range, { operator, order = 'relaxed' }: AtomicCall): void {
    const needed = orders[operator];
    if (needed === undefined || order !== 'relaxed') return;
    const key = `${range.source} ${range.start}`;
    if (!this.#found.has(key)) this.#found.set(key, { range, order: needed });
  }

  /** In the order of the text. */
  get found(): readonly OrderToWrite[] {
    return [...this.#found.values()].sort(
      (a, b) => a.range.source - b.range.source || a.range.start - b.range.start,
    );
  }
}
