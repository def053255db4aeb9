// What the program keeps of the modules that it loads lies where other users cannot write: they would have their
// code run by whoever loads a module of the same text.

import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Folder, outcomeOf, startWith } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

// An enum: no version of Node loads it by itself.
const module = folder.file(
  'job.ts',
  `import { kernel } from 'warpstage';
  enum Word { greeting }
  console.log(Word[0]);
  export const set = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = 1; });
`,
);

async function load(name: string, prepare: (cache: string, temporary: string) => void = () => {}) {
  const home = folder.file(name);
  const [cache, temporary] = [join(home, 'cache'), join(home, 'tmp')];
  for (const made of [home, temporary]) mkdirSync(made);
  prepare(cache, temporary);
  const environment = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: cache, TMPDIR: temporary };
  const { code, stdout, stderr } = await outcomeOf(
    startWith(['emit', module, '--target', 'ir'], 'pipe', environment),
  );
  expect(`${stdout}${stderr}`).toContain('greeting');
  expect(code).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
  return cache;
}

test('modules are kept in a folder of the own user, and nothing in the folder for temporary files', async () => {
  const cache = await load('own');
  expect(readdirSync(join(cache, 'warpstage'))).toContain('modules');
  for (const kept of readdirSync(join(cache, 'warpstage'))) {
    expect(readdirSync(join(cache, 'warpstage', kept)), kept).not.toEqual([]);
    expect(statSync(join(cache, 'warpstage', kept)).mode & 0o777, kept).toBe(0o700);
  }
});

test('nothing is kept where others may write', async () => {
  const cache = await load('shared', (planted) => {
    mkdirSync(planted);
    mkdirSync(join(planted, 'warpstage'));
    chmodSync(join(planted, 'warpstage'), 0o777);
  });
  expect(readdirSync(join(cache, 'warpstage'))).toEqual([]);
});

test('nothing is kept behind a link that leads to where others may write', async () => {
  const cache = await load('linked', (planted, temporary) => {
    mkdirSync(join(temporary, '..', 'bait'));
    chmodSync(join(temporary, '..', 'bait'), 0o777);
    symlinkSync(join(temporary, '..', 'bait'), planted);
  });
  expect(readdirSync(cache)).toEqual([]);
});
