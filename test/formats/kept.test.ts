// What an encoding keeps for a run that goes on behind its elements: another one that has it restored writes the same bytes
// from there on, also where it is asked for when more was encoded since.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Encoding } from '#warpstage/formats/format.js';
import { formatOfName } from '#warpstage/formats/registry.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';

const endings = ['parquet', 'arrow', 'arrows', 'npz', 'csv', 'ndjson.gz', 'npy.gz', 'arrow.gz'];

function encodingOf(ending: string, element: 'f32' | 'u8' | 'i64'): Encoding {
  const name = `y.${ending}`;
  return formatOfName(name)!.encode!({ name, parameter: 'y', element });
}

const arrays = { f32: Float32Array, u8: Uint8Array, i64: BigInt64Array } as const;

test('an encoding goes on where another was, whatever that has done since', {
  timeout: randomLimit(24),
}, async () => {
  const cases = fc.record({
    ending: fc.oneof(fc.constantFrom('parquet', 'arrow'), fc.constantFrom(...endings)),
    element: fc.constantFrom('f32' as const, 'u8' as const, 'i64' as const),
    width: fc.integer({ min: 1, max: 2 }),
    // Some groups of Parquet, or batches of Arrow; text takes longer.
    rows: fc.oneof(fc.nat(2000), fc.integer({ min: 270_000, max: 600_000 })),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
    begin: fc.integer({ min: 1, max: 60_000 }),
    at: fc.nat(5),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ ending, element, width, rows: wanted, cuts, begin, at }) => {
      const rows = /csv|json/.test(ending) ? Math.min(wanted, 20_000) : wanted;
      const shape = width === 1 ? [rows] : [rows, width];
      const numbers = Float64Array.from({ length: rows * width }, (_, i) => (i * 7919) % 251);
      const data =
        element === 'i64' ? BigInt64Array.from(numbers, BigInt) : arrays[element].from(numbers as never);
      // The first is within the first group or batch, and is kept half the time.
      const first = Math.min(rows, begin) * width;
      const more = cuts.map((cut) => Math.floor(cut * rows) * width);
      const ends = [first, ...more, data.length].sort((a, b) => a - b);
      const kept = at < 3 ? ends.indexOf(first) : Math.min(at, ends.length - 1);

      const whole = encodingOf(ending, element);
      const pieces: Uint8Array[] = [whole.begin?.(shape) ?? new Uint8Array()];
      let keep: () => Uint8Array = () => new Uint8Array();
      let before = 0;
      for (const [i, end] of ends.entries()) {
        const part = data.subarray(ends[i - 1] ?? 0, end) as Float32Array;
        pieces.push((await whole.encode!(part)).slice());
        if (i !== kept) continue;
        keep = whole.keep!();
        before = Buffer.concat(pieces).length;
      }
      const state = keep();
      pieces.push((await whole.end?.(shape)) ?? new Uint8Array());
      const expected = Buffer.concat(pieces);

      const other = encodingOf(ending, element);
      other.begin?.(shape);
      await other.restore?.(state);
      const rest: Uint8Array[] = [];
      for (const [i, end] of ends.entries()) {
        if (i > kept)
          rest.push((await other.encode!(data.subarray(ends[i - 1]!, end) as Float32Array)).slice());
      }
      rest.push((await other.end?.(shape)) ?? new Uint8Array());
      expect(Buffer.concat(rest).equals(expected.subarray(before))).toBe(true);
    }),
    randomRuns(24),
  );
});
