// Kernels as real tools hand them to the runtime, each in a process of its own.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const kernels = fixture('kernels.ts');
const report = fixture('report.ts');

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'warpstage-tools-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the report in a process of Node. */
async function reported(args: readonly string[], env: Record<string, string> = {}) {
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '', ...env } });
  return JSON.parse(stdout);
}

/** The report, bundled into one file. */
async function bundle(name: string, options: BuildOptions): Promise<string> {
  const outfile = join(folder, name);
  const tsconfigRaw = {};
  await build({ entryPoints: [report], outfile, bundle: true, platform: 'node', tsconfigRaw, ...options });
  return outfile;
}

/** Where the mark is in the file as it was written. */
async function written() {
  const lines = (await readFile(kernels, 'utf8')).split('\n');
  const at = lines.findIndex((line) => line.includes('12345'));
  const column = lines[at]!.indexOf('12345') + 1;
  return { mark: { file: kernels, line: at + 1, column, length: 5 }, line: lines[at]! };
}

describe('errors point at the file as it was written', () => {
  test('under tsx', async () => {
    expect(await reported(['--import', 'tsx', report])).toEqual(await written());
  });

  test('under jiti, with source maps and without', async () => {
    const jiti = fileURLToPath(new URL('../lib/jiti-cli.mjs', import.meta.resolve('jiti')));
    expect(await reported([jiti, report], { JITI_FS_CACHE: '0', JITI_SOURCE_MAPS: '1' })).toEqual(
      await written(),
    );
    expect(await reported([jiti, report], { JITI_FS_CACHE: '0' })).toEqual(await written());
  });

  test.each<[string, BuildOptions]>([
    ['plain.mjs', { format: 'esm', sourcemap: true }],
    ['plain.cjs', { format: 'cjs', sourcemap: 'inline' }],
    ['small.mjs', { format: 'esm', sourcemap: true, minify: true }],
    ['small.cjs', { format: 'cjs', sourcemap: 'inline', minify: true }],
    ['named.mjs', { format: 'esm', sourcemap: true, minify: true, keepNames: true }],
    ['bare.mjs', { format: 'esm', sourcemap: true, sourcesContent: false }],
  ])('bundled by esbuild as %s', async (name, options) => {
    expect(await reported([await bundle(name, options)])).toEqual(await written());
  });

  test('with coverage by V8', async () => {
    const env = { NODE_V8_COVERAGE: join(folder, 'coverage') };
    expect(await reported(['--import', 'tsx', report], env)).toEqual(await written());
  });

  test('with source maps enabled in Node itself', async () => {
    const outfile = await bundle('enabled.mjs', { format: 'esm', sourcemap: true });
    expect(await reported(['--enable-source-maps', outfile])).toEqual(await written());
  });
});

test.each([false, true])(
  'without a source map, errors point at the bundle (minified: %s)',
  async (minify) => {
    const outfile = await bundle(`lost-${minify}.mjs`, { format: 'esm', minify });
    const { mark, line } = await reported([outfile]);
    expect(mark).toMatchObject({ file: outfile, length: 5 });
    expect(line.slice(mark.column - 1)).toMatch(/^12345/);
  },
);
