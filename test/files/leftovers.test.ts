// Folders of one process: those of killed ones go, and nothing else does.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  folderOfProcess,
  removeLeftovers,
  replacedName,
  restoreReplaced,
} from '#warpstage/files/leftovers.js';
import { temporaryDirectory } from '../overlap/support.ts';

const module = import.meta.resolve('#warpstage/files/leftovers.js');

/** Has another process make a folder with a file in it, and be killed. */
function killedIn(within: string, kind: string): string {
  const { stdout, signal } = spawnSync(process.execPath, [
    '--input-type=module',
    '-e',
    `import { writeFileSync, writeSync } from 'node:fs';
import { folderOfProcess } from ${JSON.stringify(module)};
const folder = folderOfProcess(${JSON.stringify(within)}, ${JSON.stringify(kind)});
writeFileSync(folder + '/store', 'of the killed');
writeSync(1, folder);
process.kill(process.pid, 'SIGKILL');`,
  ]);
  expect(signal).toBe('SIGKILL');
  return String(stdout);
}

test('a folder of a killed process goes with the next of its kind', () => {
  const within = temporaryDirectory();
  const left = killedIn(within, 'warpstage-queue');
  const [, place, pid] = /-([0-9a-f]{8})-(\d+)-\w{6}$/.exec(left)!;
  expect(existsSync(join(left, 'store'))).toBe(true);
  const other = killedIn(within, '.warpstage-plan');
  // Of another kind, machine or form, of a process that lives, or no folder: it stays.
  const stays = [
    basename(other),
    `warpstage-queue-${place === '00000000' ? '00000001' : '00000000'}-${pid}-abcdef`,
    `warpstage-queue-${place}-${process.ppid}-abcdef`,
    `warpstage-queue-${place}-${pid}-abcdefg`,
    `warpstage-queue-more-${place}-${pid}-abcdef`,
    `my-warpstage-queue-${place}-${pid}-abcdef`,
    `warpstage-queue-${place}-${pid}-`,
  ];
  for (const name of stays.slice(1)) mkdirSync(join(within, name));
  writeFileSync(join(within, `warpstage-queue-${place}-${pid}-aFiles`), '');
  symlinkSync(other, join(within, `warpstage-queue-${place}-${pid}-aLinks`));
  const before = readdirSync(within);
  const made = folderOfProcess(within, 'warpstage-queue');
  const expected = [...before.filter((name) => name !== basename(left)), basename(made)];
  expect(readdirSync(within).sort()).toEqual(expected.sort());
  expect(existsSync(join(other, 'store'))).toBe(true);
  // Its own process lives.
  expect(folderOfProcess(within, 'warpstage-queue')).not.toBe(made);
  expect(existsSync(made)).toBe(true);
});

/** A folder under the name that a killed process has given what it was about to replace. */
function replacedIn(within: string, name: string): string {
  const script = `import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { replacedName } from ${JSON.stringify(module)};
const folder = replacedName(${JSON.stringify(join(within, name))});
mkdirSync(folder);
writeFileSync(folder + '/zarr.json', 'of before');
writeSync(1, folder);
process.kill(process.pid, 'SIGKILL');`;
  return String(spawnSync(process.execPath, ['--input-type=module', '-e', script]).stdout);
}

test('what was about to be replaced has its name back, if there is nothing of it', async () => {
  const within = temporaryDirectory();
  const final = join(within, 'y.zarr');
  const left = replacedIn(within, 'y.zarr');
  const other = replacedIn(within, 'z.zarr');
  // Of a process that lives.
  const own = replacedName(final);
  mkdirSync(own);
  await removeLeftovers(within);
  await restoreReplaced(final);
  expect(readdirSync(within).sort()).toEqual([basename(own), basename(other), 'y.zarr'].sort());
  expect(readFileSync(join(final, 'zarr.json'), 'utf8')).toBe('of before');
  const again = replacedIn(within, 'y.zarr');
  await restoreReplaced(final);
  expect(existsSync(again)).toBe(true);
  await removeLeftovers(within);
  expect([existsSync(left), existsSync(again), existsSync(other)]).toEqual([false, false, true]);
});
