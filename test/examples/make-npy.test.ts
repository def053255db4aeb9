// The program that makes data for the examples: it is where the pages say, ships with them, and makes what they read.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Folder, readNpy, root, runHere } from '../cli/support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

test('makes an array that an example runs over', async () => {
  const path = folder.file('x.npy');
  execFileSync(process.execPath, [join(root, 'examples/make-npy.mjs'), path, '4Kx2', '--seed', '7']);
  expect((await runHere('info', path)).text).toMatch(/type +f32 .*\n +shape +\(4096, 2\)/);
  expect((await runHere('run', 'examples/affine.ts', path, folder.file('y.npy'), '-q')).code).toBe(0);
  expect(readNpy(folder.file('y.npy'))).toHaveLength(8192);
});

test('is named on the pages and in the examples by a path that is there', () => {
  const pages = ['README.md', ...['docs', 'examples'].flatMap((name) => filesIn(name))];
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(
        /(?:node|tsx) ((?:scripts|examples)\/[\w/-]+\.\w+)/g,
      ),
    ].map(([, path]) => path!),
  );
  expect(named).toContain('examples/make-npy.mjs');
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** The pages and programs in a folder. */
function filesIn(name: string): string[] {
  return readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(md|ts|mjs)$/.test(path))
    .map((path) => join(name, path));
}
