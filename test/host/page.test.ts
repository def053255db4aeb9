// The program of docs/host.md, run as it stands there by somebody who has installed the package.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'warpstage-host-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the program of the page prints the sum of what the worker made', async () => {
  const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'docs/host.md'), 'utf8'))!;
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/warpstage'));
  writeFileSync(join(folder, 'sum.mjs'), program!);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'sum.mjs')]);
  expect(stdout).toBe(`${4096 * ((99 * 100) / 2)}\n`);
});
