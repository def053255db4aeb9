// No command writes over a file that it reads, or writes as well, by whatever name either is given.

import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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

describe('neither a trace nor a log takes the place of what this run, or another, has beside its outputs', () => {
  const more = `import { map, reduce, sequence } from 'warpstage';
export const two = map({ low: 'f32', high: 'f32', x: 'f32' }, ({ x }) => ({ low: x, high: 2 * x }));
export const sum = reduce({ sum: 'f32', x: 'f32' }, ({ x }) => x);
const shift = map({ y: 'f32', x: 'f32', by: 'f32' }, ({ x, by }) => x - by);
export const shifted = sequence([sum, { job: shift, settings: (by: number) => ({ by }) }]);
`;
  const commands: readonly (readonly [besides: string, args: () => readonly string[]])[] = [
    ['beside/.y.npy.partial', () => [...run, at('beside/y.npy')]],
    ['beside/.y.npy.journal', () => [...run, at('beside/y.npy')]],
    ['beside/.y.npy.state-1', () => [...run, at('beside/y.npy')]],
    ['beside/y.npy.sums', () => [...run, at('beside/y.npy')]],
    ['beside/y.npy.2-of-3', () => [...run, at('beside/y.npy'), '--shard', '1/3']],
    ['beside/y.npy.1-of-3', () => [...run, at('beside/y.npy'), '--shard', '1/3']],
    [
      'beside/.all.npz.partial-high',
      () => ['run', at('more.ts'), at('x.npy'), at('beside/all.npz'), '--job', 'two'],
    ],
    [
      'beside/all.npz.low.1-of-2',
      () => ['run', at('more.ts'), at('x.npy'), at('beside/all.npz'), '--job', 'two'],
    ],
    [
      'beside/.sums.journal',
      () => ['run', at('more.ts'), at('x.npy'), '--job', 'sum', '--journal', at('beside/sums')],
    ],
    [
      'beside/.y.npy.pass-1.journal',
      () => ['run', at('more.ts'), at('x.npy'), at('beside/y.npy'), '--job', 'shifted', '--resume'],
    ],
    ['beside/y.zarr/c.0', () => [...run, at('beside/y.zarr')]],
    ['beside/.y.zarr.partial/c.0', () => [...run, at('beside/y.zarr')]],
    ['x.zarr/c.0', () => ['run', at('job.ts'), at('x.zarr'), at('beside/y.npy')]],
    ['device.json', () => [...run, at('beside/y.npy'), '--device', `model:${at('device.json')}`]],
  ];
  beforeAll(async () => {
    writeFileSync(at('more.ts'), more);
    expect((await runHere(...run, at('x.zarr'), '--quiet')).code).toBe(0);
    mkdirSync(at('beside'));
    symlinkSync('beside', at('aside'));
  });

  test.each(commands)('%s', async (besides, args) => {
    mkdirSync(dirname(at(besides)), { recursive: true });
    const isThere = /^(x|device)/.test(besides);
    if (!isThere) writeFileSync(at(besides), 'kept');
    const before = readFileSync(at(besides));
    const link = at(`to-${links++}`);
    symlinkSync(besides, link);
    for (const path of [at(besides), at(besides.replace('beside', 'aside')), link]) {
      for (const option of ['--trace', '--log']) {
        const { code, stderr } = await runHere(...args(), option, path);
        expect(stderr).toMatch(
          new RegExp(`${option} .* (is|lies in) .* that the command (reads|writes) as well`),
        );
        expect(stderr).toContain('give it a name of its own');
        expect(code).toBe(2);
        expect(readFileSync(at(besides)).equals(before)).toBe(true);
      }
    }
  });

  test('and others pass', async () => {
    const args = ['--quiet', '--trace', at('beside/y.npy.trace.json'), '--log', at('beside/y.npy.log')];
    expect(await runHere(...run, at('beside/y.npy'), ...args)).toMatchObject({ code: 0, stderr: '' });
  });
});
