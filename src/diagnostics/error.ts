// The one error class: data first, text last.
//
// An error holds one or more issues; an issue has a code, a sentence with the values, where it
// happened and how to mend it. `message` is the rendering of the issues with their code frames.

import type { Code } from './codes.ts';
import { renderIssues } from './render.ts';
import type { Place } from './source.ts';

/** A stretch of a file or of a kernel's text, with enough of it to draw a code frame. */
export interface Location extends Place {
  /** How many characters the caret line underlines, at least 1. */
  readonly length: number;
}

/** One thing that went wrong. */
export interface Issue {
  readonly code: Code;
  /** One sentence: what happened, with the values. */
  readonly message: string;
  /** How to mend it, as an instruction. */
  readonly hint?: string;
  readonly location?: Location;
  /** Other places that belong to it, each with a short label. */
  readonly related?: readonly { readonly label: string; readonly location: Location }[];
  /** The thread and block, where a running kernel is meant. */
  readonly thread?: readonly [number, number, number];
  readonly block?: readonly [number, number, number];
}

/** What every function of warpstage throws, and every promise rejects with. */
export class WarpstageError extends Error {
  override readonly name = 'WarpstageError';
  readonly issues: readonly Issue[];

  constructor(issues: Issue | readonly Issue[], options?: { cause?: unknown }) {
    const list = Array.isArray(issues) ? (issues as readonly Issue[]) : [issues as Issue];
    super(renderIssues(list), options);
    this.issues = list;
  }

  /** The code of the first issue. */
  get code(): Code {
    return this.issues[0]!.code;
  }

  /** How to mend the first issue, if there is a way to say it. */
  get hint(): string | undefined {
    return this.issues[0]!.hint;
  }
}
