// Damaged files: whole ones with bytes of them changed, cut off or repeated, and what reading them gives.

import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { WarpstageError } from 'warpstage';
import { openFile, sourceOf } from '#warpstage/formats/open-file.js';
import { newArray } from '#warpstage/formats/typed-arrays.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';

/** As many milliseconds of the processor as a damaged file of some kilobytes may take. */
const longest = 2000;

/** What happens to a file's bytes. `place`: of 0 to 1, where in it. */
export const damage = fc.array(
  fc.record({
    place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    how: fc.constantFrom('flip', 'set', 'set', 'ones', 'cut', 'repeat'),
    value: fc.nat(255),
  }),
  { minLength: 1, maxLength: 4 },
);

/** A copy of bytes, damaged. */
export function damaged(
  bytes: Uint8Array,
  how: typeof damage extends fc.Arbitrary<infer T> ? T : never,
): Uint8Array {
  let result = Buffer.from(bytes);
  for (const { place, how: kind, value } of how) {
    const at = Math.floor(place * result.length);
    if (kind === 'flip') result[at]! ^= 1 << (value & 7);
    else if (kind === 'set') result[at] = value;
    else if (kind === 'ones') result.subarray(at, at + 1 + (value & 7)).fill(0xff);
    else if (kind === 'cut')
      result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1 + value)]);
    else result = Buffer.concat([result.subarray(0, at), result.subarray(Math.max(0, at - value))]);
  }
  return result;
}

/**
 * Writes a file and reads all arrays of it, or of the store that it is in, and says how that ended: with all of them, or with how many errors. Throws where an
 * error is none of ours, or where it took too long.
 */
export async function readDamaged(
  path: string,
  format: string,
  bytes: Uint8Array,
  file = path,
): Promise<'whole' | number> {
  writeFileSync(path, bytes);
  const opened: { close(): Promise<void> }[] = [];
  let errors = 0;
  const began = process.cpuUsage();
  const attempt = async (read: () => Promise<void>) => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof WarpstageError)) throw error;
      errors++;
    }
  };
  try {
    await attempt(async () => {
      const { format: found, contents } = await openFile({ file, format }, 'f32', (one) => opened.push(one));
      for (const { name } of contents.arrays) {
        await attempt(async () => {
          const wanted = wantedOf('x', 'f32', {
            convert: 'nearest',
            nulls: 0,
            ...(name && { column: name }),
          });
          const source = await sourceOf(file, found, contents, wanted);
          const into = newArray('f32', 1000);
          for (let elements = 0; (await source.read(into)) === into.length; ) {
            elements += into.length;
            if (elements > 1e6) throw new Error(`it has no end`);
          }
        });
      }
    });
  } finally {
    for (const one of opened) await one.close();
  }
  const { user, system } = process.cpuUsage(began);
  const took = (user + system) / 1000;
  if (took > longest) throw new Error(`it took ${took} ms`);
  return errors === 0 ? 'whole' : errors;
}
