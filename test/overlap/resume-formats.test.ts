// Outputs whose bytes do not follow from their rows alone: compressed files, text, Parquet, Arrow and archives. A run that is
// stopped, and the next ones that go on behind it, write what one run writes, to the byte.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, job, kernel, map, open, type RunOptions, run } from 'warpstage';
import { pack, unpack } from '#warpstage/overlap/journal/packed.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { partOf } from '../support/thorough.ts';
import { readAll } from './reading.ts';
import { expectFailure, namesIn, useFolder } from './support.ts';

/** Journals flush once a second; here a second is a millisecond. */
const { now } = performance;
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 64 << 20 });
  performance.now = () => 1000 * now.call(performance);
});
afterAll(async () => {
  performance.now = now;
  await device.close();
});

const at = useFolder();

const small = [
  ...['npy.gz', 'i32.gz', 'csv', 'tsv.gz', 'ndjson', 'jsonl.gz', 'tif'],
  ...['parquet', 'arrow', 'arrows', 'feather', 'arrow.gz', 'npz', 'npy'],
  ...('zstdCompress' in zlib ? ['npy.zst', 'csv.zst', 'arrows.zst'] : []),
];

/** Rows of two numbers, and one number of each. */
const pairs = job({
  kernel: kernel({ y: 'i32[]', z: 'i32[]', x: 'readonly i32[]' }, ({ y, z, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= x.length) return;
    y[2 * i] = x[i]!;
    y[2 * i + 1] = -x[i]!;
    z[i] = x[i]! * 3;
  }),
  inputs: { x: {} },
  outputs: { y: { width: 2 }, z: {} },
}) as Job;
const odd = map({ y: 'i32', z: 'i32', kept: 'u8', x: 'i32' }, ({ x }) => ({ y: x, z: 3 * x, kept: x & 1 }), {
  keep: 'kept',
}) as unknown as Job;
/** Outputs beside what is added up. */
const summed = job({
  kernel: kernel(
    { y: 'i32[]', z: 'i32[]', x: 'readonly i32[]', sums: 'i32[]' },
    ({ y, z, x, sums }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= x.length) return;
      y[i] = x[i]!;
      z[i] = x[i]! * 3;
      cuda.atomicAdd(sums, 0, x[i]!);
    },
  ),
  inputs: { x: {} },
  outputs: { y: {}, z: {} },
  accumulators: { sums: {} },
}) as Job;
const works = { pairs, odd, summed };

function inputOf(rows: number): string {
  const data = Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 7919) % 10_007);
  writeFileSync(at('x.i32'), new Uint8Array(data.buffer));
  return at('x.i32');
}

/** Runs work until so many chunks are through, and stops it; or to its end, if that comes before. */
async function stopAfter(chunks: number, work: Job, options: RunOptions): Promise<boolean> {
  const controller = new AbortController();
  let done = 0;
  const onProgress = () => {
    if (++done === chunks) controller.abort();
  };
  try {
    await run(work, { ...options, resume: true, signal: controller.signal, onProgress });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'WS5009' });
    return true;
  }
}

/** Runs whole, and stopped as often as is said, and compares. Gives the rows that were gone on behind, where it was stopped last. */
async function compare(
  work: Job,
  options: Omit<RunOptions, 'output'>,
  [y, z]: readonly [string, string],
  stops: readonly number[],
): Promise<number | undefined> {
  const named = (kind: string) => [at(`${kind}-y.${y}`), at(`${kind}-z.${z}`)];
  const whole = await run(work, { ...options, device, output: named('whole') });
  const again = { ...options, device, output: named('parts') };
  let isStopped = true;
  for (const chunks of stops) isStopped &&= await stopAfter(chunks, work, again);
  const { value, report } = await run(work, { ...again, resume: true, checksum: false });
  expect(value).toEqual(whole.value);
  for (const [i, path] of named('parts').entries())
    expect(readFileSync(path).equals(readFileSync(named('whole')[i]!)), path).toBe(true);
  expect(namesIn(at()).filter((name) => name.startsWith('.'))).toEqual([]);
  return isStopped ? report.resumed!.rows : undefined;
}

