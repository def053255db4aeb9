// Every example as a newcomer runs it: a process of its own, a real file in, compared with plain JavaScript.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, describe, expect, test } from 'vitest';
import { atLength } from '../support/thorough.ts';
import { Folder, npy, numbers, type Outcome, readNpy, root, run } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const x = numbers(300_001);
const xFile = folder.file('x.npy', npy(x));

function expectSuccess({ code, stderr }: Outcome): void {
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
}

describe('affine', () => {
  test('y = a*x + b, with a report and a trace', async () => {
    const [y, trace] = [folder.file('y.npy'), folder.file('trace.json')];
    const outcome = await run([
      ...['run', 'examples/affine.ts', xFile, y, '--set', 'a=2', '--set', 'b=1'],
      ...['--chunk', '64K', '--trace', trace],
    ]);
    expectSuccess(outcome);
    const expected = x.map((value) => Math.fround(Math.fround(2 * value) + 1));
    expect(readNpy(y)).toEqual(expected);
    expect(outcome.stdout.length).toBe(0);
    expect(outcome.stderr).toMatch(
      /^\naffine on .*, wasm \(regions, vectorised\)\n1\.14 MiB in, 1\.14 MiB out, /,
    );
    expect(outcome.stderr).toMatch(/\n {2}stage +busy +of wall +rate +bytes +steps\n {2}read /);

    const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as {
      traceEvents: { ph: string; name: string; args: Record<string, string> }[];
    };
    const tracks = traceEvents
      .filter((event) => event.name === 'thread_name')
      .map((event) => event.args.name);
    expect(tracks).toEqual(['read', 'copy in', 'compute', 'copy out', 'write']);
    const kernels = traceEvents.filter((event) => event.ph === 'X' && event.name === 'affine');
    expect(kernels.length).toBe(Math.ceil((x.length * 4) / 65536));
  });

  test.runIf(atLength)('a trace with the stages of a block, in every launch', async () => {
    const [y, json, page] = [
      folder.file('staged.npy'),
      folder.file('staged.json'),
      folder.file('staged.html'),
    ];
    const argv = [
      'run',
      'test/cli/fixtures/staged.ts',
      xFile,
      y,
      '--chunk',
      '256K',
      '--stages',
      '1',
      '--trace',
    ];
    expectSuccess(await run([...argv, json]));
    expect(readNpy(y)).toEqual(x.map((value) => 2 * value));
    const { traceEvents, otherData } = JSON.parse(readFileSync(json, 'utf8')) as {
      traceEvents: { ph: string; pid: number; name: string; args: { kernel?: string; block?: string } }[];
      otherData: Record<string, string>;
    };
    expect(otherData.times).toBe('of the engines');
    const stages = traceEvents.filter(({ ph, pid }) => ph === 'X' && pid === 2);
    const launches = Math.ceil((x.length * 4) / 2 ** 18);
    expect(stages.filter(({ name }) => name === 'compute batch 0')).toHaveLength(launches);
    expect(new Set(stages.map(({ args }) => args.block))).toEqual(new Set(['1, 0, 0']));
    expectSuccess(await run([...argv, page]));
    expect(readFileSync(page, 'utf8')).toContain('stages of block (1, 0, 0) in staged on ');
  });

  test('raw data from standard input to standard output', async () => {
    const bytes = new Uint8Array(x.buffer);
    const outcome = await run(
      ['run', 'examples/affine.ts', '-', '-', '--dtype', 'f32', '--set', 'a=-1'],
      bytes,
    );
    expectSuccess(outcome);
    expect(new Float32Array(new Uint8Array(outcome.stdout).buffer)).toEqual(x.map((value) => -value));
    expect(outcome.stderr).toContain('affine on ');
  });
});

describe('flights', () => {
  const file = join(root, 'node_modules/vega-datasets/data/flights-3m.parquet');
  test.runIf(atLength)('the bands and bins are those of an independent reading', async () => {
    const outcome = await run(['run', 'examples/flights.ts', file, '--json']);
    expectSuccess(outcome);
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(file),
      columns: ['delay', 'distance'],
      compressors,
    });
    const bands = Array.from({ length: 6 }, () => ({
      flights: 0,
      total: 0,
      bins: new Array<number>(7).fill(0),
    }));
    for (const row of rows) {
      const [delay, distance] = [Number(row.delay), Number(row.distance)];
      const band = bands[Math.min(Math.floor(distance / 500), 5)]!;
      band.flights++;
      band.total += delay;
      band.bins[Math.max(0, Math.min(Math.floor((delay + 30) / 15), 6))]!++;
    }
    const { value, report } = JSON.parse(outcome.stdout.toString()) as {
      value: { miles: string; flights: number; meanDelay: number; percent: Record<string, number> }[];
      report: { rows: number; ranOn: string[] };
    };
    expect(report.rows).toBe(3_000_000);
    expect(report.ranOn.join()).toContain('wasm');
    expect(value.map((band) => band.miles)).toEqual([
      '0..499',
      '500..999',
      '1000..1499',
      '1500..1999',
      '2000..2499',
      '2500+',
    ]);
    const round = (n: number) => Number(n.toFixed(1));
    expect(
      value.map(({ flights, meanDelay, percent }) => [flights, meanDelay, Object.values(percent)]),
    ).toEqual(
      bands.map(({ flights, total, bins }) => [
        flights,
        round(total / flights),
        bins.map((count) => round((count / flights) * 100)),
      ]),
    );
  });
});

