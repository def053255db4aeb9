// Checksums beside outputs: `verify` finds every byte that is not as it was written, and nothing else.

import { appendFileSync, existsSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, map, open, type RunOptions, run, WarpstageError } from 'warpstage';
import { Checksum } from '#warpstage/files/checksum.js';
import { PartSums, partBytes } from '#warpstage/files/part-sums.js';
import { readSums } from '#warpstage/overlap/sums.js';
import { verify } from '#warpstage/overlap/verify.js';
import { runHere } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { affine } from './jobs.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();

const x = Float32Array.from({ length: 4000 }, (_, i) => i);
const affineTo = (output: string, options: Partial<RunOptions> = {}) =>
  run(affine, { input: at('x.npy'), output: at(output), device, chunk: 100, checksum: true, ...options });
const changed = map({ y: 'u8', x: 'u8' }, ({ x }) => x + 1);

function sumOf(bytes: Uint8Array): string {
  const checksum = new Checksum();
  checksum.update(bytes);
  return checksum.value;
}

function flip(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= 1;
  writeFileSync(path, bytes);
}

test('sums of parts are those of their bytes, in whatever pieces these come', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 << 20 }), { maxLength: 12 }),
      fc.integer({ min: 0, max: 2 }),
      (lengths, more) => {
        const whole = new Uint8Array(lengths.reduce((sum, length) => sum + length, more * partBytes)).fill(7);
        const parts = new PartSums();
        let done = 0;
        for (const length of [...lengths, whole.length]) {
          parts.update(whole.subarray(done, done + length));
          done = Math.min(whole.length, done + length);
        }
        const expected: string[] = [];
        for (let begin = 0; begin < whole.length; begin += partBytes)
          expected.push(sumOf(whole.subarray(begin, begin + partBytes)));
        expect(parts.sums).toEqual(expected);
        expect(parts.bytes).toBe(whole.length);
      },
    ),
    { numRuns: 8 },
  );
});

describe('of an output of several parts', () => {
  const length = 3 * partBytes + 1000;
  beforeEach(async () => {
    const input = new Uint8Array(length).map((_, i) => i * 7);
    await run(changed, { input, output: at('y.u8'), device, checksum: true });
  });

  test('a byte that changed is found, in its part', async () => {
    expect((await runHere('verify', at('y.u8'))).text).toBe(
      `${at('y.u8')}: 4 parts read (48.0 MiB), as it was written\n`,
    );
    flip(at('y.u8'), 2 * partBytes + 5);
    const { code, text, stderr } = await runHere('verify', at('y.u8'));
    expect(text).toContain('4 parts read (48.0 MiB), not as it was written');
    expect(stderr).toContain(
      `WS5014: bytes 33,554,432 to 50,331,648 of ${at('y.u8')} are not what they were`,
    );
    expect(code).toBe(4);
    // As often as a subset has the part: one of t.
    for (const t of [1, 2, 3, 5]) {
      const found: number[] = [];
      let read = 0;
      for (let n = 1; n <= t; n++) {
        const one = await verify(at('y.u8'), { subset: [n, t], signal });
        read += one.read;
        if (one.differences.length > 0) found.push(n);
      }
      expect(read).toBe(4);
      expect(found).toEqual([(2 % t) + 1]);
    }
    for (const wrong of ['0/3', '4/3', '3', 'x/y', '1/0']) {
      expect((await runHere('verify', at('y.u8'), '--subset', wrong)).code).toBe(2);
    }
  });

  test('bytes that are missing, or too many', async () => {
    truncateSync(at('y.u8'), partBytes + 1);
    expect((await verify(at('y.u8'), { signal })).differences).toEqual([
      { path: at('y.u8'), begin: partBytes + 1, end: length, kind: 'missing' },
    ]);
    await run(changed, { input: new Uint8Array(3), output: at('y.u8'), device, checksum: true });
    appendFileSync(at('y.u8'), 'x');
    expect((await verify(at('y.u8'), { signal })).differences).toEqual([
      { path: at('y.u8'), begin: 3, end: 4, kind: 'added' },
    ]);
  });
});

