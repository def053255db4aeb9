// Files that a command writes whole or not at all.

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

test('a device stays one', async () => {
  await writeWhole('/dev/null', 'nothing');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});
