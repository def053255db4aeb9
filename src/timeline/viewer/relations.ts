// What each span of a trace waited for, and what waited for it; made when it is first asked for.

import type { Span } from '../span.ts';
import { predecessors } from '../what-if.ts';

export class Relations {
  readonly before: readonly (readonly number[])[];
  readonly #behind: number[][];

  constructor(spans: readonly Span[]) {
    this.before = predecessors(spans);
    this.#behind = spans.map(() => []);
    for (const [position, others] of this.before.entries()) {
      for (const other of others) this.#behind[other]!.push(position);
    }
  }

  of(position: number): { readonly before: readonly number[]; readonly behind: readonly number[] } {
    return { before: this.before[position] ?? [], behind: this.#behind[position] ?? [] };
  }
}
