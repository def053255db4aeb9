// An input that changes while it is read gives no output: part of it would be of the one, part of the other.

import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, type Job, open, type RunOptions, run } from 'warpstage';
import { affine, statistics } from './jobs.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

const at = useFolder();

const x = Float32Array.from({ length: 4000 }, (_, i) => i);
const makers: Readonly<Record<string, (path: string) => void>> = {
  'x.bin': (path) => writeFileSync(path, new Uint8Array(x.buffer)),
  'x.npy': (path) => writeFileSync(path, npyFile({ shape: [4000], data: x })),
  'x.parquet': (path) =>
    parquetWriteFile({
      filename: path,
      columnData: [{ name: 'x', data: Array.from(x), type: 'FLOAT' }],
      rowGroupSize: 500,
    }),
};

/** Runs a job, and does something to its input when it has begun. */
function runWhile(path: string, change: () => void, options: Partial<RunOptions> = {}) {
  // Written long ago, as far as the clock of the disk can tell.
  utimesSync(path, 1e9, 1e9);
  let changed = false;
  const onProgress = () => {
    if (!changed) change();
    changed = true;
  };
  return run(affine as Job, { input: path, output: at('y.npy'), chunk: 100, device, onProgress, ...options });
}

function overwrite(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4, 7), 0, 4, statSync(path).size - 4000);
  closeSync(file);
}

describe.each(Object.entries(makers))('%s', (name, make) => {
  beforeEach(() => make(at(name)));

  test.each<[string, (path: string) => void, RegExp]>([
    ['is written to', overwrite, /changed while it was read: it was written to at 2\S+Z$/],
    [
      'is written to, and its time of writing set back',
      (path) => {
        const { atime, mtime } = statSync(path);
        overwrite(path);
        utimesSync(path, atime, mtime);
      },
      /changed while it was read: it changed at 2\S+Z, though its time of writing is what it was$/,
    ],
    ['grows', (path) => appendFileSync(path, '0000'), /it had \d+ bytes, and has \d+$/],
    [
      'is replaced',
      (path) => {
        make(at('other'));
        renameSync(at('other'), path);
      },
      /there is another file of its name now$/,
    ],
  ])('that %s is reported, and gives no output', async (_, change, reported) => {
    for (const resume of [false, true]) {
      make(at(name));
      const failed = runWhile(at(name), () => change(at(name)), { resume });
      await expectFailure(
        failed,
        'WS5003',
        reported,
        'run it again when nothing writes to it, or on a copy of it',
      );
      expect(namesIn(at())).not.toContain('y.npy');
      // What was kept of it is not gone on with, as its input was another.
      if (!resume || name === 'x.parquet') continue;
      const again = run(affine, { input: at(name), output: at('y.npy'), chunk: 100, device, resume });
      await expectFailure(again, 'WS5013', /input 'x' was/);
    }
  });

  test('may be linked, get other rights, or be removed', async () => {
    await runWhile(at(name), () => {
      linkSync(at(name), at('link'));
      chmodSync(at(name), 0o600);
    });
    const once = readFileSync(at('y.npy'));
    await runWhile(at(name), () => rmSync(at(name)));
    expect(readFileSync(at('y.npy')).equals(once)).toBe(true);
  });
});

test('a job that only reduces its input is reported as well', async () => {
  writeFileSync(at('a.bin'), new Uint8Array(16_000));
  writeFileSync(at('b.bin'), new Uint8Array(32_000));
  let changed = false;
  const onProgress = () => {
    if (!changed) truncateSync(at('b.bin'), 32_008);
    changed = true;
  };
  const input = { a: at('a.bin'), b: at('b.bin') };
  await expectFailure(
    run(statistics as Job, { input, chunk: 100, device, onProgress } as RunOptions),
    'WS5003',
    /b\.bin changed while it was read/,
  );
});
