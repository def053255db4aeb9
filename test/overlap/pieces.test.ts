// Jobs from files to files on the CPU, in pieces that one thread takes from file to file: the bytes are those of
// the loop, whatever the job, and what goes wrong goes wrong as there.

import { spawnSync } from 'node:child_process';
import { createReadStream, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Job, job, kernel, map, open, type RunOptions, run } from 'warpstage';
import { atLength } from '../support/thorough.ts';
import { affine, groups, neighbours } from './jobs.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

const root = new URL('../../', import.meta.url).pathname;

let devices: readonly Device[];
beforeAll(async () => {
  const threads = [1, 2, 5];
  devices = [...(await Promise.all(threads.map((count) => open('cpu', { threads: count }))))];
});
afterAll(() => Promise.all(devices.map((device) => device.close())));

/** What says that a run went in pieces. */
const fromFileToFile = 'each thread takes them from file to file';

const isInPieces = ({
  chosen,
}: {
  readonly chosen: { readonly steps: readonly { readonly why: string }[] };
}) => chosen.steps.some(({ why }) => why === fromFileToFile);

const rows = 3_000_017;
const x = Float32Array.from({ length: rows }, (_, i) => (i * 7919) % 4093);

/** Runs a job in pieces and in the loop, and gives both outputs' bytes. */
async function bothWays(
  work: Job,
  directory: string,
  input: RunOptions['input'],
  outputs: readonly string[],
  options: Partial<RunOptions> = {},
): Promise<void> {
  const at = (name: string) => join(directory, name);
  const inLoop = outputs.map((name) => at(`loop-${name}`));
  const looped = await run(work, {
    ...{ input, output: inLoop, device: devices[1]!, chunk: 70_001 * 12 },
    ...options,
  });
  expect(isInPieces(looped.report)).toBe(false);
  // A device of the run's own may find the kernel on the disk.
  for (const device of [...devices, 'cpu'] as const) {
    const output = outputs.map(at);
    const { report } = await run(work, { input, output, device, ...options });
    expect(isInPieces(report)).toBe(true);
    expect(report).toMatchObject({ rows: looped.report.rows, bytesIn: looped.report.bytesIn });
    expect(report.bytesOut).toBe(looped.report.bytesOut);
    expect(report.chunks).toBe(Math.ceil(report.rows / report.chosen.steps[0]!.chunkRows));
    for (const [i, path] of output.entries()) {
      const same = Buffer.compare(readFileSync(path), readFileSync(inLoop[i]!)) === 0;
      expect(
        same,
        `${path} on ${typeof device === 'string' ? device : device.properties.multiProcessorCount}`,
      ).toBe(true);
    }
    if (typeof device !== 'string') expect(device.memory.allocations).toBe(0);
  }
}

describe('the bytes are those of the loop', () => {
  test('of bare elements and .npy files, with a short last piece', async () => {
    const directory = temporaryDirectory();
    const [npy, bare] = [join(directory, 'x.npy'), join(directory, 'x.f32')];
    writeFileSync(npy, npyFile({ shape: [rows], data: x }));
    writeFileSync(bare, x);
    await bothWays(affine, directory, npy, ['y.npy']);
    await bothWays(affine, directory, bare, ['y.f32']);
    await bothWays(affine, directory, npy, ['head.f32'], { rows: 2_500_001 });
    const y = new Float32Array(readFileSync(join(directory, 'y.f32')).buffer.slice(0));
    expect(y.every((value, i) => value === 2 * x[i]! + 1)).toBe(true);
  });

  test('where rows become fewer and more, and pieces are told where they begin', async () => {
    const directory = temporaryDirectory();
    const input = join(directory, 'x.npy');
    writeFileSync(
      input,
      npyFile({
        descr: '<i4',
        shape: [1_200_000, 4],
        data: Int32Array.from({ length: 4_800_000 }, (_, i) => (i * 31) | 0),
      }),
    );
    await bothWays(groups(3, 2, 'error'), directory, input, ['sums.npy', 'places.npy']);
  });

  test('of any rows, types and constants', async () => {
    const mixed = map(
      { y: 'f64', low: 'u8', a: 'u8', b: 'f32', c: 'i16', gain: 'constant f32 = 1' },
      ({ a, b, c, gain }) => ({ y: gain * b + c, low: (a ^ c) & 255 }),
    );
    const directory = temporaryDirectory();
    const at = (name: string) => join(directory, name);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1_100_000, max: 1_500_000 }),
        fc.integer({ min: -9, max: 9 }),
        async (length, gain) => {
          const fill = <T extends Uint8Array | Int16Array | Float32Array>(array: T, by: number): T => {
            for (let i = 0; i < array.length; ++i) array[i] = (i * by) % 251;
            return array;
          };
          writeFileSync(at('a.u8'), fill(new Uint8Array(length), 7));
          writeFileSync(at('b.f32'), fill(new Float32Array(length), 11));
          writeFileSync(
            at('c.npy'),
            npyFile({ descr: '<i2', shape: [length], data: fill(new Int16Array(length), 13) }),
          );
          const input = { a: at('a.u8'), b: at('b.f32'), c: at('c.npy') };
          await bothWays(mixed as unknown as Job, directory, input, ['y.npy', 'low.u8'], {
            settings: { gain },
          });
        },
      ),
      { numRuns: 3 },
    );
  });
});

