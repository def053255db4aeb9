// A captured graph: pieces of work, and which of them wait for which.

import type { Allocation, PinnedOwner } from './arrays.ts';
import type { Work } from './command.ts';

/** One operation of a graph. */
export interface GraphNode {
  readonly work: Exclude<Work, { readonly kind: 'graph' }>;
  /** The captured stream that it was issued to, counted from 0. Operations of one stream are in order. */
  readonly branch: number;
  /** Positions of the operations that it waits for, all before its own. */
  readonly dependencies: readonly number[];
  readonly uses: readonly Allocation[];
}

/** A graph as one command. */
export interface GraphWork {
  readonly kind: 'graph';
  readonly nodes: readonly GraphNode[];
  /** How many streams took part. */
  readonly branches: number;
  /** Page-locked memory that its copies name. */
  readonly pinned: readonly PinnedOwner[];
}
