import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { WindowReader } from '#warpstage/overlap/window.js';
import { expectFailure } from './support.ts';

/** Rows `begin` to `end` of `data`, with the edge where there are none. */
function windowOf(data: Float32Array, width: number, begin: number, end: number, edge: 'zero' | 'clamp') {
  const rows = data.length / width;
  const window: number[] = [];
  for (let row = begin; row < end; row++) {
    const nearest = Math.max(0, Math.min(rows - 1, row));
    for (let i = 0; i < width; i++) {
      window.push(edge === 'zero' && nearest !== row ? 0 : data[nearest * width + i]!);
    }
  }
  return window;
}

test('every chunk comes with its neighbours, whatever the lengths', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        rows: fc.nat(60),
        width: fc.integer({ min: 1, max: 3 }),
        before: fc.nat(12),
        after: fc.nat(12),
        chunk: fc.integer({ min: 1, max: 20 }),
        edge: fc.constantFrom('zero', 'clamp'),
        known: fc.boolean(),
        piece: fc.integer({ min: 1, max: 50 }),
      }),
      async ({ rows, width, before, after, chunk, edge, known, piece }) => {
        const data = Float32Array.from({ length: rows * width }, (_, i) => i + 1);
        const bytes = new Uint8Array(data.buffer);
        const pieces = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, i) =>
          bytes.subarray(i * piece, (i + 1) * piece),
        );
        const source = await new OpenInputs().open(
          known ? data : { stream: pieces },
          wantedOf('x', 'f32', {}),
        );
        const reader = new WindowReader(source, { width, before, after, edge });
        for (let begin = 0; ; ) {
          const into = new Float32Array((before + chunk + after) * width).fill(-1);
          const got = await reader.next(into, chunk);
          expect(got).toBe(Math.min(chunk, rows - begin));
          if (got === 0) break;
          const window = into.subarray(0, (before + got + after) * width);
          expect([...window]).toEqual(windowOf(data, width, begin - before, begin + got + after, edge));
          begin += got;
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('a last row that is not whole is an error', async () => {
  const source = await new OpenInputs().open({ stream: [new Float32Array(10)] }, wantedOf('x', 'f32', {}));
  const reader = new WindowReader(source, { width: 4, before: 0, after: 0, edge: 'zero' });
  const message = "the stream given for 'x' ends within a row: its last row has 2 of 4 elements";
  await expectFailure(reader.next(new Float32Array(40), 10), 'WS5005', message);
});
