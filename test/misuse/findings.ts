// What the checker finds in a kernel of the corpus, with the lines of the file.

import { type CheckResult, check } from '#warpstage/checker/check.js';
import type { CheckOptions } from '#warpstage/checker/options.js';
import { launchOf, type Misuse } from './misuse.ts';

export interface Found {
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly other: readonly number[];
  /** The schedules that found it. */
  readonly by: readonly string[];
}

/** The check of a misuse, or of its mended twin. */
export function checkMisuse(misuse: Misuse, mended: boolean, options: CheckOptions): CheckResult {
  return check(misuse.kernel, launchOf(misuse, mended) as never, options);
}

/** Its findings, shortly. */
export function foundIn({ findings, inconclusive, schedules }: CheckResult): Found[] {
  const found = findings.map(({ code, message, location, related, schedules: by }) => ({
    code,
    message,
    line: location.line,
    other: related.map((place) => place.location.line),
    by,
  }));
  const unknown = inconclusive.map(({ code, message }) => ({
    code,
    message,
    line: 0,
    other: [],
    by: schedules,
  }));
  return [...found, ...unknown];
}
