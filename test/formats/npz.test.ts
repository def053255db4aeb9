// Archives of arrays: stored and deflated, read by name, and written so that others read them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { joinedCrc } from '#warpstage/formats/zip-entry.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, floats, readAll } from '../overlap/reading.ts';
import { expectFailure, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { double } from './jobs.ts';

/** An archive, as it is written where all sizes are known before. */
function zip(files: Readonly<Record<string, Uint8Array>>, deflate: boolean): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let at = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const data = deflate ? deflateRawSync(bytes) : Buffer.from(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(deflate ? 8 : 0, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(data.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), about, Buffer.from(name), data);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(at, 10);
    index.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), about, more, Buffer.from(name));
    at += 30 + name.length + data.length;
  }
  const all = Buffer.concat(index);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(all.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, all, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

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
