// Mutants: which modules of the package a mutation replaces, and by what.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEntry } from '../../test/mutations/entry.ts';
import { type Mutation, mutatedSource, roomOf, transpiled } from '../../test/mutations/mutation.ts';
import { type ProgramText, programTexts } from '../program-texts.mjs';

/** Plain data, so that a packed sweep needs no compiler. */
export interface Mutant {
  readonly name: string;
  readonly room: string;
  /** The source that is changed. */
  readonly file: string;
  readonly why: string;
  readonly equivalent: string | null;
  readonly tests: readonly string[];
  /** Text by path relative to the root, of modules of build/. */
  readonly replaced: Readonly<Record<string, string>>;
  /** Changes where the mutation, its file or its tests do: results are kept under it. */
  readonly key: string;
}

/** The module that the build makes of a source. */
function builtPath(file: string): string {
  return file.replace(/^src\//, 'build/').replace(/\.ts$/, '.js');
}

export async function makeMutants(mutations: readonly Mutation[]): Promise<Mutant[]> {
  const texts = await programTexts();
  const mutants: Mutant[] = [];
  for (const mutation of mutations) mutants.push(await makeMutant(mutation, texts));
  return mutants;
}

async function makeMutant(mutation: Mutation, texts: readonly ProgramText[]): Promise<Mutant> {
  const { name, file, why, equivalent = null, tests } = mutation;
  const source = mutatedSource(mutation);
  const built = await transpiled(source);
  const replaced: Record<string, string> = {};
  if (existsSync(builtPath(file))) replaced[builtPath(file)] = built;
  const overlay = new Map([
    [resolve(file), source],
    [resolve(builtPath(file)), built],
  ]);
  const holders = texts.filter(({ inputs }) => [...overlay.keys()].some((path) => inputs.has(path)));
  const holding = holders.map(({ module }) => module);
  for (const { module, text } of await programTexts(overlay, holding))
    replaced[`build/${module}.text.js`] = text;

  const hash = createHash('sha256').update(source).update(JSON.stringify(tests));
  for (const test of tests) hash.update(readFileSync(parseEntry(test).file));
  const key = hash.digest('hex').slice(0, 24);
  return { name, room: roomOf(mutation), file, why, equivalent, tests, replaced, key };
}
