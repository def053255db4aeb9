// Archives of arrays: stored and deflated, read by name, and written so that others read them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { joinedCrc } from '#warpstage/formats/zip-entry.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, floats, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { double } from './jobs.ts';
import { zip } from './zip-file.ts';

const integers = Int32Array.of(3, 1, 4, 1, 5, 9);
const files = {
  'x.npy': npyFile({ shape: [2500], data: floats }),
  'n.npy': npyFile({ descr: '<i4', shape: [2, 3], data: integers }),
  'readme.txt': Buffer.from('no array'),
};

describe.each([false, true])('an archive (deflated: %s)', (deflate) => {
  const whole = zip(files, deflate);

  test('is read by the names of its arrays', async () => {
    const path = file('a.npz', whole);
    expect((await readAll(path)).values).toEqual([...floats]);
    const { source, values } = await readAll(path, 'i32', { column: 'n' }, 4);
    expect(values).toEqual([...integers]);
    expect([source.shape, source.length]).toEqual([[2, 3], 6]);
    await expectFailure(readAll(path, 'f32', { column: 'z' }), 'WS5005', "no column 'z'", 'x, n');
  });

  test('that is damaged gives its values or an error of ours', { timeout: randomLimit(25) }, async () => {
    const path = join(temporaryDirectory(), 'a.npz');
    await fc.assert(
      fc.asyncProperty(damage, async (how) => {
        await readDamaged(path, 'npz', damaged(whole, how));
      }),
      randomRuns(25),
    );
  });

  test('whose data has changed is noticed', async () => {
    const changed = Buffer.from(whole);
    changed[800]! ^= 4;
    await expectFailure(readAll(file('a.npz', changed)), 'WS5003', 'x.npy of');
  });
});

test('an output is an archive of its array, whatever its length and when that is known', {
  timeout: randomLimit(6),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 999 }),
      fc.integer({ min: 1, max: 400 }),
      fc.boolean(),
      async (length, chunk, asStream) => {
        const values = Float32Array.from({ length }, (_, i) => i / 3);
        const output = join(temporaryDirectory(), 'out.npz');
        const stream = (async function* () {
          yield new Uint8Array(values.buffer);
        })();
        await run(double, { input: asStream ? stream : values, output, chunk });
        const { source, values: read } = await readAll(output, 'f32', { column: 'y' });
        expect(read).toEqual([...values.map((one) => 2 * one)]);
        expect(source.shape).toEqual([length]);
        const bytes = readFileSync(output);
        const npy = bytes.subarray(30 + 5 + 20, bytes.indexOf('PK\x07\x08', 'latin1'));
        expect(bytes.readUInt32LE(bytes.indexOf('PK\x07\x08', 'latin1') + 4)).toBe(crc32(npy));
      },
    ),
    randomRuns(6),
  );
});

test('a checksum is put together from those of both parts', { timeout: randomLimit(30) }, () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 70_000, size: 'max' }),
      (a, b) => {
        expect(joinedCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])));
      },
    ),
    randomRuns(30),
  );
});
