// Runs to be resumed, in a folder where other users may write: what they plant under the names of a former run's
// files is neither gone on with, nor followed, nor changed.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, open, type RunOptions, run } from 'warpstage';
import { stranger, strangerRuns } from '../support/stranger.ts';
import { affine } from './jobs.ts';
import { expectFailure, namesIn, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

let folder: string;
let options: RunOptions;
beforeEach(() => {
  folder = temporaryDirectory();
  chmodSync(folder, 0o1777);
  writeFileSync(at('x.bin'), new Uint8Array(new Float32Array(1000).fill(3).buffer));
  writeFileSync(at('dear.bin'), 'a file of the user');
  options = { input: at('x.bin'), output: at('y.bin'), chunk: 100, device, resume: true };
});
const at = (name: string) => join(folder, name);

/** Leaves what a run leaves that is stopped. */
async function stopped(): Promise<void> {
  const controller = new AbortController();
  let chunks = 0;
  const onProgress = () => {
    if (++chunks === 4) controller.abort();
  };
  await expectFailure(run(affine, { ...options, signal: controller.signal, onProgress }), 'WS5009', '');
}

const asThem = { uid: stranger, gid: stranger };
function theirs(script: string): void {
  expect(spawnSync('sh', ['-c', script], { ...asThem, encoding: 'utf8' }).stderr).toBe('');
}

/** What may stand under a name, in the place of the file that a former run left there, if it did. */
const plants: readonly (readonly [what: string, plant: (path: string) => void, why: RegExp])[] = [
  [
    'a symbolic link to the very file',
    (path) => {
      if (existsSync(path)) renameSync(path, at('moved'));
      else writeFileSync(at('moved'), '');
      symlinkSync('moved', path);
    },
    /it is a symbolic link/,
  ],
  [
    "a symbolic link to the user's file",
    (path) => {
      rmSync(path, { force: true });
      symlinkSync('dear.bin', path);
    },
    /it is a symbolic link/,
  ],
  [
    'a symbolic link to nothing',
    (path) => {
      rmSync(path, { force: true });
      symlinkSync('created.bin', path);
    },
    /it is a symbolic link/,
  ],
  [
    "a hard link to the user's file",
    (path) => {
      rmSync(path, { force: true });
      linkSync(at('dear.bin'), path);
    },
    /it is a file of another name as well/,
  ],
  [
    'a file that others may write to',
    (path) => {
      if (!existsSync(path)) writeFileSync(path, '');
      chmodSync(path, 0o666);
    },
    /other users may write to it/,
  ],
  [
    'a folder',
    (path) => {
      rmSync(path, { force: true });
      mkdirSync(path);
    },
    /it is a directory/,
  ],
  [
    'a pipe',
    (path) => {
      rmSync(path, { force: true });
      expect(spawnSync('mkfifo', ['-m', '600', path]).status).toBe(0);
    },
    /it is no regular file/,
  ],
];
const plantsOfOthers: typeof plants = [
  [
    'a copy of another user',
    (path) => {
      const content = existsSync(path) ? readFileSync(path) : Buffer.from('');
      rmSync(path, { force: true });
      writeFileSync(at('copy'), content);
      theirs(`cat ${at('copy')} > ${path} && chmod 644 ${path}`);
    },
    new RegExp(`it belongs to another user \\(${stranger}\\)`),
  ],
  [
    "another user's link to their own copy",
    (path) => {
      const content = existsSync(path) ? readFileSync(path) : Buffer.from('');
      rmSync(path, { force: true });
      writeFileSync(at('copy'), content);
      theirs(`cp ${at('copy')} ${at('their-copy')} && ln -s their-copy ${path}`);
    },
    /it is a symbolic link/,
  ],
];

describe.each(['.y.bin.partial', '.y.bin.journal'])('under %s', (name) => {
  describe.each([
    ['that a former run left', stopped],
    ['where none was', async () => {}],
  ])('%s', (_, prepare) => {
    test.each([...plants, ...(strangerRuns ? plantsOfOthers : [])])(
      '%s is refused',
      async (_, plant, why) => {
        await prepare();
        plant(at(name));
        const before = look();
        const error = await expectFailure(
          run(affine, options),
          'WS5013',
          why,
          'delete it to begin anew, or run without resume',
        );
        expect(error.issues[0]!.message).toContain(`${name} cannot be gone on with: `);
        expect(look()).toEqual(before);
        await run(affine, { ...options, resume: false });
        expect(look()).toMatchObject(before);
        expect(readFileSync(at('y.bin'))).toHaveLength(4000);
      },
    );
  });
});

/** All that can be seen of the folder. */
function look(): Record<string, string> {
  return Object.fromEntries(
    namesIn(folder).map((name) => {
      const about = lstatSync(at(name));
      const content = about.isFile() ? readFileSync(at(name)).toString('latin1') : '';
      return [name, `${about.ino} ${about.mode} ${about.uid} ${content}`];
    }),
  );
}

test('what waits is for this user alone, and what is complete as it would be without', async () => {
  const modes = { new: statSync(at('x.bin')).mode & 0o777, replaced: 0o640 };
  for (const [kind, mode] of Object.entries(modes)) {
    if (kind === 'replaced') chmodSync(at('y.bin'), mode);
    await stopped();
    for (const name of ['.y.bin.partial', '.y.bin.journal'])
      expect(statSync(at(name)).mode & 0o777).toBe(0o600);
    await run(affine, options);
    expect(statSync(at('y.bin')).mode & 0o777).toBe(mode);
  }
});

test('a sign of another umask is not lost', async () => {
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  await run(affine, options);
  expect(statSync(at('y.bin')).mode & 0o777).toBe(0o600);
});