test.runIf(atLength)('positions beyond 32 bits are told', async () => {
  const directory = temporaryDirectory();
  const input = join(directory, 'x.u8');
  const group = 4096;
  const long = 2 ** 31 + 2 ** 24;
  writeFileSync(input, '');
  truncateSync(input, long);
  const numbered = job({
    kernel: kernel(
      { y: 'f64[]', x: 'readonly u8[]', start: 'index', group: 'index' },
      ({ y, x, start, group }, cuda) => {
        const g = cuda.thisGrid().threadRank();
        if (g < y.length) y[g] = x[g * group]! + start + g * group;
      },
    ),
    inputs: { x: {} },
    outputs: { y: { ratio: [1, group] } },
    settings: { group },
    offset: 'start',
  });
  const output = join(directory, 'y.f64');
  const { report } = await run(numbered, { input, output, device: devices[1]! });
  expect(isInPieces(report)).toBe(true);
  const { buffer, byteOffset, byteLength } = readFileSync(output);
  const y = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
  expect(y.length).toBe(long / group);
  expect(y.findIndex((value, g) => value !== g * group)).toBe(-1);
});

describe('chunks go through the loop', () => {
  const small = map({ y: 'f32', x: 'f32' }, ({ x }) => x + 1);
  const launched = job({
    kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
    launch: ({ rows }) => ({ grid: Math.ceil(rows / 64), block: 64 }),
  });
  const summed = job({
    kernel: kernel({ y: 'i32[]', x: 'readonly i32[]', sum: 'i32[]' }, ({ y, x, sum }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= y.length) return;
      y[i] = x[i]!;
      if (x[i] === 0) cuda.atomicAdd(sum, 0, 1);
    }),
    inputs: { x: {} },
    outputs: { y: {} },
    accumulators: { sum: { length: 1, combine: 'sum' } },
  });
  const cases: Record<
    string,
    (input: string, at: (name: string) => string) => [Job<never, never>, Partial<RunOptions>]
  > = {
    'where a chunk is asked for': () => [small as never, { chunk: '4MiB' }],
    'where a depth is': () => [small as never, { depth: 2 }],
    'where spans are': () => [small as never, { trace: true }],
    'where somebody hears of chunks': () => [small as never, { onChunk: () => {} }],
    'where it may be resumed': () => [small as never, { resume: true }],
    'where checksums are taken': () => [small as never, { checksum: true }],
    'where elements are converted': () => [map({ y: 'f32', x: 'f64' }, ({ x }) => x) as never, {}],
    'where rows see their neighbours': (_, at) => {
      writeFileSync(at('x.i32'), Int32Array.from(x));
      return [neighbours(1, 1, 'zero') as never, { input: at('x.i32') }];
    },
    'where the last rows fill no group': (_, at) => {
      writeFileSync(at('x.i32'), Int32Array.from(x.subarray(0, 3_000_016)));
      return [
        groups(3, 2, 'partial') as never,
        { input: at('x.i32'), output: [at('a.npy'), at('b.npy')], settings: { width: 1 } },
      ];
    },
    'where a job sums up': (_, at) => {
      writeFileSync(at('x.i32'), Int32Array.from(x));
      return [summed as never, { input: at('x.i32') }];
    },
    'where a job says how each chunk is launched': () => [launched as never, {}],
    'where the input comes as a stream': (input) => [small as never, { input: createReadStream(input) }],
    'where the output stays in memory': () => [small as never, { output: undefined as never }],
    'where the data is little': () => [small as never, { rows: 1_000_000 }],
  };
  test('where the pieces of all threads would take more memory than chunks', async () => {
    await using narrow = await open('cpu', { threads: 5, memory: 2 ** 22 });
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, x);
    const { report } = await run(small as Job, { input, output: join(directory, 'y.f32'), device: narrow });
    expect(isInPieces(report)).toBe(false);
    const { chunkBytes, depth } = report.chosen.steps[0]!;
    expect(chunkBytes * depth).toBeLessThan(5 * 512 * 1024);
  });

  test('and pieces take no more than chunks where memory is scarce', async () => {
    const memory = 2 ** 24;
    await using narrow = await open('cpu', { threads: 2, memory });
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, x);
    const { report } = await run(small as Job, { input, output: join(directory, 'y.f32'), device: narrow });
    expect(isInPieces(report)).toBe(true);
    const { chunkBytes, depth } = report.chosen.steps[0]!;
    // With more they would have 3 MB.
    expect(chunkBytes * depth).toBeLessThanOrEqual(memory / 8);
  });

  test.each(Object.keys(cases))('%s', async (name) => {
    const directory = temporaryDirectory();
    const at = (file: string) => join(directory, file);
    writeFileSync(at('x.f32'), x);
    const [work, options] = cases[name]!(at('x.f32'), at);
    const { report } = await run(work, {
      input: at('x.f32'),
      output: at('y.npy'),
      device: devices[1]!,
      ...options,
    } as RunOptions);
    expect(isInPieces(report)).toBe(false);
  });
});

