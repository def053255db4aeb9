// Where outputs wait until they are complete, and the journals beside them: names that the next run finds.

import { basename, dirname, join } from 'node:path';
import { unwritable } from '../../diagnostics/problem.ts';
import { placeOf } from '../../files/place.ts';
import { isObject } from '../../formats/url.ts';

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

/** What the journal of a run lies beside: `name`, where one is given. That of an object lies in the current directory. */
export function baseOf(name: string): Promise<string> {
  return finalOf(isObject(name) ? basename(name) : name);
}

/** An output that waits until it is complete. */
export interface UnfinishedOutput {
  readonly path: string;
  /** Which of several outputs in its file it is; undefined where it has the file alone. */
  readonly part?: string | undefined;
}

/** Where an output waits, by where it is to appear. Several of one file wait each by itself. */
export function partialPath(final: string, part: string | undefined): string {
  return beside(final, part === undefined ? 'partial' : `partial-${part}`);
}

/**
 * The files that a run to be resumed keeps beside these outputs, and beside `name`, if there is one. Outputs that cannot
 * be written are refused later.
 */
export async function unfinishedFiles(
  outputs: readonly UnfinishedOutput[],
  name: string | true = true,
  passes = 1,
): Promise<string[]> {
  const paths = outputs.flatMap(({ path }) => (path === '-' ? [] : [path]));
  const files = outputs.filter(({ path }) => path !== '-' && !isObject(path));
  const partials = await Promise.all(
    files.map(async ({ path, part }) => partialPath(await finalOf(path), part)),
  ).catch(() => []);
  const named = name === true ? paths.slice(0, 1) : [name];
  const bases = await Promise.all(named.map(baseOf)).catch(() => []);
  const ofPasses = Array.from({ length: passes }, (_, position) =>
    bases.flatMap((base) => {
      const own = baseOfPass(base, { position, of: passes });
      return [beside(own, 'journal'), beside(own, 'lock'), ...statePaths(own)];
    }),
  );
  return [...ofPasses.flat(), ...partials];
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
