// No command writes over a file that it reads, or writes as well, by whatever name either is given.

import { linkSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelText } from '#warpstage/runtime/model/device-file.js';
import { findModel } from '#warpstage/runtime/model/find-model.js';
import { Folder, npy, numbers, root, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const names = ['x.npy', 'job.ts', 'trace.json', 'device.json'] as const;
let contents: readonly Buffer[];
beforeAll(async () => {
  folder.file('x.npy', npy(numbers(1000)));
  folder.file('job.ts', readFileSync(`${root}examples/affine.ts`));
  const job = ['run', at('job.ts'), at('x.npy'), at('first.npy'), '--quiet'];
  expect((await runHere(...job, '--trace', at('trace.json'))).code).toBe(0);
  folder.file('device.json', modelText(findModel('c1060')));
  contents = names.map((name) => readFileSync(at(name)));
});

const at = (name: string) => folder.file(name);
const run = ['run', at('job.ts'), at('x.npy')];

/** Commands, each with a file that it must not write. */
const commands: readonly (readonly [file: string, command: (path: string) => readonly string[]])[] = [
  ['x.npy', (path) => [...run, path]],
  ['x.npy', (path) => [...run, at('y.npy'), '--trace', path]],
  ['job.ts', (path) => [...run, path]],
  ['job.ts', (path) => [...run, at('y.npy'), '--trace', path]],
  ['job.ts', (path) => ['emit', at('job.ts'), '--target', 'ir', '-o', path]],
  ['job.ts', (path) => ['check', at('job.ts'), '--sarif', path]],
  ['job.ts', (path) => ['check', at('job.ts'), '--stages', path]],
  ['trace.json', (path) => ['trace', at('trace.json'), '-o', path]],
  ['device.json', (path) => ['calibrate', '--device', `model:${at('device.json')}`, '-o', path]],
];

let links = 0;
const spellings: readonly (readonly [what: string, spell: (name: string) => string])[] = [
  ['its name', at],
  ['a roundabout path', (name) => `${folder.path}/.//${name}`],
  [
    'a symbolic link',
    (name) => {
      const link = at(`link${links++}-${name}`);
      symlinkSync(name, link);
      return link;
    },
  ],
  [
    'a hard link',
    (name) => {
      const link = at(`hard${links++}-${name}`);
      linkSync(at(name), link);
      return link;
    },
  ],
];

describe.each(spellings)('by %s', (_, spell) => {
  test.each(commands)('%s is not overwritten', async (name, command) => {
    const { code, stderr } = await runHere(...command(spell(name)));
    expect(stderr).toMatch(/that the command reads as well|is an input of the job/);
    expect(code).toBeGreaterThan(0);
    for (const [i, name] of names.entries())
      expect(readFileSync(at(name)).equals(contents[i]!), name).toBe(true);
  });
});

test('a trace takes the place of no output, nor of where one waits', async () => {
  mkdirSync(at('out'));
  symlinkSync('out', at('alias'));
  for (const trace of ['alias/y.npy', 'alias/.y.npy.partial', 'alias/.y.npy.journal']) {
    const { code, stderr } = await runHere(...run, at('out/y.npy'), '--resume', '--trace', at(trace));
    expect(stderr).toContain('that the command writes as well');
    expect(code).toBe(2);
  }
  const both = ['--sarif', at('out/found'), '--stages', at('alias/found')];
  const { code, stderr } = await runHere('check', at('job.ts'), ...both);
  expect(stderr).toContain(`is the file ${at('out/found')} that the command writes as well`);
  expect(code).toBe(2);
});
