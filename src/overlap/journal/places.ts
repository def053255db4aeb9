// Where outputs wait until they are complete, and the journals beside them: names that the next run finds.

import { basename, dirname, join } from 'node:path';
import { unwritable } from '../../diagnostics/problem.ts';
import { placeOf } from '../../files/place.ts';

export const hintOfFolder = 'check that its directory exists and may be written';

/**
 * Where an output is to appear, through links.
 *
 * @throws WarpstageError WS5006 where there is no such folder
 */
export async function finalOf(path: string): Promise<string> {
  try {
    return (await placeOf(path)).path;
  } catch (cause) {
    throw unwritable(path, cause, hintOfFolder);
  }
}

/**
 * The files that a run to be resumed keeps beside these outputs, and beside `name`, if there is one. Outputs that cannot
 * be written are refused later.
 */
export async function unfinishedFiles(
  outputs: readonly string[],
  name: string | true = true,
  passes = 1,
): Promise<string[]> {
  const files = outputs.filter((path) => path !== '-');
  const finals = await Promise.all(files.map(finalOf)).catch(() => []);
  const bases = name === true ? finals.slice(0, 1) : await Promise.all([finalOf(name)]).catch(() => []);
  const ofPasses = Array.from({ length: passes }, (_, position) =>
    bases.flatMap((base) => {
      const own = baseOfPass(base, { position, of: passes });
      return [beside(own, 'journal'), ...statePaths(own)];
    }),
  );
  return [...ofPasses.flat(), ...finals.map((final) => beside(final, 'partial'))];
}

/** What the journal of a pass lies beside: that of the last, which has the outputs, has the name itself. */
export function baseOfPass(base: string, { position, of }: { position: number; of: number }): string {
  return position === of - 1 ? base : `${base}.pass-${position + 1}`;
}

export function statePaths(base: string): [string, string] {
  return [beside(base, 'state-0'), beside(base, 'state-1')];
}

export function beside(final: string, ending: string): string {
  return join(dirname(final), `.${basename(final)}.${ending}`);
}
