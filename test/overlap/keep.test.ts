// Jobs that keep some of their rows: what is written is what a filter in JavaScript leaves, in order, whatever the chunks,
// the devices and the formats, and wherever a run was stopped.

import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, job, kernel, map, open, type RunOptions, run } from 'warpstage';
import { randomRuns } from '../differential/tape.ts';
import { copyOf } from '../formats/jobs.ts';
import { file, readAll } from './reading.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';

let device: Device;
let other: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
  other = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(async () => {
  await device.close();
  await other.close();
});

const at = useFolder();

/** Keeps the rows whose first number is greater than a limit; gives them and their positions. */
const greater = job({
  kernel: kernel(
    {
      ...{ y: 'i32[]', place: 'u32[]', kept: 'u8[]', x: 'readonly i32[]' },
      ...{ limit: 'i32', width: 'index', start: 'index' },
    },
    ({ y, place, kept, x, limit, width, start }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= kept.length) return;
      for (let k = 0; k < width; k++) y[i * width + k] = x[i * width + k]! - 1;
      place[i] = cuda.u32(start + i);
      kept[i] = x[i * width]! > limit ? 3 : 0;
    },
    { name: 'greater' },
  ),
  inputs: { x: { width: 'width' } },
  outputs: { y: { width: 'width' }, place: {} },
  settings: { limit: 0 },
  offset: 'start',
  keep: 'kept',
});

/** The same in JavaScript. */
function filtered(x: Int32Array, width: number, limit: number) {
  const rows = Array.from({ length: x.length / width }, (_, row) => row).filter(
    (row) => x[row * width]! > limit,
  );
  return {
    place: rows,
    y: rows.flatMap((row) => [...x.subarray(row * width, (row + 1) * width)].map((value) => value - 1)),
  };
}

const numbers = (length: number) =>
  Int32Array.from({ length }, (_, i) => (Math.imul(i, 0x9e3779b1) >> 8) % 100);

describe('what is written is what a filter leaves', () => {
  const cases = fc.record({
    rows: fc.integer({ min: 1, max: 90 }),
    width: fc.integer({ min: 1, max: 3 }),
    limit: fc.integer({ min: -110, max: 110 }),
    chunk: fc.integer({ min: 1, max: 30 }),
    depth: fc.integer({ min: 1, max: 3 }),
    two: fc.boolean(),
  });

  test('in memory, whatever the chunks, those in flight and the devices', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, width, limit, chunk, depth, two }) => {
        const x = numbers(rows * width);
        const expected = filtered(x, width, limit);
        const { outputs, report } = await run(greater, {
          ...{ input: x, settings: { limit, width }, chunk, depth, device: two ? [device, other] : device },
        });
        expect([...outputs.y!]).toEqual(expected.y);
        expect([...outputs.place!]).toEqual(expected.place);
        expect(report).toMatchObject({
          ...{ rows, keptRows: expected.place.length },
          bytesOut: 4 * expected.place.length * (width + 1),
        });
      }),
      randomRuns(30),
    );
  });

  test.each(['npy', 'npz', 'bin', 'csv', 'ndjson', 'parquet', 'arrow', 'npy.gz'])(
    'in .%s',
    async (ending) => {
      const x = numbers(3000);
      const path = file('x.npy', npyFile({ descr: '<i4', shape: [1000, 3], data: x }));
      const outputs: Buffer[] = [];
      for (const chunk of [1000, 7]) {
        await run(greater, { input: path, output: [at(`y.${ending}`), at('place.bin')], chunk, device });
        outputs.push(readFileSync(at(`y.${ending}`)));
      }
      // What is compressed is so chunk by chunk.
      if (ending !== 'npy.gz') expect(outputs[1]!.equals(outputs[0]!)).toBe(true);
      const { y } = filtered(x, 3, 0);
      if (ending.startsWith('np')) {
        const { source, values } = await readAll(at(`y.${ending}`), 'i32', { column: 'y' });
        expect([source.shape, values]).toEqual([[y.length / 3, 3], y]);
      } else if (ending === 'bin') {
        expect((await readAll(at('y.bin'), 'i32')).values).toEqual(y);
      } else {
        for (const k of [0, 1, 2]) {
          const { values } = await readAll(at(`y.${ending}`), 'i32', { column: `y.${k}` });
          expect(values).toEqual(y.filter((_, i) => i % 3 === k));
        }
      }
    },
  );

  test('part by part, without parts of nothing', async () => {
    const x = Int32Array.of(1, 2, -1, -1, -1, 3);
    const parts: number[][] = [];
    for await (const { y } of greater.stream(x, { device, chunk: 2, settings: { width: 1 } }))
      parts.push([...y]);
    expect(parts).toEqual([[0, 1], [2]]);
  });

  test('by a function of a row', async () => {
    const late = map(
      { y: 'f32', kept: 'u8', x: 'f32', limit: 'constant f32 = 2' },
      ({ x, limit }) => ({
        y: x * 10,
        kept: x > limit,
      }),
      { keep: 'kept' },
    );
    const { outputs } = await run(late, { input: Float32Array.of(1, 5, 2, 3), device });
    const y: Float32Array | undefined = outputs.y;
    expect([...y!]).toEqual([50, 30]);
    const parts: Float32Array[] = [];
    for await (const part of late.stream(Float32Array.of(4, 1), { device })) parts.push(part);
    expect(parts).toEqual([Float32Array.of(40)]);
    // @ts-expect-error: what says which rows are kept is none of the outputs
    expect(outputs.kept).toBeUndefined();
  });
});

