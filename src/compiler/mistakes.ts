// What is wrong in a kernel's text, as it is found while the kernel is lowered.
//
// An inlined function is lowered wherever it is called, so the same mistake is met again and again; it is kept
// once for each place. Places in the user's file are looked up when the mistakes are reported.

import type { Code } from '../diagnostics/codes.ts';
import type { Issue } from '../diagnostics/error.ts';
import { type FixInText, fixesInFile } from '../diagnostics/fix.ts';
import { type KernelSource, locationOf, type Range } from '../diagnostics/source.ts';

export interface Mistake {
  readonly code: Code;
  readonly message: string;
  readonly hint: string;
  /** The hint as edits; each way by itself. */
  readonly fixes?: readonly FixInText[];
  readonly range: Range;
}

export class Mistakes {
  readonly #sources: readonly KernelSource[];
  readonly #all: Mistake[] = [];

  /** `sources` may grow while mistakes are noted. */
  constructor(sources: readonly KernelSource[]) {
    this.#sources = sources;
  }

  note(mistake: Mistake): void {
    const { message, range } = mistake;
    const again = this.#all.some(
      (one) =>
        one.message === message && one.range.source === range.source && one.range.start === range.start,
    );
    if (!again) this.#all.push(mistake);
  }

  get any(): boolean {
    return this.#all.length > 0;
  }

  /** All of them, in the order of the text. */
  issues(): Issue[] {
    return this.#all
      .toSorted((a, b) => a.range.source - b.range.source || a.range.start - b.range.start)
      .map(({ range, fixes = [], ...issue }) => {
        const inFile = fixesInFile(this.#sources, fixes);
        const location = locationOf(this.#sources, range);
        return { ...issue, ...(inFile.length > 0 && { fixes: inFile }), location };
      });
  }
}
