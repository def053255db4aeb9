// What the checker finds: data first, text last.
//
// A finding is one fault at one place of the kernel, as one thread met it: where it stands, what
// it conflicts with, how to mend it. Places are ranges of the program's sources; the text of a
// finding is made of them by report.ts, where the sources are known.

import type { Code } from '../../diagnostics/codes.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { Extent3 } from '../../kernel/types.ts';

/** An `error` is wrong on some device under some schedule; `advice` is right, but slow or fragile. */
export type Severity = 'error' | 'advice';

/** A stretch of an array, in elements and in bytes from its start. */
export interface ArrayPart {
  readonly array: string;
  readonly space: 'global' | 'shared' | 'local';
  /** The first element, and how many. */
  readonly first: number;
  readonly count: number;
  /** The first byte, and the one after the last. */
  readonly bytes: readonly [begin: number, end: number];
}

/** A place of the kernel, and who was there. */
export interface FindingPlace {
  readonly range: Range;
  /** Ranks in the block, ascending; empty if no thread in particular is meant. */
  readonly threads: readonly number[];
  readonly block: Extent3 | null;
}

/** Another place that belongs to a finding, with what happened there in a few words. */
export interface RelatedPlace extends FindingPlace {
  readonly label: string;
}

/** A stage of a pipeline, where the finding has to do with one. */
export interface FindingStage {
  /** Name of the pipeline. */
  readonly pipeline: string;
  /** Absent for thread scope, which has none. */
  readonly stage?: number;
  /** How many times the thread used the pipeline this way before. */
  readonly batch: number;
}

/** An atomic operation without an order, and the one that it needs as that of a lock or a flag. */
export interface OrderToWrite {
  readonly range: Range;
  readonly order: 'acquire' | 'release' | 'acq_rel';
}

export interface Finding {
  readonly code: Code;
  readonly severity: Severity;
  /** One sentence: what happened, with the values; it does not name the kernel. */
  readonly message: string;
  readonly place: FindingPlace;
  readonly related: readonly RelatedPlace[];
  readonly stage?: FindingStage;
  readonly part?: ArrayPart;
  /** How to mend it, as an instruction. */
  readonly mend: string;
  /** Atomic operations whose orders may mend it instead, where there are such. */
  readonly ordersToWrite?: readonly OrderToWrite[];
}

/** Where observers leave what they find. */
export interface Findings {
  report(finding: Finding): void;
}
