// A hint as edits of the user's own text: what an editor offers to do, and `warpstage check --static --fix` does.
//
// A fix is found in the text that was compiled. It is given only where that part of the file is known to be the
// same text, but for types: a tool may have rewritten it before it ran.

import type { KernelSource, Range } from './source.ts';

/** One edit: what stands from `from` to before `to` becomes `replacement`. */
export interface Edit {
  /** The file; absent where `location` of the issue has none. */
  readonly file?: string;
  /** In UTF-16 units from the beginning of the file. The same as `to` where something is inserted. */
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
}

/** One way to mend what is wrong. Its edits do not overlap, and are made together. */
export interface Fix {
  /** What it does, as an instruction: `write cuda.i32(x)`. */
  readonly title: string;
  readonly edits: readonly Edit[];
}

/** A fix in the text that is compiled. */
export interface FixInText {
  readonly title: string;
  /** A part of the text that all edits are in, and that must stand in the file as it is here. */
  readonly within: Range;
  readonly edits: readonly { readonly range: Range; readonly replacement: string }[];
}

/** The fixes that are ones of the user's file. */
export function fixesInFile(sources: readonly KernelSource[], fixes: readonly FixInText[]): readonly Fix[] {
  return fixes.flatMap(({ title, within, edits }) => {
    const standing = sources[within.source]!.standing(within.start, within.end);
    if (standing === null) return [];
    const { file, offsetOf } = standing;
    const made = edits.map(({ range: { start, end }, replacement }) => ({
      ...(file !== undefined && { file }),
      from: offsetOf(start, start === end && start > within.start),
      to: offsetOf(end, end > within.start),
      replacement,
    }));
    return [{ title, edits: made }];
  });
}

/** A text with the edits of one file made. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from || b.to - a.to)
    .reduce((whole, { from, to, replacement }) => whole.slice(0, from) + replacement + whole.slice(to), text);
}
