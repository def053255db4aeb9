// Checked kernels: their text, that it compiles for every architecture, and that a GPU tells the
// same of a fault as the CPU does, and goes on. Without nvcc or a GPU the tests say that they skip.

import { describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, type Kernel, kernel, open, WarpstageError } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { guidePrograms, jobPrograms } from '../support/example-programs.ts';
import { gpus } from '../support/gpu.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { testCompiling } from '../support/nvcc.ts';
import {
  asserting,
  block,
  bursts,
  endless,
  faulty,
  grid,
  print,
  stuck,
  sumOfGrid,
} from './faulty-kernels.ts';

function programOf(one: Kernel, cooperative = false) {
  const functions = {};
  return specialise(one, { block: [block, 1, 1], indexType: 'i32', constants: {}, functions, cooperative });
}

const others: readonly Kernel[] = [print, bursts, endless, stuck] as never;
const programs = [
  ...Object.values(faulty).map((one) => programOf(one as never)),
  ...others.map((one) => programOf(one)),
  programOf(sumOfGrid as never, true),
  ...Object.values({ ...guidePrograms, ...jobPrograms }),
].map(({ program }) => program);

const entryOf = (text: string) => text.slice(text.indexOf('extern "C"'));

describe('the text of checked kernels', () => {
  test.each([
    ['staging-unified', 80],
    ['staging-unified', 90],
    ['specialized-staging', 90],
    ['affine', 90],
    ['flights', 90],
  ])('%s for sm_%i', async (name, architecture) => {
    const { program } = { ...guidePrograms, ...jobPrograms }[name]!;
    const text = entryOf(cudaText(program, architecture, null, true));
    await expect(text).toMatchFileSnapshot(`golden/checked/${name}.sm_${architecture}.cu`);
  });

  test('a line is printed by its site and the bits of its values', () => {
    const { program } = programOf(bursts as never);
    expect(entryOf(cudaText(program, 90))).toContain(
      'ws_print(ws_host, ws_launch, ws_thread_rank, 0, values, 3);',
    );
  });

  test('nothing is tested, and no channel taken, where it is not asked for', () => {
    const text = entryOf(cudaText(guidePrograms['staging-unified']!.program, 90));
    expect(text).not.toMatch(/ws_inside|ws_check_copy|WS_|ws_host/);
  });

  test('a loop that takes its counter back looks', () => {
    const back = kernel(
      { y: 'i32[]' },
      ({ y }) => {
        for (let i = 0; i < 8; ++i) if (y[0] === 0) --i;
      },
      { name: 'back' },
    );
    expect(entryOf(cudaText(programOf(back as never).program, 90, null, true))).toContain('WS_TURN();');
  });

  test('a loop that counts to a constant does not look whether it is to stop', () => {
    const { program } = programOf(faulty['before others wait for the block'] as never);
    expect(entryOf(cudaText(program, 90, null, true))).not.toContain('WS_TURN');
    expect(entryOf(cudaText(programOf(endless as never).program, 90, null, true))).toContain('WS_TURN();');
  });
});

