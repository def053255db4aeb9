// Kernels as real tools hand them to the runtime, each in a process of its own.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { interpreter } from '../support/interpreter.ts';
import { runProgram } from '../support/run-program.ts';
import { everyOf } from '../support/thorough.ts';
import { type Compiled, compile } from './fixtures/compile.ts';

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
async function reported(args: readonly string[], own: Record<string, string> = {}): Promise<Compiled> {
  // tsx would take the sources of the package for it, by the project's own settings.
  const env = {
    TSX_TSCONFIG_PATH: fileURLToPath(new URL('../../tsconfig.build.json', import.meta.url)),
    ...own,
  };
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '', ...env } });
  return JSON.parse(stdout) as Compiled;
}

/** The report, bundled into one file. */
async function bundle(name: string, options: BuildOptions): Promise<string> {
  const outfile = join(folder, name);
  const tsconfigRaw = {};
  await build({
    entryPoints: [report],
    outfile,
    bundle: true,
    platform: 'node',
    logLevel: 'error',
    tsconfigRaw,
    ...options,
  });
  return outfile;
}

/** Where a file says `outside` in the wrong kernel, and what the error says about it. */
async function expectedIssue(file: string, word: string) {
  const lines = (await readFile(file, 'utf8')).split('\n');
  const at = lines.findLastIndex((line) => line.includes(word));
  const location = { file, line: at + 1, column: lines[at]!.lastIndexOf(word) + 1, length: word.length };
  return { code: 'WS1002', message: `'${word}' is captured from outside the function`, location };
}

/** What the program makes of 32 numbers. */
function result(program: Program): Float32Array {
  const y = Float32Array.from({ length: 32 }, (_, i) => i / 7);
  const { fault } = runProgram(interpreter(), program, { grid: 1, arguments: { y, gain: 0.75 } });
  expect(fault).toBeNull();
  return y;
}

async function expectAsWritten(compiled: Compiled): Promise<void> {
  expect(compiled.printed).toBe(compile().printed);
  expect(compiled.issues).toMatchObject([await expectedIssue(kernels, 'outside')]);
}

describe('the same program, and errors that point at the file as it was written', () => {
  test('under vitest', async () => {
    const { program, issues } = compile();
    expect(issues).toMatchObject([await expectedIssue(kernels, 'outside')]);
    const sums = Array.from({ length: 32 }, (_, i) => {
      const x = Math.fround(i / 7);
      let sum = 0.5;
      for (let k = 0; k < 3; k++) sum = Math.fround(sum + Math.fround(Math.fround(x * 2) + 0.75));
      return sum > 10 ? Math.min(sum, 12) : Math.fround(sum - 1);
    });
    expect(Array.from(result(program))).toEqual(sums.reverse());
  });

  test('under tsx', async () => {
    await expectAsWritten(await reported(['--import', 'tsx', report]));
  });

  test('under jiti, with source maps and without', async () => {
    const jiti = fileURLToPath(new URL('../lib/jiti-cli.mjs', import.meta.resolve('jiti')));
    const env = { JITI_FS_CACHE: '0' };
    await expectAsWritten(await reported([jiti, report], { ...env, JITI_SOURCE_MAPS: '1' }));
    await expectAsWritten(await reported([jiti, report], env));
  });

  const bundles: readonly [string, BuildOptions][] = [
    ['esm.mjs', { format: 'esm', sourcemap: true }],
    ['bare.mjs', { format: 'esm', sourcemap: true, sourcesContent: false }],
    ['cjs.cjs', { format: 'cjs', sourcemap: 'inline' }],
    ['named.mjs', { format: 'esm', sourcemap: true, keepNames: true }],
  ];
  test.each(everyOf(2, bundles))('bundled by esbuild as %s', async (name, options) => {
    const outfile = await bundle(name, options);
    // Node may read the source map too, for its own stack traces.
    await expectAsWritten(await reported(['--enable-source-maps', outfile]));
  });

  test('with coverage by V8', async () => {
    const env = { NODE_V8_COVERAGE: join(folder, 'coverage') };
    await expectAsWritten(await reported(['--import', 'tsx', report], env));
  });
});

const minified: readonly [string, BuildOptions][] = [
  ['small.mjs', { format: 'esm', sourcemap: true }],
  ['small-named.mjs', { format: 'esm', sourcemap: true, keepNames: true }],
  ['small.cjs', { format: 'cjs', sourcemap: 'inline' }],
];
test.each(everyOf(2, minified))(
  'minified by esbuild as %s: the same results, and errors that point at the file as it was written',
  async (name, options) => {
    const { program, issues } = await reported([await bundle(name, { minify: true, ...options })]);
    expect(issues).toMatchObject([await expectedIssue(kernels, 'outside')]);
    expect(result(program)).toEqual(result(compile().program));
  },
);

test('without a source map, errors point at the bundle', async () => {
  const outfile = await bundle('lost.mjs', { format: 'esm' });
  const { issues } = await reported([outfile]);
  expect(issues).toMatchObject([await expectedIssue(outfile, 'outside')]);
});

test('minified without a source map, the error says what is written there', async () => {
  const outfile = await bundle('lost-small.mjs', { format: 'esm', minify: true, keepNames: true });
  const { program, issues } = await reported([outfile]);
  expect(result(program)).toEqual(result(compile().program));
  const { file, line, column, length } = issues[0]!.location!;
  expect(file).toBe(outfile);
  const name = (await readFile(outfile, 'utf8'))
    .split('\n')
    [line - 1]!.slice(column - 1, column - 1 + length);
  expect(issues[0]!.message).toBe(`'${name}' is captured from outside the function`);
});
