// Files that a command writes whole or not at all.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeWhole } from '#warpstage/cli/write-whole.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'whole-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file that is replaced keeps its rights', async () => {
  const path = join(folder, 'trace.json');
  writeFileSync(path, 'before');
  chmodSync(path, 0o600);
  await writeWhole(path, ['one, ', 'two']);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one, two', 0o600]);
});

test('where a piece fails, the file stays as it was and nothing lies beside it', async () => {
  const path = join(folder, 'trace.json');
  writeFileSync(path, 'before');
  const pieces = function* () {
    yield 'some';
    throw new Error('no more');
  };
  await expect(writeWhole(path, pieces())).rejects.toThrow('WS5006');
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['trace.json'], 'before']);
});

test('what a killed process has written of one goes with the next', async () => {
  const path = join(folder, 'trace.json');
  const module = import.meta.resolve('#warpstage/cli/write-whole.js');
  const script = `import { writeWhole } from ${JSON.stringify(module)};
await writeWhole(${JSON.stringify(path)}, (function* () {
  yield 'some';
  process.kill(process.pid, 'SIGKILL');
  yield 'more';
})());`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  expect([signal, readdirSync(folder).length]).toEqual(['SIGKILL', 1]);
  await writeWhole(path, 'whole');
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['trace.json'], 'whole']);
});

test('a device stays one', async () => {
  await writeWhole('/dev/null', 'nothing');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});