describe('an access whose index is known to be right is not tested', () => {
  const tests = (one: Kernel, on: string) => {
    const { program } = specialise(one, {
      block: [16, 8, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    const text = entryOf(cudaText(program, 90, null, true));
    return text.match(new RegExp(`${on}_0\\[ws_inside`, 'g'))?.length ?? 0;
  };
  const only = { y: 'i32[]', n: 'index' } as const;

  test.each<[string, number, Kernel<typeof only>]>([
    [
      'by the shape of the block',
      0,
      kernel(only, ({ y }, cuda) => {
        const own = cuda.sharedArray('i32', 128);
        own[cuda.threadIdx.y * 16 + cuda.threadIdx.x] = 1;
        own[127 - cuda.thisThreadBlock().threadRank()] = 1;
        y[0] = 1;
      }),
    ],
    [
      'or is one beyond it',
      2,
      kernel(only, ({ y }, cuda) => {
        const own = cuda.sharedArray('i32', 127);
        own[cuda.threadIdx.y * 16 + cuda.threadIdx.x] = 1;
        own[126 - cuda.thisThreadBlock().threadRank()] = 1;
        y[0] = 1;
      }),
    ],
    [
      'by a loop that counts',
      0,
      kernel(only, ({ y, n }, cuda) => {
        const own = cuda.sharedArray('i32', 64);
        for (let i = 0; i < 64; i++) own[i] = 1;
        for (let i = 3; i < 64; i += 16) own[i] = 1;
        for (let i = 0; i < n; i++) own[i % 64] = 1;
        for (let i = 63; i >= 0; i--) own[i] = 1;
        for (let i = 0; i < 64; i++) {
          own[i] = 1;
          if (n > 3) i += 2;
        }
        let k = 5;
        if (n > 3) k = n;
        if (k >= 0 && k < 64) own[k] = 1;
        y[0] = 1;
      }),
    ],
    [
      'or counts elsewhere first, too far, from too little, or is used behind the loop',
      5,
      kernel(only, ({ y, n }, cuda) => {
        const own = cuda.sharedArray('i32', 64);
        for (let i = 0; i < 65; i++) own[i] = 1;
        for (let i = -1; i < 64; i++) own[i] = 1;
        for (let i = 0; i < 64; i++) {
          if (n > 3) i += 2;
          own[i] = 1;
        }
        let j = 0;
        for (; j < 64; j++) y[0] = 1;
        own[j] = 1;
        for (let i = 0; i < n; i++) own[i] = 1;
      }),
    ],
    [
      'where nothing can have wrapped',
      2,
      kernel(only, ({ y, n }, cuda) => {
        const own = cuda.sharedArray('i32', 64);
        for (let i = 0; i < n; i++) own[(i * 3) % 64] = 1;
        own[(cuda.blockIdx.x * 1024 + 1) % 64] = 1;
        // A grid has fewer than 2^31 threads where an index has 32 bits.
        own[(cuda.blockIdx.x * 128 + 1) % 64] = 1;
        y[0] = 1;
      }),
    ],
  ])('%s', (_, count, one) => {
    expect(tests(one as never, 's_own')).toBe(count);
  });
});

testCompiling('checked kernels compile', (architecture) => [
  ...programs.map((program) => cudaText(program, architecture, null, true)),
  ...Object.values(asserting).map((one) => cudaText(programOf(one as never).program, architecture)),
]);

sayWithoutGpu();

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WarpstageError);
  return error as WarpstageError;
}

/** What a launch of a kernel of the schema above ends with. */
async function fail(device: Device, one: Kernel, cooperative = false): Promise<WarpstageError> {
  const stream = device.createStream();
  const [y, x] = [device.alloc('i32', grid * block), device.alloc('i32', 100)];
  const names = parseSchema(one.schema).map(({ name }) => name);
  const values: Record<string, unknown> = { y, x, n: 0 };
  const given = Object.fromEntries(names.map((name) => [name, values[name]]));
  stream.launch(one, { grid, block, cooperative }, given as never);
  const error = await errorOf(stream.synchronize());
  y.free();
  x.free();
  await stream.destroy();
  return error;
}

const increment = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  y[cuda.thisGrid().threadRank()]! += 1;
});

/** That the device works as if nothing had been. */
async function expectAlive(device: Device): Promise<void> {
  const y = device.alloc('i32', 256);
  const result = new Int32Array(256);
  device.defaultStream.launch(increment, { grid: 4, block: 64 }, { y });
  device.defaultStream.memcpyAsync(result, y);
  await device.synchronize();
  expect(new Set(result)).toEqual(new Set([1]));
  y.free();
}

test.each(Object.entries(faulty))('%s is reported by the CPU', async (_, one) => {
  await using cpu = await open('cpu', { threads: 1 });
  expect((await fail(cpu, one as never)).code).toMatch(/^WS30(01|03|05|09|12)$/);
});

