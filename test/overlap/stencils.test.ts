// Stencils over two dimensions: each element sees rows before and after it, and columns to its left and right, wherever a
// chunk ends, with zeros or the nearest beyond the edges.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, job, kernel, open, type RunOptions, run } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { runHere } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 32 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();

interface Stencil {
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
  readonly channels: number;
  readonly edge: 'zero' | 'clamp';
}

/** Sums of what lies around each element, each with a weight of its own. */
const stencil = ({ rows, columns, channels, edge }: Stencil) =>
  job({
    kernel: kernel(
      {
        y: 'i32[]',
        x: 'readonly i32[]',
        width: 'index',
        tall: 'index',
        wide: 'index',
        channels: 'index',
      },
      ({ y, x, width, tall, wide, channels }, cuda) => {
        const stride = width + (wide - 1) * channels;
        for (let i = cuda.thisGrid().threadRank(); i < y.length; i += cuda.thisGrid().size()) {
          const row = Math.trunc(i / width);
          const column = i % width;
          let sum = 0;
          for (let r = 0; r < tall; r++)
            for (let c = 0; c < wide; c++)
              sum += x[(row + r) * stride + column + c * channels]! * (r * wide + c + 1);
          y[i] = sum;
        }
      },
      { name: 'stencil' },
    ),
    inputs: { x: { width: 'width', halo: { rows, columns, channels }, edge } },
    outputs: { y: { width: 'width' } },
    settings: { tall: rows[0] + rows[1] + 1, wide: columns[0] + columns[1] + 1, channels },
  }) as Job;

function inJavaScript(x: Int32Array, width: number, { rows, columns, channels, edge }: Stencil): Int32Array {
  const height = x.length / width;
  const across = width / channels;
  const wide = columns[0] + columns[1] + 1;
  return x.map((_, i) => {
    const [row, inRow] = [Math.floor(i / width), i % width];
    const [column, channel] = [Math.floor(inRow / channels), inRow % channels];
    let sum = 0;
    for (let r = -rows[0]; r <= rows[1]; r++) {
      for (let c = -columns[0]; c <= columns[1]; c++) {
        const near = [
          Math.max(0, Math.min(height - 1, row + r)),
          Math.max(0, Math.min(across - 1, column + c)),
        ] as const;
        const isBeyond = near[0] !== row + r || near[1] !== column + c;
        const value = edge === 'zero' && isBeyond ? 0 : x[near[0] * width + near[1] * channels + channel]!;
        sum += value * ((r + rows[0]) * wide + c + columns[0] + 1);
      }
    }
    return sum;
  });
}

const pair = fc.tuple(fc.nat(3), fc.nat(3)) as fc.Arbitrary<readonly [number, number]>;
const stencils = fc.record({
  rows: pair,
  columns: pair,
  channels: fc.integer({ min: 1, max: 3 }),
  edge: fc.constantFrom('zero' as const, 'clamp' as const),
});
const pictures = fc.record({
  around: stencils,
  height: fc.integer({ min: 1, max: 40 }),
  across: fc.integer({ min: 1, max: 12 }),
  chunk: fc.integer({ min: 1, max: 15 }),
});

/** A picture as a file of its shape, and its numbers. */
function pictureOf(height: number, across: number, channels: number) {
  const width = across * channels;
  const data = Int32Array.from({ length: height * width }, (_, i) => Math.imul(i + 1, 7919) % 1009);
  const shape = channels === 1 ? [height, across] : [height, across, channels];
  writeFileSync(at('x.npy'), npyFile({ descr: '<i4', shape, data }));
  return { data, width, shape };
}

const numbersIn = (name: string, length: number) => {
  const bytes = readFileSync(at(name));
  const data = bytes.subarray(bytes.length - 4 * length);
  return new Int32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
};

