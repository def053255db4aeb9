// What is loaded when: a process opens few files, and waits for nothing that it does not need.
//
// The imports of the published files are followed, those inside functions left out.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const published = ['.', 'chunks', 'checker', 'cli', 'formats', 'host'].flatMap((folder) =>
  readdirSync(join(dist, folder))
    .filter((file) => file.endsWith('.js'))
    .map((file) => join(folder, file)),
);
const { inputs } = (
  await build({
    entryPoints: published.map((file) => join(dist, file)),
    absWorkingDir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: dist,
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
).metafile;

/** The files that a file loads before its first line runs, itself among them; packages by their names. */
function loadedWith(file: string): readonly string[] {
  const found = new Set([file]);
  for (const path of found)
    for (const { path: next, kind } of inputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !next.startsWith('node:')) found.add(next);
  return [...found].sort();
}

/** Files of chunks. `name+`: that chunk in its two parts. */
const chunks = (...names: string[]) =>
  names
    .flatMap((name) => (name.endsWith('+') ? [`${name.slice(0, -1)}-portable`, name.slice(0, -1)] : [name]))
    .map((name) => `chunks/${name}.js`);

test('the package loads no device, and of the compiler what reads a function of rows', () => {
  expect(loadedWith('index.js')).toEqual([
    'acorn',
    ...chunks('diagnostics', 'formats+', 'warpstage+'),
    'index.js',
  ]);
});

test('the command line loads the package, and nothing that runs a kernel', () => {
  expect(loadedWith('cli/main.js')).toEqual([...chunks('start'), 'cli/main.js']);
  expect(loadedWith('chunks/command.js')).toEqual([
    'acorn',
    ...chunks('command', 'common-portable', 'common-to-few', 'common', 'diagnostics', 'formats+', 'start'),
    ...chunks('warpstage+'),
    'commander',
  ]);
});

/** What a run of `y = a * x + b` over so many elements loads. */
function loadedByRun(folder: string, elements: number): readonly string[] {
  const [input, loaded] = [join(folder, 'x.f32'), join(folder, 'loaded')];
  writeFileSync(input, new Uint8Array(4 * elements));
  rmSync(loaded, { recursive: true, force: true });
  const example = fileURLToPath(new URL('../../examples/affine.ts', import.meta.url));
  execFileSync(
    process.execPath,
    [join(dist, 'cli/main.js'), 'run', example, input, join(folder, 'y.f32'), '--quiet'],
    { env: { ...process.env, NODE_V8_COVERAGE: loaded, WARPSTAGE_CACHE: join(folder, 'cache') } },
  );
  // Of each thread a file, with the scripts that it has loaded.
  const scripts = readdirSync(loaded).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(loaded, file), 'utf8')) as {
      result: { url: string }[];
    };
    return result.map(({ url }) => url);
  });
  const here = `${pathToFileURL(dist).href}/`;
  const own = scripts.filter((url) => url.startsWith(here)).map((url) => url.slice(here.length));
  return [...new Set(own)].sort();
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-loading-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const ofEveryRun = [
  ...chunks('command', 'common+', 'common-to-few', 'cpu+', 'diagnostics', 'formats+'),
  ...chunks('run+', 'runtime+', 'start', 'warpstage+'),
  'cli/main.js',
  'index.js',
];
const thatCompile = chunks('analysis', 'compiler', 'wasm');

test('a run on the CPU loads neither the checker, nor other devices, nor the page', () => {
  expect(loadedByRun(temporaryFolder(), 64)).toEqual([...ofEveryRun, ...thatCompile].sort());
});

test('a run whose kernel was kept loads nothing that compiles', () => {
  const folder = temporaryFolder();
  expect(loadedByRun(folder, 5_000_000)).toEqual([...ofEveryRun, ...thatCompile].sort());
  expect(loadedByRun(folder, 5_000_000)).toEqual([...ofEveryRun].sort());
});

/** The files that one loads beyond those of the package itself. */
const loadedBeyondPackage = (file: string) => {
  const ofPackage = loadedWith('index.js');
  return loadedWith(file).filter((path) => !ofPackage.includes(path));
};

test('the driver is started before the compiler and the device are loaded', () => {
  expect(loadedBeyondPackage('chunks/driver.js')).toEqual(chunks('driver'));
});

test('a GPU loads nothing of the CPU and of the interpreter', () => {
  expect(loadedBeyondPackage('chunks/cuda.js')).toEqual(
    chunks('analysis', 'common-portable', 'compiler', 'cuda', 'driver', 'runtime+', 'start'),
  );
});

test('a thread that decodes loads formats alone', () => {
  expect(loadedWith('formats/decoding-thread.js')).toEqual([
    ...chunks('diagnostics', 'formats+'),
    'formats/decoding-thread.js',
  ]);
});

test("what users' programs import has nothing of the command line", () => {
  const files = published.filter((file) => !/^(cli\/|chunks\/(command|cli-|queue\.))/.test(file));
  expect(files.filter((file) => loadedWith(file).includes('commander'))).toEqual([]);
});

test('no published file needs one that is not published', () => {
  expect(Object.keys(inputs).sort()).toEqual(published.toSorted());
});
