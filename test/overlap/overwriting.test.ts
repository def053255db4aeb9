// A run never writes over what it reads, nor two outputs into one file, by whatever names they are given.

import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, job, kernel, open, run } from 'warpstage';
import { affine, twosAndThrees } from './jobs.ts';
import { expectFailure, namesIn, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

/** Folders for files, also one below /dev. */
const roots = [tmpdir(), ...(existsSync('/dev/shm') ? ['/dev/shm'] : [])];
const x = Float32Array.from({ length: 64 }, (_, i) => i);
const bytes = Buffer.from(x.buffer);

describe.each(roots)('in %s', (root) => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'warpstage-over-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(at('x.bin'), bytes);
  });
  const at = (name: string) => join(folder, name);

  test.each<[string, () => string]>([
    ['its own name', () => at('x.bin')],
    ['a relative path', () => relative(process.cwd(), at('x.bin'))],
    [
      'a symbolic link',
      () => {
        symlinkSync('x.bin', at('link.bin'));
        return at('link.bin');
      },
    ],
    [
      'a hard link',
      () => {
        linkSync(at('x.bin'), at('hard.bin'));
        return at('hard.bin');
      },
    ],
  ])('an input is not overwritten by %s', async (_, spell) => {
    const output = spell();
    const before = namesIn(folder);
    for (const resume of [false, true]) {
      await expectFailure(
        run(affine, { input: at('x.bin'), output, device, resume }),
        'WS5006',
        /is an input of the job( \(.+x\.bin\))?, and cannot be its output as well$/,
        'write to another name',
      );
    }
    expect(readFileSync(at('x.bin')).equals(bytes)).toBe(true);
    expect(namesIn(folder)).toEqual(before);
  });

  test('two outputs are not written into one file that is not there yet', async () => {
    symlinkSync('o.bin', at('link.bin'));
    const names = Object.keys(twosAndThrees.definition.outputs!);
    const integers = new Int32Array(6000);
    for (const second of [relative(process.cwd(), at('o.bin')), `${folder}/./o.bin`, at('link.bin')]) {
      const output = Object.fromEntries(names.map((name, i) => [name, i === 0 ? at('o.bin') : second]));
      await expectFailure(
        run(twosAndThrees as never, { input: integers, output, device } as never),
        'WS5006',
        /^.+ is given for two outputs \(.+o\.bin\)$/,
        'give each its own name',
      );
    }
    expect(namesIn(folder)).toEqual(['link.bin', 'x.bin']);
  });

  test('an input is not taken for what a former run left', async () => {
    for (const kind of ['partial', 'journal']) {
      writeFileSync(at(`.y.bin.${kind}`), bytes);
      symlinkSync(`.y.bin.${kind}`, at(kind));
      await expectFailure(
        run(affine, { input: at(kind), output: at('y.bin'), device, resume: true }),
        'WS5006',
        /is an input of the job \(.+\), and cannot be where its output waits until it is complete as well$/,
      );
      expect(readFileSync(at(kind)).equals(bytes)).toBe(true);
      rmSync(at(`.y.bin.${kind}`));
    }
  });

  test('a link to a file that is not there makes that file, and stays', async () => {
    symlinkSync('y.bin', at('link.bin'));
    for (const resume of [false, true]) {
      await run(affine, { input: at('x.bin'), output: at('link.bin'), device, resume });
      expect(readFileSync(at('y.bin')).length).toBe(bytes.length);
      expect(namesIn(folder)).toEqual(['link.bin', 'x.bin', 'y.bin']);
      rmSync(at('y.bin'));
    }
  });
});

test('standard output takes one output', async () => {
  const two = job({
    kernel: kernel({ y: 'f32[]', z: 'f32[]', x: 'readonly f32[]' }, ({ y, z, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= y.length) return;
      y[i] = x[i]!;
      z[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {}, z: {} },
  });
  await expectFailure(
    run(two, { input: x, output: ['-', '-'], device }),
    'WS5006',
    '- is given for two outputs',
  );
});

test('what is in a folder that is read stays, and so does an input in one that an output takes the place of', async () => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  await run(affine, { input: x, output: at('x.zarr'), device });
  const chunk = readFileSync(at('x.zarr/c.0'));
  await expectFailure(
    run(affine, { input: at('x.zarr'), output: { file: at('x.zarr/c.0'), format: 'raw' }, device }),
    'WS5006',
    /^the output .*c\.0 lies in .*x\.zarr, which is an input, with all that is in it$/,
    'write to a name elsewhere',
  );
  await expectFailure(
    run(affine, { input: { file: at('x.zarr/c.0'), format: 'raw' }, output: at('x.zarr'), device }),
    'WS5006',
    /^the input .*c\.0 lies in .*x\.zarr, whose place an output takes, with all that is in it$/,
    'write to a name elsewhere',
  );
  expect(readFileSync(at('x.zarr/c.0')).equals(chunk)).toBe(true);
  expect(namesIn(at('x.zarr'))).toEqual(['c.0', 'zarr.json']);
  // A folder in place of a file is refused as one.
  const failing = run(affine, { input: { file: at('x.zarr/c.0'), format: 'raw' }, output: at('.'), device });
  await expectFailure(failing, 'WS5006', /it is a directory/);
});
