// The one error class: data first, text last.
//
// An error holds one or more issues; an issue has a code, a sentence with the values, where it
// happened and how to mend it. `message` is the rendering of the issues with their code frames,
// without colours; `issues` is the same as data.

import type { Code } from './codes.ts';
import type { Fix } from './fix.ts';
import { linesOf } from './lines.ts';
import { formatIssues } from './render.ts';
import type { AnyFunction, Place } from './source.ts';
import { beginStackAtUser } from './stack.ts';

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
  /** The hint as edits of the user's text, each way to mend it by itself. Absent where there is none. */
  readonly fixes?: readonly Fix[];
  readonly location?: Location;
  /** Other places that belong to it, each with a short label. */
  readonly related?: readonly { readonly label: string; readonly location: Location }[];
  /** The thread and block, where a running kernel is meant. */
  readonly thread?: readonly [number, number, number];
  readonly block?: readonly [number, number, number];
  /** Particulars, a line each, that say more than thread and block and stand in their place. */
  readonly details?: readonly string[];
}

export interface WarpstageErrorOptions {
  readonly cause?: unknown;
  /** A function that a user's function calls: the stack begins at the call of it. This package's own frames are left out anyway. */
  readonly caller?: AnyFunction;
}

/** What every function of warpstage throws, and every promise rejects with. */
export class WarpstageError extends Error {
  static {
    // On the prototype, as the language's own errors have it, so that a printed error does not list it.
    WarpstageError.prototype.name = 'WarpstageError';
  }

  readonly #issues: readonly Issue[];

  constructor(issues: Issue | readonly Issue[], options: WarpstageErrorOptions = {}) {
    const list = Object.freeze([issues].flat());
    super(formatIssues(list), 'cause' in options ? { cause: options.cause } : {});
    this.#issues = list;
    beginStackAtUser(this, options.caller);
  }

  /** What went wrong, at least one. */
  get issues(): readonly Issue[] {
    return this.#issues;
  }

  /** The code of the first issue. */
  get code(): Code {
    return this.#issues[0]!.code;
  }

  /** How to mend the first issue, if there is a way to say it. */
  get hint(): string | undefined {
    return this.#issues[0]!.hint;
  }

  /** The issues as plain data. Of a file's text only the line at fault is kept, as `source`. */
  toJSON(): object {
    const cause = this.cause instanceof Error ? `${this.cause.name}: ${this.cause.message}` : this.cause;
    return { name: this.name, code: this.code, issues: this.#issues.map(issueData), cause };
  }
}

/** An issue as plain data. */
export function issueData(issue: Issue): object {
  const { location, related } = issue;
  return {
    ...issue,
    location: location && locationData(location),
    related: related?.map((one) => ({ label: one.label, location: locationData(one.location) })),
  };
}

function locationData({ file, line, column, length, text }: Location): object {
  return { file, line, column, length, source: linesOf(text)[line - 1]?.slice(0, 1000) };
}
