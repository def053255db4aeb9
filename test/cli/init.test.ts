// `warpstage init`: its project has right types, runs, and is clean; what is there already stays.

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { atLength } from '../support/thorough.ts';
import { Folder, outcomeOf, root, runHere, start } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());
const files = ['.gitignore', 'affine.test.ts', 'affine.ts', 'data.npy', 'package.json', 'tsconfig.json'];

test.runIf(atLength)('makes a project that runs, has right types and passes its tests', async () => {
  const project = folder.file('My Project');
  const made = await runHere('init', project);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.text).toContain(`cd ${project}`);
  expect(readdirSync(project).sort()).toEqual(files);
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const ours = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({
    name: 'my-project',
    type: 'module',
    dependencies: { warpstage: `^${ours.version}` },
  });

  await mkdir(join(project, 'node_modules'));
  for (const name of ['vitest', 'typescript'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  symlinkSync(root, join(project, 'node_modules/warpstage'));
  const [command, ...argv] = (manifest.scripts.start as string).split(' ');
  expect(command).toBe('warpstage');
  const ran = await outcomeOf(start([...argv, '--quiet'], { cwd: project }));
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(join(project, 'out.npy'))).toBe(true);
  const checked = await outcomeOf(start(['check', 'affine.ts'], { cwd: project }));
  expect(checked.code).toBe(0);

  expect(manifest.scripts.test).toBe('tsc && vitest run');
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: project });
  const tests = await run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run'], {
    cwd: project,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, VITEST: undefined },
  });
  expect(tests.stdout).toContain('2 passed');
});

test('depends on a tarball by its path from the project', async () => {
  const project = folder.file('tarball');
  expect(await runHere('init', project, '--package', folder.file('warpstage-0.1.0.tgz'))).toMatchObject({
    code: 0,
  });
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(dependencies.warpstage).toBe('file:../warpstage-0.1.0.tgz');
});

test.each(files)('writes nothing where %s is there', async (name) => {
  const project = folder.file('taken');
  await mkdir(project, { recursive: true });
  writeFileSync(join(project, name), 'mine');
  const { code, stderr } = await runHere('init', project);
  expect(code).toBe(2);
  expect(stderr).toContain(`WS6001: ${join(project, name)} is there already`);
  expect(readdirSync(project)).toEqual([name]);
  expect(readFileSync(join(project, name), 'utf8')).toBe('mine');
  rmSync(project, { recursive: true });
});

test('says why a folder cannot be made', async () => {
  writeFileSync(folder.file('file'), '');
  const { code, stderr } = await runHere('init', join(folder.file('file'), 'project'));
  expect(code).toBe(74);
  expect(stderr).toMatch(/^WS5006: .* cannot be written: /);
});
