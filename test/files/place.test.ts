// Where paths lead: every spelling of a path is the same file, and another file is another.

import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { findOverwriting } from '#warpstage/files/overwriting.js';
import { fileIdentity, placeOf } from '#warpstage/files/place.js';

let top: string;
let links = 0;
beforeEach(() => {
  top = realpathSync.native(mkdtempSync(join(tmpdir(), 'warpstage-place-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  mkdirSync(join(top, 'a', 'b'), { recursive: true });
});

/** Ways to spell a path, each from any other spelling. */
const respellings = {
  // Not shortened on the way: `..` behind a link is elsewhere.
  relative: (path) => (isAbsolute(path) ? `${relative(process.cwd(), '/')}${path}` : path),
  dotted: (path) => `${dirname(path)}/./${basename(path)}`,
  doubled: (path) => path.replaceAll('/', '//'),
  roundabout: (path) =>
    `${dirname(path)}/../${basename(realpathSync.native(dirname(path)))}/${basename(path)}`,
  linkedFile: (path) => linkTo(join(realpathSync.native(dirname(path)), basename(path))),
  linkedFolder: (path) => `${linkTo(realpathSync.native(dirname(path)))}/${basename(path)}`,
  relativeLink: (path) => linkTo(relative(top, join(realpathSync.native(dirname(path)), basename(path)))),
} satisfies Record<string, (path: string) => string>;

/** Ways to spell the path of a file that is there. */
const respellingsOfFiles = {
  hardLink: (path) => {
    const name = join(top, `hard${links++}`);
    linkSync(realpathSync.native(path), name);
    return name;
  },
  descriptor: (path) => `/dev/fd/${opened(path)}`,
  ...(process.platform === 'linux' ? { proc: (path: string) => `/proc/self/fd/${opened(path)}` } : {}),
} satisfies Record<string, (path: string) => string>;

function linkTo(target: string): string {
  const name = join(top, `link${links++}`);
  symlinkSync(target, name);
  return name;
}

function opened(path: string): number {
  const file = openSync(path, 'r');
  onTestFinished(() => closeSync(file));
  return file;
}

const everywhere = fc.constantFrom(...Object.values(respellings));
const ofFiles = fc.constantFrom(...Object.values(respellingsOfFiles));
const spelt = (path: string, ways: readonly ((path: string) => string)[]) =>
  ways.reduce((path, respell) => respell(path), path);

test('however the path of a file is spelt, it is that file', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(everywhere, { maxLength: 4 }),
      fc.option(ofFiles, { nil: undefined }),
      fc.constantFrom('x', 'a/x', 'a/b/x'),
      async (exists, ways, last, name) => {
        const path = join(top, `${name}${links++}`);
        const other = `${path}.other`;
        if (exists) for (const file of [path, other]) writeFileSync(file, '');
        const steps = exists && last !== undefined ? [...ways, last] : ways;
        const spelling = spelt(path, steps);
        expect(await fileIdentity(spelling, 1)).toBe(await fileIdentity(path, 1));
        expect(await fileIdentity(spelling, 1)).not.toBe(await fileIdentity(other, 1));
        if (!steps.includes(respellingsOfFiles.hardLink)) expect((await placeOf(spelling)).path).toBe(path);
        expect(await findOverwriting([path], [other, spelling])).toEqual({
          path: spelling,
          other: path,
          kind: 'read',
        });
        expect(await findOverwriting([other], [path, spelling])).toEqual({
          path: spelling,
          other: path,
          kind: 'written',
        });
        expect(await findOverwriting([other], [spelling])).toBeUndefined();
      },
    ),
    { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 150) },
  );
});

test('a device that keeps nothing may be written as often as one likes; a standard stream once', async () => {
  expect(await findOverwriting(['/dev/null'], ['/dev/null', '/dev/null'])).toBeUndefined();
  expect(await findOverwriting(['-'], ['-'])).toBeUndefined();
  expect(await findOverwriting([], ['-', '-'])).toEqual({ path: '-', other: '-', kind: 'written' });
});

test('links in a circle, and below what is no folder, lead nowhere', async () => {
  symlinkSync('circle', join(top, 'circle'));
  await expect(placeOf(join(top, 'circle'))).rejects.toMatchObject({ code: 'ELOOP' });
  symlinkSync('two', join(top, 'one'));
  symlinkSync('one', join(top, 'two'));
  await expect(placeOf(join(top, 'two'))).rejects.toMatchObject({ code: 'ELOOP' });
  await expect(placeOf(join(top, 'absent', 'x'))).rejects.toMatchObject({ code: 'ENOENT' });
  writeFileSync(join(top, 'file'), '');
  await expect(placeOf(join(top, 'file', 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('what lies in a folder that is read, or written, is of it, whatever leads there', async () => {
  const at = (name: string) => join(top, name);
  mkdirSync(at('x.zarr/c'), { recursive: true });
  mkdirSync(at('y.zarr'));
  symlinkSync('x.zarr/c', at('chunks'));
  const found = async (reads: string[], writes: string[]) => {
    const { path, other, kind, lies } = (await findOverwriting(reads, writes)) ?? {};
    return path && [basename(path), basename(other!), kind, lies];
  };
  for (const inner of ['x.zarr/0', 'x.zarr/c/0', 'chunks/0'])
    expect(await found([at('x.zarr')], [at(inner)])).toEqual(['0', 'x.zarr', 'read', 'within']);
  expect(await found([], [at('y.zarr/0'), at('y.zarr')])).toEqual(['0', 'y.zarr', 'written', 'within']);
  expect(await found([], [at('y.zarr'), at('y.zarr/0')])).toEqual(['0', 'y.zarr', 'written', 'within']);
  writeFileSync(at('x.zarr/c/0'), '');
  expect(await found([at('chunks/0')], [at('x.zarr')])).toEqual(['x.zarr', '0', 'read', 'around']);
  expect(await found(['s3://b/x.zarr'], ['s3://b/x.zarr/c/0'])).toEqual(['0', 'x.zarr', 'read', 'within']);
  // What is beside it, or begins as it does, is not.
  expect(await found([at('x.zarr')], [at('y.zarr'), at('x.zarr.log'), at('z')])).toBe(undefined);
  expect(await found(['s3://b/x.zarr'], ['s3://b/x.zarr.2', 's3://b/y', 's3://b', '-'])).toBe(undefined);
});