describe('a stencil over two dimensions', () => {
  test('sees what lies around each element, whatever the chunks', { timeout: randomLimit(40) }, async () => {
    await fc.assert(
      fc.asyncProperty(
        pictures,
        fc.constantFrom('file', 'array', 'stream', 'pinned'),
        async ({ around, height, across, chunk }, kind) => {
          const { data, width } = pictureOf(height, across, around.channels);
          const bytes = new Uint8Array(data.buffer);
          const pinned = device.allocPinned('i32', data.length);
          pinned.array.set(data);
          const input = {
            file: at('x.npy'),
            array: data,
            stream: { stream: [bytes.subarray(0, 12), bytes.subarray(12)] },
            pinned,
          }[kind]!;
          const { outputs } = await run(stencil(around), {
            input,
            device,
            chunk,
            ...(kind !== 'file' && { settings: { width } }),
          });
          pinned.free();
          expect((outputs as { y: Int32Array }).y).toEqual(inJavaScript(data, width, around));
        },
      ),
      randomRuns(40),
    );
  });

  test('is stopped and gone on with, and cut into pieces', { timeout: randomLimit(8) }, async () => {
    const cases = fc.record({ picture: pictures, of: fc.integer({ min: 1, max: 5 }), stop: fc.nat(6) });
    await fc.assert(
      fc.asyncProperty(cases, async ({ picture: { around, height, across, chunk }, of, stop }) => {
        const { data, width } = pictureOf(height, across, around.channels);
        const expected = inJavaScript(data, width, around);
        const options: RunOptions = { input: at('x.npy'), output: at('y.npy'), device, chunk, depth: 1 };
        const controller = new AbortController();
        let chunks = 0;
        const onProgress = () => {
          if (++chunks > stop) controller.abort();
        };
        const begun = { ...options, resume: true, signal: controller.signal, onProgress };
        await run(stencil(around), begun).catch((error: { code: string }) =>
          expect(error.code).toBe('WS5009'),
        );
        await run(stencil(around), { ...options, resume: true });
        expect(numbersIn('y.npy', data.length)).toEqual(expected);
        const whole = readFileSync(at('y.npy'));
        rmSync(at('y.npy'));
        for (let n = 1; n <= of; n++) await run(stencil(around), { ...options, shard: [n, of] });
        await merge({ file: at('y.npy') }, { signal, remove: true });
        expect(readFileSync(at('y.npy')).equals(whole)).toBe(true);
        expect(namesIn(at())).toEqual(['x.npy', 'y.npy']);
      }),
      randomRuns(8),
    );
  });

  test('shares its chunks among devices, with a limit of memory', async () => {
    const around = { rows: [2, 1], columns: [1, 2], channels: 1, edge: 'clamp' } as const;
    const { data, width } = pictureOf(500, 40, 1);
    const { outputs } = await run(stencil(around), {
      input: at('x.npy'),
      device: ['cpu', 'model:c2050'],
      chunk: 7,
      maxMemory: '4GiB',
    });
    expect((outputs as { y: Int32Array }).y).toEqual(inJavaScript(data, width, around));
  });

  test('of columns alone over many bytes, which pieces would compute without what is beside rows', async () => {
    const around = { rows: [0, 0], columns: [1, 1], channels: 1, edge: 'clamp' } as const;
    const width = 1100;
    const data = Int32Array.from({ length: 4000 * width }, (_, i) => i % 1013);
    writeFileSync(at('x.npy'), npyFile({ descr: '<i4', shape: [4000, width], data }));
    await run(stencil(around), { input: at('x.npy'), output: at('y.npy'), device });
    const expected = inJavaScript(data, width, around);
    expect(Buffer.from(numbersIn('y.npy', data.length).buffer).equals(Buffer.from(expected.buffer))).toBe(
      true,
    );
  });

  test('is checked as it runs: within its chunk, and not beyond', async () => {
    const text = (reach: number) => `import { job, kernel } from 'warpstage';
const blurred = kernel({ y: 'f32[]', x: 'readonly f32[]', width: 'index' }, ({ y, x, width }, cuda) => {
  const stride = width + 2;
  const image = x.shaped([Math.trunc(x.length / stride), stride]);
  for (let i = cuda.thisGrid().threadRank(); i < y.length; i += cuda.thisGrid().size()) {
    const row = Math.trunc(i / width);
    const column = i % width;
    let sum: f32 = 0;
    for (let r = 0; r < 3; r++) for (let c = 0; c < ${reach}; c++) sum += image[row + r]![column + c]!;
    y[i] = sum / 9;
  }
});
export const blur = job({
  kernel: blurred,
  inputs: { x: { width: 'width', halo: { rows: [1, 1], columns: [1, 1] }, edge: 'clamp' } },
  outputs: { y: { width: 'width' } },
});\n`;
    writeFileSync(at('blur.ts'), text(3));
    const { code, text: said, stderr } = await runHere('check', at('blur.ts'));
    expect(code, said + stderr).toBe(0);
    writeFileSync(at('wide.ts'), text(4));
    const wrong = await runHere('check', at('wide.ts'));
    expect([wrong.code, wrong.text + wrong.stderr]).toEqual([1, expect.stringMatching(/image|WS7/)]);
  });

  test('is refused where its halo is none', async () => {
    const around = { rows: [0, 0], columns: [1, 1], channels: 3, edge: 'zero' } as const;
    await expectFailure(
      run(stencil(around), { input: new Int32Array(40), settings: { width: 4 }, device }),
      'WS5005',
      /has rows of 4 elements, which make no whole columns of 3, as the halo of 'x' says/,
      'say how many elements a column has: halo: { columns: [1, 1], channels: 1 }',
    );
    const { definition } = stencil(around);
    for (const [halo, message] of [
      [{ rows: 1 }, 'inputs.x.halo.rows of the job must be two counts, [before, after], and is 1'],
      [{ columns: [1] }, 'inputs.x.halo.columns of the job must be two counts, [left, right], and is [1]'],
      [{ channels: 0 }, 'inputs.x.halo.channels of the job must be a positive count of elements, and is 0'],
      [{ column: [1, 1] }, 'inputs.x.halo.column of the job is unknown'],
      [
        3,
        'inputs.x.halo of the job must be two counts of rows, [before, after], and is 3\n  hint: in two directions: { rows: [1, 1], columns: [1, 1] }',
      ],
    ] as const) {
      const declared = { ...definition, inputs: { x: { width: 'width', halo } } };
      expect(() => job(declared as never)).toThrow(message);
    }
  });
});