describe.skipIf(gpus === 0)('a checked GPU', () => {
  test.each(Object.entries(faulty))('tells of %s what the CPU tells, and goes on', async (_, one) => {
    await using device = await open('cuda', { checked: true });
    await using cpu = await open('cpu', { threads: 1 });
    const reported = await fail(device, one as never);
    const expected = await fail(cpu, one as never);
    expect(reported.issues).toEqual(expected.issues);
    await expectAlive(device);
  });

  test.each(Object.entries(asserting))('tells of %s when it is not checked', async (_, one) => {
    await using device = await open('cuda', { checked: false });
    await using cpu = await open('cpu', { threads: 1 });
    const reported = await fail(device, one as never);
    const expected = await fail(cpu, one as never);
    expect(reported.issues).toEqual(expected.issues);
    await expectAlive(device);
  });

  test('ends blocks that wait for each other, and launches the next grid', async () => {
    await using device = await open('cuda', { checked: true });
    for (let round = 0; round < 3; ++round) {
      const error = await fail(device, sumOfGrid as never, true);
      expect(error.issues[0]).toMatchObject({ code: 'WS3001', block: [2, 0, 0], thread: [2, 0, 0] });
    }
    const [y, x] = [device.alloc('i32', 192), device.alloc('i32', 192)];
    const result = new Int32Array(192);
    device.defaultStream.launch(sumOfGrid, { grid, block, cooperative: true }, { y, x, n: 0 });
    device.defaultStream.memcpyAsync(result, y);
    await device.synchronize();
    expect(new Set(result)).toEqual(new Set([1]));
  });

  test('tells of one of very many threads', async () => {
    await using device = await open('cuda', { checked: true });
    const y = device.alloc('i32', 10_000);
    device.defaultStream.launch(increment, { grid: 200_000, block: 256 }, { y });
    const error = await errorOf(device.synchronize());
    expect(error.issues[0]!.message).toMatch(/^the kernel reads `y\[\d{5,}\]`, but `y` has 10000 elements$/);
    await expectAlive(device);
  });

  test('counts beyond 2^31', async () => {
    await using device = await open('cuda', { checked: true });
    const far = kernel({ y: 'u8[]', at: 'index' }, ({ y, at }) => {
      y[at] = 1;
    });
    const length = 2 ** 31 + 10;
    const y = device.alloc('u8', length);
    device.defaultStream.launch(far, { grid: 1, block: 1 }, { y, at: length - 1 });
    await device.synchronize();
    device.defaultStream.launch(far, { grid: 1, block: 1 }, { y, at: 2 ** 40 });
    expect((await errorOf(device.synchronize())).issues[0]!.message).toBe(
      `the kernel writes \`y[${2 ** 40}]\`, but \`y\` has ${length} elements`,
    );
  });

  test('carries out no kernel behind a fault, and copies nothing to the host', async () => {
    await using device = await open('cuda', { checked: true });
    const stream = device.createStream();
    const [y, bad] = [device.alloc('i32', 64), device.alloc('i32', 10)];
    const result = new Int32Array(64).fill(5);
    stream.launch(increment, { grid: 1, block: 64 }, { y });
    stream.launch(increment, { grid: 1, block: 64 }, { y: bad });
    stream.launch(increment, { grid: 1, block: 64 }, { y });
    stream.memcpyAsync(result, y);
    expect((await errorOf(stream.synchronize())).code).toBe('WS3001');
    expect(new Set(result)).toEqual(new Set([5]));
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect(new Set(result)).toEqual(new Set([1]));
  });

  test('ends a kernel that never ends, by its signal', async () => {
    await using device = await open('cuda', { checked: true });
    const stream = device.createStream();
    const y = device.alloc('i32', 2);
    stream.launch(endless, { grid: 1000, block: 128, signal: AbortSignal.timeout(50) }, { y });
    expect((await errorOf(stream.synchronize())).code).toBe('WS3004');
    await expectAlive(device);
    stream.memsetAsync(y, 1);
    stream.launch(endless, { grid: 1000, block: 128 }, { y });
    await stream.synchronize();
  });

  test('tells of threads that wait for too long', async () => {
    process.env.WARPSTAGE_PATIENCE = '0.2';
    await using device = await open('cuda', { checked: true });
    const y = device.alloc('i32', 64);
    device.defaultStream.launch(stuck, { grid: 2, block: 64 }, { y });
    const error = await errorOf(device.synchronize());
    delete process.env.WARPSTAGE_PATIENCE;
    expect(error.code).toBe('WS3002');
    expect(error.message).toMatch(
      /the kernel is deadlocked: thread \d+ waits in consumerWait of `pipeline`, for 0\.\d s already/,
    );
    const { text, line } = error.issues[0]!.location!;
    expect(text.split('\n')[line - 1]!.trim()).toBe('pipeline.consumerWait();');
    await expectAlive(device);
  });
});

describe.skipIf(gpus === 0).each([true, false])('kernels print, checked: %s', (checked) => {
  test('what they print on the CPU', async () => {
    const linesOn = async (device: Device) => {
      const lines: string[] = [];
      device.print = (line) => lines.push(line);
      const y = device.alloc('f64', 4);
      const half = device.alloc('f16', 1);
      device.defaultStream.memcpyAsync(y, Float64Array.of(-0, Number.NaN, 1 / 3, 1e-7));
      const given = { y, half, wide: -(2n ** 63n), wider: 2n ** 64n - 1n };
      device.defaultStream.launch(print, { grid: 2, block: 32 }, given);
      await device.synchronize();
      return lines;
    };
    await using device = await open('cuda', { checked });
    await using cpu = await open('cpu', { threads: 1 });
    const expected = await linesOn(cpu);
    expect(expected).toHaveLength(3);
    expect(await linesOn(device)).toEqual(expected);
  });

  test('every line once, those of a thread in order', async () => {
    await using device = await open('cuda', { checked });
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const y = device.alloc('i32', 1);
    device.defaultStream.launch(bursts, { grid: 8, block: 64 }, { y, rounds: 20 });
    device.defaultStream.launch(bursts, { grid: 1, block: 1 }, { y, rounds: 1 });
    await device.synchronize();
    expect(lines).toHaveLength(512 * 20 + 1);
    expect(lines.at(-1)).toBe('0 0 0');
    const next = new Map<string, number>();
    for (const line of lines.slice(0, -1)) {
      const [thread, round] = line.split(' ') as [string, string];
      expect(Number(round)).toBe(next.get(thread) ?? 0);
      next.set(thread, Number(round) + 1);
    }
    expect(next.size).toBe(512);
  });

  test('and learn how many lines were lost', async () => {
    await using device = await open('cuda', { checked });
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const y: DeviceArray<'i32'> = device.alloc('i32', 1);
    const printed = 1000 * 256;
    device.defaultStream.launch(bursts, { grid: 1000, block: 256 }, { y, rounds: 1 });
    await device.synchronize();
    const lost = lines.filter((line) => line.includes('lost'));
    const count = lost.reduce((sum, line) => sum + Number(/^\((\d+) more/.exec(line)![1]), 0);
    expect(count).toBeGreaterThan(0);
    expect(lines.length - lost.length + count).toBe(printed);
  });
});
