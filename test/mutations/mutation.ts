// A mutation: one small change of the sources that some test must notice.
//
// `from` is a piece of text that stands exactly once in its file. Where a refactoring moves or rewords it,
// `mutations.test.ts` names the mutation, which is then written anew. The entries of `tests` are runs of vitest:
// a test file, or `file > name` for the tests of that name in it; `delayed:` before it runs them with delays at every
// step of Atomics, `wide:` with addresses of 64 bits. `npm run mutate` makes each mutant, runs its tests one after the other, and ends with an error
// where none fails.

import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

export interface Mutation {
  readonly name: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** What goes wrong for people where nothing notices, in a sentence. */
  readonly why: string;
  readonly tests: readonly string[];
  /** Why no test can notice it, where that is so. */
  readonly equivalent?: string;
}

export type Change = Omit<Mutation, 'file' | 'tests'> & { readonly tests?: readonly string[] };

/** The mutations of one file. Those that name no tests have the file's. */
export function mutationsOf(file: string, tests: readonly string[], changes: readonly Change[]): Mutation[] {
  return changes.map((change) => ({ file, tests, ...change }));
}

/** The room of a mutation: the folder of `src/` that it changes. */
export function roomOf({ file }: Mutation): string {
  const [, room, next] = file.split('/');
  const isDivided = room === 'targets' || room === 'runtime';
  return isDivided && next?.includes('.') === false ? `${room}/${next}` : room!;
}

/** The source with the mutation in it. Throws where its text does not stand there exactly once. */
export function mutatedSource({ name, file, from, to }: Mutation): string {
  const source = readFileSync(file, 'utf8');
  const count = source.split(from).length - 1;
  if (count !== 1) {
    throw new Error(
      `mutation '${name}': its text stands ${count} times in ${file}, not once; write it anew:\n${from}`,
    );
  }
  return source.replace(from, () => to);
}

/** A module of the build. Throws where the source is not TypeScript. */
export async function transpiled(source: string): Promise<string> {
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  const { code } = await transform(source, {
    loader: 'ts',
    target: 'es2023',
    tsconfigRaw,
    logLevel: 'silent',
  });
  return code.replaceAll(/((?:from|import) |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"');
}
