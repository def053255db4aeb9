// What the program keeps of the modules that it loads lies where other users cannot write: they would have their
// code run by whoever loads a module of the same text.

import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Folder, outcomeOf, root, startWith } from './support.ts';

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
  expect(readdirSync(join(cache, 'warpstage'))).toContainEqual(expect.stringMatching(/^modules-/));
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

test('what another version made of a module is not taken for what this one makes', async () => {
  const home = folder.file('versions');
  const copy = join(home, 'package');
  mkdirSync(copy, { recursive: true });
  for (const part of ['package.json', 'dist'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const inKernel = folder.file(
    'in-kernel.ts',
    `import { kernel } from 'warpstage';
    enum Word { greeting = 7 }
    export const set = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = Word.greeting; });
  `,
  );
  const emit = async () => {
    const environment = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
    const program = [join(copy, 'dist/cli/main.js'), 'emit', inKernel, '--target', 'ir'];
    return outcomeOf(spawn(process.execPath, program, { env: environment }));
  };
  expect(String((await emit()).stdout)).toContain('y[0] = 7');

  // The other version writes no enum's value into a kernel.
  const visitor = /TSEnumDeclaration\(path\) ?\{/;
  const changed = readdirSync(join(copy, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) => {
    if (!file.endsWith('.js')) return false;
    const text = readFileSync(join(copy, 'dist', file), 'utf8');
    writeFileSync(join(copy, 'dist', file), text.replace(visitor, '$& return;'));
    return visitor.test(text);
  });
  expect(changed).toHaveLength(1);
  expect((await emit()).stderr).toContain("WS1002: 'Word' is captured");
});
