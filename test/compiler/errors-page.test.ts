// The examples of docs/errors.md for kernels' texts: the first of each code gives that error, the second compiles.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Code } from '#warpstage/diagnostics/codes.js';
import { WarpstageError } from '#warpstage/diagnostics/error.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const sections = [...page.matchAll(/^### (WS10\d\d): .*\n([\s\S]*?)(?=^##)/gm)]
  .map(([, code, body]) => ({
    code: code as Code,
    examples: [...body!.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, example]) => example!),
  }))
  .filter(({ examples }) => examples.length > 0);

const specialisation = { block: [32, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;

/** Compiles the last kernel that an example declares. */
function compile(example: string) {
  const name = [...example.matchAll(/^const (\w+) = kernel\(/gm)].at(-1)![1];
  const { code } = transformSync(example, { loader: 'ts' });
  const made = new Function('kernel', 'deviceFunction', `${code}\nreturn ${name};`)(kernel, deviceFunction);
  return specialise(made, specialisation);
}

describe.each(sections)('$code', ({ code, examples: [wrong, mended] }) => {
  test('is what its example gives', () => {
    let thrown: unknown;
    try {
      compile(wrong!);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(WarpstageError);
    expect(thrown).toMatchObject({ code, issues: [{ code }] });
  });

  test('is mended as the page says', () => {
    expect(compile(mended!).program.parameters.length).toBeGreaterThan(0);
  });
});

test('the page begins with an error as it is', () => {
  const shown = /^```text\n([\s\S]*?)\n```/m.exec(page)![1];
  const script = `const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = factor * y[i];
});
scale;
`;
  const context = vm.createContext({ kernel });
  const scale = vm.runInContext(script, context, { filename: '/home/me/scale.js' }) as Kernel;
  let message = '';
  try {
    specialise(scale, specialisation);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toBe(shown);
});
