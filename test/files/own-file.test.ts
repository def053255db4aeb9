// What a former run left is gone on with only where nobody else can have made or changed it.

import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openOwn, ownMode } from '#warpstage/files/own-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-'));
  path = join(folder, '.y.partial');
  writeFileSync(path, 'left', { mode: ownMode });
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file of this user alone is opened; where there is none, nothing is', async () => {
  const file = await openOwn(path);
  expect(await file!.readFile('utf8')).toBe('left');
  await file!.close();
  expect(await openOwn(join(folder, 'none'))).toBeUndefined();
});

test.each([0o620, 0o602, 0o660])('one that others may write to (%o) is refused', async (mode) => {
  chmodSync(path, mode);
  await expect(openOwn(path)).rejects.toThrow('other users may write to it');
});

test('one that has another name is refused', async () => {
  linkSync(path, join(folder, 'other'));
  await expect(openOwn(path)).rejects.toThrow('it is a file of another name as well');
});

test('a link is refused, also to a file of this user', async () => {
  symlinkSync(path, join(folder, 'link'));
  await expect(openOwn(join(folder, 'link'))).rejects.toThrow('it is a symbolic link');
});

test('what is no file is refused', async () => {
  mkdirSync(join(folder, 'folder'));
  await expect(openOwn(join(folder, 'folder'))).rejects.toThrow('it is a directory');
});