describe('the file of checksums', () => {
  beforeEach(() => writeFileSync(at('x.npy'), npyFile({ shape: [4000], data: x })));

  test('says what the output was computed from', async () => {
    await affineTo('y.npy', { settings: { a: 3 } });
    expect(await readSums(at('y.npy'))).toMatchObject({
      bytes: 16_128,
      sums: [sumOf(readFileSync(at('y.npy')))],
      job: 'affine',
      settings: { a: '3' },
      inputs: [{ path: at('x.npy'), bytes: 16_128, sum: sumOf(readFileSync(at('x.npy'))) }],
    });
    expect((await runHere('verify', at('y.npy'), '--inputs')).code).toBe(0);
    flip(at('x.npy'), 5000);
    expect((await runHere('verify', at('y.npy'))).code).toBe(0);
    const { code, stderr } = await runHere('verify', at('y.npy'), '--inputs');
    expect(stderr).toContain(`of ${at('x.npy')} are not what they were`);
    expect(code).toBe(4);
  });

  test('is right where the header is written last', async () => {
    const bytes = Buffer.from(x.buffer);
    await run(affine, {
      input: { stream: Readable.from([bytes]) },
      output: at('y.npy'),
      device,
      checksum: true,
    });
    expect(readFileSync(at('y.npy'), 'latin1')).toContain('(4000,)');
    expect((await verify(at('y.npy'), { signal })).differences).toEqual([]);
  });

  test('goes with its output', async () => {
    await affineTo('y.npy');
    await affineTo('y.npy', { checksum: false });
    expect(namesIn(at())).toEqual(['x.npy', 'y.npy']);
    await expectFailure(verify(at('y.npy'), { signal }), 'WS5003', /there are no checksums of/, /--checksum/);
    writeFileSync(at('y.npy.sums'), 'of somebody else');
    await affineTo('y.npy', { checksum: false });
    expect(readFileSync(at('y.npy.sums'), 'utf8')).toBe('of somebody else');
    await affineTo('y.npy');
    expect((await verify(at('y.npy'), { signal })).differences).toEqual([]);
    await expectFailure(affineTo('z.npy', { settings: { a: Number.NaN, b: 1000 } }), 'WS5008', /b/);
    expect(namesIn(at())).toEqual(['x.npy', 'y.npy', 'y.npy.sums']);
  });

  test('takes the place of no input, and of nothing where nothing is to be overwritten', async () => {
    writeFileSync(at('z.bin.sums'), new Uint8Array(x.buffer));
    const input = { file: at('z.bin.sums'), format: 'raw' };
    await expectFailure(
      affineTo('z.bin', { input }),
      'WS5006',
      /cannot be where the checksums of its output/,
    );
    await expectFailure(affineTo('z.bin', { overwrite: false }), 'WS5006', /z\.bin\.sums is there already/);
    expect(existsSync(at('z.bin'))).toBe(false);
  });

  test('that is damaged in any way is refused', async () => {
    await affineTo('y.npy');
    const whole = readFileSync(at('y.npy.sums'));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.constantFrom('bit', 'cut', 'more'),
        async (position, mask, how) => {
          const damaged = Buffer.from(whole);
          damaged[position]! ^= mask;
          const text = {
            bit: damaged,
            cut: whole.subarray(0, position),
            more: Buffer.concat([whole, damaged]),
          };
          writeFileSync(at('y.npy.sums'), text[how]);
          const error = await readSums(at('y.npy')).catch((reason: unknown) => reason);
          expect(error).toBeInstanceOf(WarpstageError);
          expect((error as WarpstageError).code).toBe('WS5003');
        },
      ),
      randomRuns(50),
    );
  });
});

describe('with resume', () => {
  const interrupted = async () => {
    const controller = new AbortController();
    const onProgress = ({ rows }: { rows: number }) => {
      if (rows >= 2000) controller.abort();
    };
    const options = { resume: true, signal: controller.signal, onProgress };
    await expectFailure(affineTo('y.npy', options), 'WS5009', 'stopped');
  };
  beforeEach(() => writeFileSync(at('x.npy'), npyFile({ shape: [4000], data: x })));

  test('checksums are those of a run that was not interrupted, and inputs are known by their content', async () => {
    await affineTo('whole.npy');
    await interrupted();
    expect(namesIn(at())).toContain('.y.npy.journal');
    utimesSync(at('x.npy'), 1e9, 1e9);
    const { report } = await affineTo('y.npy', { resume: true });
    expect(report.resumed!.rows).toBeGreaterThanOrEqual(1000);
    expect((await readSums(at('y.npy'))).sums).toEqual((await readSums(at('whole.npy'))).sums);
    expect(namesIn(at())).toEqual(['whole.npy', 'whole.npy.sums', 'x.npy', 'y.npy', 'y.npy.sums']);
  });

  test('an input that has other content is another, though its size and times are the same', async () => {
    utimesSync(at('x.npy'), 1e9, 1e9);
    await interrupted();
    flip(at('x.npy'), 200);
    utimesSync(at('x.npy'), 1e9, 1e9);
    await expectFailure(affineTo('y.npy', { resume: true }), 'WS5013', /input 'x' was .*checksum .*checksum/);
  });
});