describe('a run that was stopped', () => {
  test.each([
    ['first', 30],
    ['some', 310],
    ['nearly all', 790],
  ])('goes on behind its %s chunks, with equal bytes', async (_, until) => {
    const x = numbers(800);
    const path = file('x.npy', npyFile({ descr: '<i4', shape: [800], data: x }));
    const options = {
      input: path,
      output: { y: at('y.npy'), place: at('p.bin') },
      chunk: 10,
      device,
    } as const;
    await run(greater, { ...options, output: { y: at('whole.npy'), place: at('whole.bin') } });
    const stop = new AbortController();
    const onProgress = ({ rows }: { readonly rows: number }) => rows >= until && stop.abort();
    const resumed: Partial<RunOptions> = { resume: true, depth: 1 };
    await expectFailure(
      run(greater, { ...options, ...resumed, signal: stop.signal, onProgress }),
      'WS5009',
      /stopped/,
    );
    expect(existsSync(at('y.npy'))).toBe(false);
    const { report } = await run(greater, { ...options, ...resumed });
    expect(report.resumed!.rows).toBeGreaterThanOrEqual(until);
    const kept = filtered(x, 1, 0).place;
    expect(report.keptRows).toBe(kept.length);
    expect(report.resumed!.bytes).toBe(8 * kept.filter((row) => row < report.resumed!.rows).length);
    for (const [one, whole] of [
      ['y.npy', 'whole.npy'],
      ['p.bin', 'whole.bin'],
    ] as const)
      expect(readFileSync(at(one)).equals(readFileSync(at(whole)))).toBe(true);
    expect(namesIn(at())).toEqual(['p.bin', 'whole.bin', 'whole.npy', 'y.npy']);
  });
});

describe('refused is', () => {
  const x = numbers(20);
  const { kernel: filter } = greater.definition as unknown as {
    readonly kernel: Parameters<typeof job>[0]['kernel'];
  };
  const declared = (changes: object) =>
    job({ ...(greater.definition as object), kernel: filter, ...changes } as Parameters<typeof job>[0]);

  test.each<[string, object, RegExp]>([
    [
      'what is no array of the kernel',
      { keep: 'limit' },
      /keep of the job must name an array of whole numbers/,
    ],
    ['an array with another role', { keep: 'place' }, /is named in outputs already/],
    [
      'an output of another ratio',
      { outputs: { y: { width: 'width', ratio: [1, 2] }, place: {} } },
      /keep counts rows of input/,
    ],
    [
      'a job without it, whose mask has no role',
      { keep: undefined },
      /leaves out the kernel's parameter 'kept'/,
    ],
  ])('%s', (_, changes, message) => {
    expect(() => declared(changes)).toThrow(message);
  });

  test('a piece of such work', async () => {
    const options = { input: x, output: [at('y.npy'), at('p.bin')], settings: { width: 1 }, device };
    await expectFailure(run(greater, { ...options, shard: [1, 2] }), 'WS5007', 'how many rows a piece keeps');
  });

  test('page-locked memory, which the device fills', async () => {
    using pinned = device.allocPinned('i32', 20);
    const failed = run(greater, { input: x, output: { y: pinned }, settings: { width: 1 }, device });
    await expectFailure(failed, 'WS5006', 'goes to page-locked memory', 'give a typed array');
  });

  test('a pipe for a format whose header says how many rows there are', async () => {
    const output = { y: { file: '/dev/null', format: 'npy' } };
    const failed = run(greater as Job, { input: x, output, settings: { width: 1 }, device });
    await expectFailure(failed, 'WS5006', 'how many rows there are is known only at the end');
  });
});

test('a typed array holds what is kept in its beginning', async () => {
  const y = new Int32Array(20);
  const input = Int32Array.of(3, -1, 4, -1, 5);
  const { outputs } = await run(greater, { input, output: { y }, settings: { width: 1 }, device });
  expect([[...outputs.y!], outputs.y!.buffer === y.buffer]).toEqual([[2, 3, 4], true]);
});

test('a large job whose rows are all kept gives what it gives without', async () => {
  const all = map({ y: 'f32', kept: 'u8', x: 'f32' }, ({ x }) => ({ y: x, kept: 1 }), { keep: 'kept' });
  const input = file('x.f32', new Uint8Array(Float32Array.from({ length: 5e6 }, (_, i) => i).buffer));
  await run(all, { input, output: at('y.f32'), device });
  await run(copyOf('f32'), { input, output: at('z.f32'), device });
  expect(readFileSync(at('y.f32')).equals(readFileSync(at('z.f32')))).toBe(true);
});