describe('a run that was stopped goes on', () => {
  test('in every format, whatever is written beside it', { timeout: randomLimit(30) }, async () => {
    const cases = fc.record({
      work: fc.constantFrom('pairs' as const, 'odd' as const, 'summed' as const),
      rows: fc.integer({ min: 200, max: 3000 }),
      chunks: fc.integer({ min: 12, max: 40 }),
      stops: fc.array(fc.integer({ min: 2, max: 8 }), { minLength: 1, maxLength: 3 }),
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ work, rows, chunks, stops }) => {
        // Each format, and each with others.
        const [y, z] = [small[runs % small.length]!, small[(3 * runs + 1) % small.length]!];
        runs++;
        // A picture has rows of pixels.
        const pictured = [y, z].map((one, i) =>
          one === 'tif' && (i > 0 || work !== 'pairs') ? 'csv.gz' : one,
        );
        const options = { input: inputOf(rows), chunk: Math.floor(rows / chunks) };
        const behind = await compare(works[work], options, [pictured[0]!, pictured[1]!], stops);
        // What accumulators hold is kept when it is time.
        if (work !== 'summed') expect(behind).not.toBe(0);
      }),
      randomRuns(12),
    );
  });

  test('within and between groups of Parquet and batches of Arrow', { timeout: randomLimit(2) }, async () => {
    const cases = fc.record({
      rows: fc.integer({ min: 270_000, max: 600_000 }),
      chunk: fc.integer({ min: 15_000, max: 25_000 }),
      ending: fc.constantFrom(['parquet', 'arrow'] as const, ['arrows', 'pq'] as const),
      stops: fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, chunk, ending, stops }) => {
        const options = { input: inputOf(rows), chunk };
        expect(await compare(pairs, options, ending, stops)).not.toBe(0);
        const column = ending[0] === 'parquet' ? 'parts-y.parquet' : 'parts-z.pq';
        const { values } = await readAll(at(column), 'i32', { column: column.includes('z') ? 'z' : 'y.1' });
        expect(values.length).toBe(rows);
      }),
      randomRuns(2),
    );
  });

  test('when it was killed', { timeout: 120_000 }, async () => {
    const input = inputOf(4000);
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      at('killed.mjs'),
      `import { map, run } from ${index};
const [input, output, chunks] = process.argv.slice(2);
const now = performance.now.bind(performance);
performance.now = () => 1000 * now();
let done = 0;
const slowly = () => { const end = now() + 20; while (now() < end); };
await run(map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x), {
  input, output, resume: true, chunk: 100, depth: 1,
  onProgress: () => { slowly(); if (++done === Number(chunks)) process.kill(process.pid, 'SIGKILL'); },
});\n`,
    );
    const triple = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);
    const endings = ['parquet', 'csv.gz', 'arrow', 'npy.gz', 'ndjson', 'npz'];
    for (const ending of partOf(endings, 0)) {
      const [output, whole] = [at(`y.${ending}`), at(`whole.${ending}`)];
      const { signal } = spawnSync(process.execPath, [at('killed.mjs'), input, output, '25']);
      expect(signal).toBe('SIGKILL');
      expect(readdirSync(at())).toContain(`.y.${ending}.journal`);
      await run(triple, { input, output: whole, chunk: 100, device });
      const { report } = await run(triple, { input, output, chunk: 100, device, resume: true });
      expect(report.resumed!.rows, ending).toBeGreaterThan(0);
      expect(readFileSync(output).equals(readFileSync(whole)), ending).toBe(true);
      for (const path of [output, whole]) rmSync(path);
    }
    expect(namesIn(at())).toEqual(['killed.mjs', 'x.i32']);
  });
});

describe('what a run left', () => {
  const options = () => ({
    input: inputOf(2000),
    output: [at('y.parquet'), at('z.npy.gz')],
    device,
    chunk: 50,
  });

  test('counts as far as its state is whole', async () => {
    for (const damage of ['state-0', 'state-1', 'both'] as const) {
      const given = options();
      await run(pairs, { ...given, output: [at('whole.parquet'), at('whole.npy.gz')] });
      await stopAfter(30, pairs, given);
      const states = ['state-0', 'state-1'].filter((one) => damage === 'both' || damage === one);
      for (const state of states) {
        const path = at(`.y.parquet.${state}`);
        const bytes = readFileSync(path);
        bytes[bytes.length >> 1]! ^= 4;
        writeFileSync(path, bytes);
      }
      const { report } = await run(pairs, { ...given, resume: true });
      if (damage === 'both') expect(report.resumed!.rows).toBe(0);
      expect(readFileSync(at('y.parquet')).equals(readFileSync(at('whole.parquet')))).toBe(true);
      expect(readFileSync(at('z.npy.gz')).equals(readFileSync(at('whole.npy.gz')))).toBe(true);
      expect(namesIn(at()).filter((name) => name.startsWith('.'))).toEqual([]);
      for (const name of namesIn(at())) rmSync(at(name));
    }
  });

  test('of a state goes also where the next run writes none', async () => {
    // Power was lost when the journal had gone.
    for (const state of ['state-0', 'state-1']) writeFileSync(at(`.y.parquet.${state}`), 'from before');
    await run(pairs, { ...options(), rows: 10, resume: true });
    expect(namesIn(at())).toEqual(['x.i32', 'y.parquet', 'z.npy.gz']);
  });

  test('counts as far as its files are whole', async () => {
    const given = options();
    await run(pairs, { ...given, output: [at('whole.parquet'), at('whole.npy.gz')] });
    await stopAfter(30, pairs, given);
    const bytes = readFileSync(at('.z.npy.gz.partial'));
    bytes[bytes.length >> 1]! ^= 4;
    writeFileSync(at('.z.npy.gz.partial'), bytes);
    const { report } = await run(pairs, { ...given, resume: true });
    expect(report.resumed!.rows).toBeLessThan(1500);
    expect(readFileSync(at('y.parquet')).equals(readFileSync(at('whole.parquet')))).toBe(true);
    expect(readFileSync(at('z.npy.gz')).equals(readFileSync(at('whole.npy.gz')))).toBe(true);
  });

  test('is refused of a format that is written as a whole', async () => {
    for (const name of ['y.png', 'y.png.gz']) {
      const given = { input: inputOf(100), output: at(name), device, resume: true };
      const picture = job({
        kernel: kernel({ y: 'u8[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
          const i = cuda.thisGrid().threadRank();
          if (i < y.length) y[i] = x[i]! & 255;
        }),
        inputs: { x: { width: 10 } },
        outputs: { y: { width: 10 } },
      });
      await expectFailure(
        run(picture, given),
        'WS5010',
        /y\.png(\.gz)? is in a format that can only be written from the beginning/,
        'write it as .npy, or run it without resume',
      );
    }
    expect(namesIn(at())).toEqual(['x.i32']);
  });
});

test('states are the parts that were put together', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array(), { maxLength: 5 }), (parts) => {
      const packed = pack(parts);
      const isEmpty = parts.every(({ length }) => length === 0);
      expect(unpack(packed).map((part) => [...part])).toEqual(isEmpty ? [] : parts.map((part) => [...part]));
    }),
  );
});