describe('vector search', () => {
  const width = 24;
  const embeddings = numbers(5000 * width, 2);
  const queries = numbers(3 * width, 3);

  test('the nearest rows of every query are those of a full sort', async () => {
    const files = [
      folder.file('embeddings.npy', npy(embeddings, [5000, width])),
      folder.file('queries.npy', npy(queries, [3, width])),
    ];
    const outcome = await run([
      'run',
      'examples/vector-search.ts',
      ...files,
      '--set',
      'k=4',
      '--chunk',
      '100K',
      '--json',
    ]);
    expectSuccess(outcome);
    const { value } = JSON.parse(outcome.stdout.toString()) as {
      value: { query: number; row: number; score: number }[];
    };
    const rowOf = (data: Float32Array, row: number) => data.subarray(row * width, (row + 1) * width);
    const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, d) => sum + value * b[d]!, 0);
    const expected = [0, 1, 2].flatMap((query) => {
      const q = rowOf(queries, query);
      return Array.from({ length: 5000 }, (_, row) => {
        const e = rowOf(embeddings, row);
        return { query, row, score: dot(e, q) / Math.sqrt(dot(e, e) * dot(q, q)) };
      })
        .sort((a, b) => b.score - a.score)
        .slice(0, 4);
    });
    expect(value.map(({ query, row }) => [query, row])).toEqual(
      expected.map(({ query, row }) => [query, row]),
    );
    for (const [i, { score }] of value.entries()) expect(score).toBeCloseTo(expected[i]!.score, 5);
  });
});

describe('mean', () => {
  test('of the bytes of a file', async () => {
    const file = join(root, 'LICENSE');
    const made = ['run', 'examples/mean.ts', file, '--raw'];
    const outcome = await run([...made, '--quiet']);
    expectSuccess(outcome);
    const bytes = readFileSync(file);
    const mean = bytes.reduce((sum, byte) => sum + byte, 0) / bytes.length;
    expect(Number(outcome.stdout)).toBeCloseTo(mean, 5);
    const json = await run([...made, '--json']);
    expect(JSON.parse(String(json.stdout)).value).toBe(mean);
    expectSuccess(await run(['check', 'examples/mean.ts']));
    const code = await run(['emit', 'examples/mean.ts']);
    expect(String(code.stdout)).toContain('__global__');
  });
});

describe('zscore', () => {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const deviation = Math.sqrt(x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length);

  test('two passes: what the first found sets the second', async () => {
    const z = folder.file('z.npy');
    expectSuccess(await run(['run', 'examples/zscore.ts', xFile, z, '--quiet', '--chunk', '128K']));
    const result = readNpy(z);
    expect(result.length).toBe(x.length);
    for (let i = 0; i < x.length; i += 997) expect(result[i]).toBeCloseTo((x[i]! - mean) / deviation, 4);
  });

  test('the first pass alone prints its value as a table', async () => {
    const outcome = await run(['run', 'examples/zscore.ts', xFile, '--job', 'moments', '--quiet']);
    expectSuccess(outcome);
    const [headings, figures] = outcome.stdout.toString().trim().split('\n');
    expect(headings!.split(/ +/)).toEqual(['mean', 'deviation']);
    const [printedMean, printedDeviation] = figures!.trim().split(/ +/).map(Number);
    expect(printedMean).toBeCloseTo(mean, 5);
    expect(printedDeviation).toBeCloseTo(deviation, 4);
  });
});

describe('fir', () => {
  test('a filter that reaches over chunks gives the same as one over the whole', async () => {
    const smooth = folder.file('smooth.npy');
    expectSuccess(await run(['run', 'examples/fir.ts', xFile, smooth, '--chunk', '20K']));
    const reach = 32;
    const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => {
      const n = k - reach;
      const sinc = n === 0 ? 0.1 : Math.sin(0.1 * Math.PI * n) / (Math.PI * n);
      return sinc * (0.54 + 0.46 * Math.cos((Math.PI * n) / reach));
    });
    const scale = weights.reduce((sum, weight) => sum + weight);
    const result = readNpy(smooth);
    expect(result.length).toBe(x.length);
    const positions = [0, 1, 31, 32, 5087, 5088, 5119, 5120, 5121, x.length - 33, x.length - 1];
    for (const i of positions) {
      const nearest = (j: number) => x[Math.max(0, Math.min(x.length - 1, j))]!;
      const expected = weights.reduce((sum, weight, k) => sum + (weight / scale) * nearest(i + k - reach), 0);
      expect(result[i]).toBeCloseTo(expected, 5);
    }
  });
});
