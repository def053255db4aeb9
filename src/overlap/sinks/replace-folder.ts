// A folder takes the place of another.
//
// No call of the system does that at once everywhere. What is there is renamed first, and removed when another has its name; for
// that moment there is none. Where the other does not get the name, the first has it back; where that fails too, it lies
// whole under its new name, and the error says how to bring it back. Where the process is killed in that moment, the next run
// gives it its name back (files/leftovers.ts).

import { renameSync, rmSync } from 'node:fs';
import { unwritable } from '../../diagnostics/problem.ts';
import { replacedName } from '../../files/leftovers.ts';

/**
 * Gives `folder` the name of `final`, which is there. `settle` is called before what was there is removed.
 *
 * @throws the system's error, with `final` as it was, or WS5006 of `name`
 */
export function replaceFolder(final: string, folder: string, name: string, settle: () => void): void {
  const replaced = replacedName(final);
  renameSync(final, replaced);
  try {
    renameSync(folder, final);
  } catch (cause) {
    try {
      renameSync(replaced, final);
    } catch {
      throw unwritable(name, cause, `mv ${inShell(replaced)} ${inShell(final)}`);
    }
    throw cause;
  }
  settle();
  try {
    rmSync(replaced, { recursive: true, force: true });
  } catch {
    // It has another name, and a later run removes it.
  }
}

/** A path as a word of a shell's command. */
function inShell(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