describe('what goes wrong', () => {
  test('in the kernel is thrown with its place, and leaves nothing', async () => {
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, x);
    const beyond = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = x[i === 60_000 ? x.length : i]!;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    const failing = run(beyond, { input, output: join(directory, 'y.f32'), device: devices[1]! });
    const error = await expectFailure(failing, 'WS3001', /reads `x\[\d+\]`, but `x` has \d+ elements/);
    expect(error.issues[0]!.location?.file).toContain('pieces.test.ts');
    expect(namesIn(directory)).toEqual(['x.f32']);
  });

  test.each([40_000_000, 95_999_988])('where the input becomes shorter, it is said: %i', async (left) => {
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, new Float32Array(24_000_000));
    const onProgress = () => truncateSync(input, left);
    const failing = run(affine, { input, output: join(directory, 'y.f32'), device: devices[1]!, onProgress });
    const { message } = await expectFailure(
      failing,
      'WS5003',
      /x\.f32 ended after [\d,]+ of 96,000,000 bytes/,
    );
    const [, length] = /after ([\d,]+) of/.exec(message)!;
    expect(Number(length!.replaceAll(',', ''))).toBeGreaterThanOrEqual(left);
    expect(namesIn(directory)).toEqual(['x.f32']);
  });

  test.skipIf(process.platform === 'win32')('where the output may not be as long, it is said', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'x.f32'), x);
    const command = ['dist/cli/main.js', 'run', 'examples/affine.ts', join(directory, 'x.f32')];
    const args = [...command, join(directory, 'y.f32'), '--set', 'a=2', '--set', 'b=1'];
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -f 4096; exec "$0" "$@"', process.execPath, ...args],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    expect(stderr).toMatch(
      /^WS5006: .*y\.f32 cannot be written: it would be larger than its file system allows$/m,
    );
    expect(status).toBe(74);
    expect(namesIn(directory)).toEqual(['x.f32']);
  });

  test('a signal stops it, in a kernel that never ends too', async () => {
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, x);
    const forever = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i >= y.length) return;
        y[i] = x[i]!;
        while (y[i] >= 0) y[i] = y[i]! + 0;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    for (const work of [forever, affine] as Job[]) {
      const controller = new AbortController();
      const onProgress = () => controller.abort(new Error('enough'));
      if (work === (forever as Job)) setTimeout(onProgress, 50);
      const stopped = run(work, {
        input,
        output: join(directory, 'y.f32'),
        device: devices[1]!,
        signal: controller.signal,
        onProgress,
      });
      const error = await expectFailure(stopped, 'WS5009', /was stopped before its end/);
      expect(error.cause).toEqual(new Error('enough'));
      expect(namesIn(directory)).toEqual(['x.f32']);
    }
    const { outputs } = await run(affine, { input: Float32Array.of(1, 2), device: devices[1]! });
    expect([...outputs.y!]).toEqual([3, 5]);
  });

  test('what throws where progress is told ends it', async () => {
    const directory = temporaryDirectory();
    const input = join(directory, 'x.f32');
    writeFileSync(input, x);
    const onProgress = () => {
      throw new RangeError('not that far');
    };
    const failing = run(affine, { input, output: join(directory, 'y.f32'), device: devices[1]!, onProgress });
    await expect(failing).rejects.toThrow('not that far');
    expect(namesIn(directory)).toEqual(['x.f32']);
  });
});

