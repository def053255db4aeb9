// The kernels of a file, compiled and not run: what an editor underlines, and `warpstage check --static` prints.
//
// A kernel is compiled for several blocks and values of its constants. What is wrong for all of them is wrong;
// what only some of them make wrong is for the launch to say, which knows them.

import { specialise } from '../../compiler/specialise.ts';
import { type Issue, WarpstageError } from '../../diagnostics/error.ts';
import { lineAndColumn } from '../../diagnostics/lines.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { type Launch, launches, specialisationFor } from './launches.ts';
import { Modules, type ReadText, Unknown } from './modules.ts';

export type { ReadText } from './modules.ts';

/** What the texts of some files say of the kernels in them. */
export interface StaticCheck {
  /** How many kernels were compiled. */
  readonly kernels: number;
  /** What is wrong, in the order of the files and their lines; each has a location. */
  readonly issues: readonly Issue[];
  /** Kernels that were not looked at, as their schema or function is made while the module runs. */
  readonly skipped: readonly { readonly file: string; readonly line: number; readonly column: number }[];
}

/**
 * Compiles the kernels of files without running anything of them. `read` gives the text of a file, and of those that
 * it imports by a relative path.
 */
export function checkText(files: readonly string[], read: ReadText): StaticCheck {
  const modules = new Modules(read);
  const issues: Issue[] = [];
  const skipped: { file: string; line: number; column: number }[] = [];
  let kernels = 0;
  for (const file of files) {
    try {
      const module = modules.get(file);
      for (const { call, name } of module?.kernels() ?? []) {
        try {
          issues.push(...mistakesOf(module!.valueOf(call) as Kernel, name));
          kernels++;
        } catch (error) {
          if (error instanceof WarpstageError) {
            issues.push(...error.issues);
            kernels++;
          } else if (error instanceof Unknown) {
            skipped.push({ file, ...lineAndColumn(module!.text, call.start) });
          } else throw error;
        }
      }
    } catch (error) {
      if (!(error instanceof WarpstageError)) throw error;
      // What does not import warpstage has no kernels, in whatever syntax it is.
      if (/\bwarpstage\b/.test(read(file) ?? '')) issues.push(...error.issues);
    }
  }
  return { kernels, issues: ordered(issues, files), skipped };
}

/** What is wrong with a kernel, whichever way it is launched. */
function mistakesOf(kernel: Kernel, name: string): readonly Issue[] {
  let common: readonly Issue[] | null = null;
  for (const launch of launches) {
    const found = issuesOf(named(kernel, name), launch);
    const keys = new Set(found.map(keyOf));
    common = common === null ? found : common.filter((issue) => keys.has(keyOf(issue)));
    if (common.length === 0) break;
  }
  return common ?? [];
}

/** A kernel that has no name of its own is called as its variable. */
function named(kernel: Kernel, name: string): Kernel {
  return kernel.name === 'kernel' ? { ...kernel, name } : kernel;
}

function issuesOf(kernel: Kernel, launch: Launch): readonly Issue[] {
  try {
    specialise(kernel, specialisationFor(kernel, launch));
    return [];
  } catch (error) {
    if (error instanceof WarpstageError) return error.issues;
    throw error;
  }
}

function keyOf({ code, location }: Issue): string {
  return [code, location?.file, location?.line, location?.column].join(' ');
}

/** Each once, by file and line. */
function ordered(issues: readonly Issue[], files: readonly string[]): readonly Issue[] {
  const unique = [...new Map(issues.map((issue) => [`${keyOf(issue)} ${issue.message}`, issue])).values()];
  // What other files have wrong comes last.
  const place = ({ location }: Issue) =>
    (files.indexOf(location?.file ?? '') + files.length + 1) % (files.length + 1);
  return unique.sort(
    (a, b) =>
      place(a) - place(b) ||
      (a.location?.line ?? 0) - (b.location?.line ?? 0) ||
      (a.location?.column ?? 0) - (b.location?.column ?? 0),
  );
}
