// The command line of a sweep, here and in a pack.

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutant } from './mutants.ts';
import { sweep } from './sweep.ts';
import { tableOf } from './table.ts';

export interface Options {
  readonly jobs: number;
  readonly only: RegExp;
  readonly results: string;
  readonly pack: string | null;
}

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      jobs: { type: 'string', default: `${availableParallelism()}` },
      only: { type: 'string', default: '' },
      results: { type: 'string', default: '.mutate' },
      pack: { type: 'string' },
    },
  });
  return {
    jobs: Math.max(1, Number.parseInt(values.jobs, 10)),
    only: new RegExp(values.only),
    results: values.results,
    pack: values.pack ?? null,
  };
}

/** Whether --only asks for a mutation. */
export function isChosen(
  { name, room, file }: Pick<Mutant, 'name' | 'room' | 'file'>,
  only: RegExp,
): boolean {
  return [room, name, file].some((text) => only.test(text));
}

/** Runs the mutants that are asked for, prints the table and sets the exit status. */
export async function sweepAndReport(
  mutants: readonly Mutant[],
  tree: string,
  modules: string,
  { jobs, only, results }: Options,
): Promise<void> {
  const chosen = mutants.filter((mutant) => isChosen(mutant, only));
  const say = (line: string) => console.error(line);
  const all = await sweep(chosen, { tree, modules: resolve(modules), jobs, results, say });
  const table = tableOf(all);
  writeFileSync(join(results, 'table.md'), table);
  console.log(table);
  if (all.some(({ verdict }) => verdict === 'survived')) process.exitCode = 1;
}
