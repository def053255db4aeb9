// What the page and its worker say to each other: one question, one answer.

export const actions = ['run', 'check', 'stages', 'schedule', 'emitted', 'lint', 'judge'] as const;
export type Action = (typeof actions)[number];

export interface Question {
  readonly id: number;
  readonly action: Action;
  /** The text of the editor. */
  readonly source: string;
  /** Of `judge`: the name of the puzzle. */
  readonly puzzle?: string;
}

/** An array that a kernel wrote, thinned out for a picture. */
export interface Plot {
  readonly name: string;
  readonly length: number;
  /** The least and the greatest of each stretch. */
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** Something to say at a line of the editor. */
export interface Mark {
  /** From 1. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
}

export interface Answer {
  readonly id: number;
  /** Whether all is well: a clean check, a solved puzzle. */
  readonly isGood: boolean;
  /** One line that sums it up. */
  readonly summary: string;
  /** What else there is to say. */
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly plots?: readonly Plot[];
  /** A page of timelines. */
  readonly page?: string;
  /** Texts under a heading each. */
  readonly listings?: readonly { readonly title: string; readonly text: string }[];
}