test('where the kernel takes long, pieces become shorter, and their bytes stay the same', async () => {
  const group = 3;
  const long = kernel(
    { y: 'i32[]', x: 'readonly i32[]', first: 'i32', group: 'i32' },
    ({ y, x, first, group }, cuda) => {
      const g = cuda.thisGrid().threadRank();
      if (g >= y.length) return;
      let v = first + g * group;
      for (let k = 0; k < x[g * group + group - 1]!; k++) v = v * 1664525 + 1013904223;
      y[g] = v;
    },
  );
  const work = job({
    ...{ kernel: long, inputs: { x: {} }, outputs: { y: { ratio: [1, group] } } },
    ...{ offset: 'first', settings: { group } },
  });
  const directory = temporaryDirectory();
  const at = (name: string) => join(directory, name);
  // Of pieces with 98,304 rows, the first dozen takes some hundred milliseconds each.
  const [count, slow, turns] = [3_600_003, 999_999, 24_000];
  const x = Int32Array.from({ length: count }, (_, i) => (i < slow ? turns : 1));
  writeFileSync(at('x.i32'), x);
  const files = { input: at('x.i32'), output: at('y.i32') };
  const { report } = await run(work, { ...files, device: devices[1]! });
  const [first, second] = report.chosen.steps;
  expect(first!.why).toBe(fromFileToFile);
  expect(second!.why).toMatch(/^the kernel takes long/);
  expect(second!.chunkRows).toBeLessThan(first!.chunkRows / 2);
  expect(second!.chunkRows % group).toBe(0);
  expect(second!.row % first!.chunkRows).toBe(0);
  expect(report).toMatchObject({ rows: count, bytesOut: (4 * count) / group });
  expect(report.chunks).toBeGreaterThan(Math.ceil(count / first!.chunkRows));
  // So many turns are one multiplication and one addition, whatever they begin with.
  let [factor, sum] = [1, 0];
  for (let k = 0; k < turns; k++) {
    factor = Math.imul(factor, 1664525);
    sum = (Math.imul(sum, 1664525) + 1013904223) | 0;
  }
  const y = new Int32Array(readFileSync(at('y.i32')).buffer.slice(0));
  const expected = (row: number) =>
    row < slow ? (Math.imul(row, factor) + sum) | 0 : (Math.imul(row, 1664525) + 1013904223) | 0;
  expect(y.length).toBe(count / group);
  expect(y.findIndex((value, g) => value !== expected(g * group))).toBe(-1);
  expect(devices[1]!.memory.allocations).toBe(0);
});

test('progress is reported while it runs, up to all rows, and launches that grow leave none out', async () => {
  const directory = temporaryDirectory();
  const input = join(directory, 'x.f32');
  const given = new Float32Array(24_000_000);
  for (let i = 0; i < given.length; ++i) given[i] = i % 65_537;
  writeFileSync(input, given);
  const told: number[] = [];
  const output = join(directory, 'y.f32');
  const { report } = await run(affine, {
    input,
    output,
    device: devices[1]!,
    onProgress: ({ rows }) => told.push(rows),
  });
  expect(told.length).toBeGreaterThan(3);
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(told.at(-1)).toBe(24_000_000);
  expect(statSync(output).size).toBe(96_000_000);
  const y = new Float32Array(readFileSync(output).buffer);
  expect(y.findIndex((value, i) => value !== 2 * given[i]! + 1)).toBe(-1);
  const stage = (name: string) => report.stages.find((one) => one.name === name)!;
  expect(stage('read')).toMatchObject({ bytes: 96_000_000, operations: report.chunks });
  expect(stage('write').bytes).toBe(96_000_000);
  for (const name of ['read', 'compute', 'write']) expect(stage(name).busy).toBeGreaterThan(0);
});
