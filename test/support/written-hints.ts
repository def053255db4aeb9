// A hint put to the test: a text that fails gives it, and the text with what it says to write runs.
//
// What stands between « and » in the mended text is code of the hint. Both texts run with the same names.

import { expect } from 'vitest';
import { WarpstageError } from 'warpstage';

type Names = Readonly<Record<string, unknown>>;

/** The hints of what a text throws; undefined where it ends well. */
export async function hintsOf(text: string, names: Names): Promise<string | undefined> {
  try {
    await new Function(...Object.keys(names), `return (async () => { ${text} })()`)(...Object.values(names));
    return undefined;
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues.map(({ hint }) => hint).join('\n');
  }
}

/** The mended text without marks. Fails where what is marked in it is no code of the hint. */
export function unmarked(mended: string, hint: string): string {
  for (const [, code] of mended.matchAll(/«(.*?)»/gs)) expect(hint).toContain(code);
  return mended.replaceAll(/[«»]/g, '');
}

/** Expects a hint for a text, and that it mends the text. */
export async function expectMended(
  wrong: string,
  hint: string | RegExp,
  mended: string,
  run: (text: string) => Promise<string | undefined>,
): Promise<void> {
  const said = await run(wrong);
  if (typeof hint === 'string') expect(said).toBe(hint);
  else expect(said).toMatch(hint);
  expect(await run(unmarked(mended, said!))).toBeUndefined();
}
