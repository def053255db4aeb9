// Loading the user's module: TypeScript and JavaScript, wherever the file lies, and what is said when it fails.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as warpstage from 'warpstage';
import { exportedKernels } from '#warpstage/cli/find-exports.js';
import { loadModule } from '#warpstage/cli/load-module.js';

const folder = mkdtempSync(join(tmpdir(), 'warpstage-load-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function failure(path: string): Promise<warpstage.WarpstageError> {
  const error: unknown = await loadModule(path).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(warpstage.WarpstageError);
  return error as warpstage.WarpstageError;
}

const kernelText = `
  import { kernel } from 'warpstage';
  import { offset } from './offset';
  export const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }) => { y[0] = a * y[0]! + 1; });
  export const shift: unknown = offset;
  export default scale;
  export const set = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = 1; }, { name: 'one' });
`;

test('a TypeScript module outside any package uses this very warpstage, and imports without extensions', async () => {
  write('offset.ts', 'export const offset: number = 3;');
  const module = await loadModule(write('kernels.ts', kernelText));
  expect(module.exports.shift).toBe(3);
  const kernels = exportedKernels(module);
  expect([...kernels].map(([name, kernel]) => [name, kernel.name]).sort()).toEqual([
    ['scale', 'scale'],
    ['set', 'one'],
  ]);
});

test('a JavaScript module loads alike', async () => {
  const path = write(
    'plain.mjs',
    "import { WarpstageError } from 'warpstage';\nexport const Same = WarpstageError;\n",
  );
  expect((await loadModule(path)).exports.Same).toBe(warpstage.WarpstageError);
});

test('a module that is missing, or that is a folder, is named', async () => {
  write('scale.ts', '');
  const missing = await failure(join(folder, 'scale'));
  expect(missing.message).toContain('there is no module');
  expect(missing.hint).toMatch(/^did you mean .*scale\.ts\?$/);
  expect((await failure(folder)).message).toContain('is not a file');
});

test('a module that throws is shown at its own line', async () => {
  const path = write(
    'throws.ts',
    'const limit: number = 3;\n\nfunction check(n: number): void {\n' +
      "  if (n > limit) throw new RangeError(n + ' is too much');\n}\ncheck(4);\n",
  );
  const error = await failure(path);
  expect(error.code).toBe('WS5002');
  expect(error.issues[0]!.message).toBe(`${path} threw while it was loaded: RangeError: 4 is too much`);
  expect(error.issues[0]!.location).toMatchObject({ file: path, line: 4 });
  expect(error.message).toContain('> 4 |   if (n > limit) throw');
});

test('a module that does not parse is shown at its own line', async () => {
  const path = write('syntax.ts', 'export const a = 1;\nexport const b: number = = 3;\n');
  const error = await failure(path);
  expect(error.issues[0]!.message).toContain('could not be parsed: ');
  expect(error.issues[0]!.location).toMatchObject({ file: path, line: 2 });
});

test('an import that is not there is named, with what to do', async () => {
  const path = write('imports.ts', "import { x } from 'no-such-package';\nexport const y = x;\n");
  const error = await failure(path);
  expect(error.issues[0]!.message).toBe(`${path} imports no-such-package, which was not found`);
  expect(error.hint).toBe('install it: `npm install no-such-package`');
});

test('an error that warpstage raises while the module loads is passed on whole', async () => {
  const path = write(
    'schema.ts',
    "import { kernel } from 'warpstage';\nexport const k = kernel({ y: 'f33[]' as 'f32[]' }, () => {});\n",
  );
  expect((await failure(path)).code).toBe('WS1010');
});

test('a default export without another name is called after its module', async () => {
  const path = write(
    'lone.ts',
    "import { kernel } from 'warpstage';\nexport default kernel({ y: 'f32[]' }, () => {});\n",
  );
  expect([...exportedKernels(await loadModule(path)).values()].map((kernel) => kernel.name)).toEqual([
    'lone',
  ]);
});
