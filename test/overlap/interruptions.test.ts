// Runs that end in the middle, by a kernel, a function of the job or a signal: the error says it, and nothing
// is left behind, neither files nor memory on the device, which stays usable.

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { job, kernel, type RunOptions, run } from 'warpstage';
import { lookUp, statistics } from './jobs.ts';
import { expectFailure } from './support.ts';
import { Untouched } from './untouched.ts';

const untouched = new Untouched();
const { at, attempt, keep } = untouched;

describe('kernels', () => {
  /** Writes where it must not, in the chunk that begins at `at`. */
  const faulty = job({
    kernel: kernel(
      { y: 'f32[]', x: 'readonly f32[]', start: 'index', at: 'index' },
      ({ y, x, start, at }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = x[i]!;
        if (start === at && i === 5) y[y.length + 7] = 1;
      },
      { name: 'faulty' },
    ),
    inputs: { x: {} },
    outputs: { y: {} },
    settings: { at: 300 },
    offset: 'start',
  });

  test.each([1, 4])('that fault stop the run (%i in flight)', async (depth) => {
    const failing = run(faulty, {
      input: at('x.npy'),
      output: at('y.npy'),
      device: untouched.device,
      chunk: 100,
      depth,
    });
    await expectFailure(failing, 'WS3001', /y\[107\].*100 elements|107/);
  });

  test('that never end are cancelled with the run', async () => {
    const endless = job({
      kernel: kernel(
        { y: 'f32[]', x: 'readonly f32[]' },
        ({ y, x }) => {
          for (;;) y[0] = x[0]!;
        },
        { name: 'endless' },
      ),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    const signal = AbortSignal.timeout(100);
    const stopped = run(endless, {
      input: at('x.npy'),
      output: at('y.npy'),
      device: untouched.device,
      chunk: 100,
      signal,
    });
    await expectFailure(stopped, 'WS5009', 'the job was stopped before its end');
  });

  test('functions of the job that throw, or give what cannot be', async () => {
    const { definition } = lookUp;
    const with_ = (scale: () => unknown) =>
      job({ ...definition, arrays: { ...definition.arrays, scale } } as never);
    const input = [new Uint8Array(2), new Float32Array(8)];
    const settings = { columns: 2 };
    const boom = run(
      with_(() => {
        throw new TypeError('boom');
      }),
      { input, device: untouched.device, settings },
    );
    await expect(boom).rejects.toThrow(new TypeError('boom'));
    const wrong = run(
      with_(() => [1, 2]),
      { input, device: untouched.device, settings },
    );
    await expectFailure(
      wrong,
      'WS5007',
      "arrays.scale of the job must be a Float32Array (the kernel's f32[]), and is [1, 2]",
    );
    const blocks = job({
      ...statistics.definition,
      launch: ({ rows }: { rows: number }) => ({ grid: rows === 10 ? 2 : 3, block: 4 }),
    } as never);
    const data = [new Int32Array(15), new Float64Array(15)];
    await expectFailure(
      run(blocks, { input: data, device: untouched.device, chunk: 10 }),
      'WS5007',
      'launch of the job gives 3 blocks for a chunk',
    );
  });
});

describe('interruption', () => {
  test.each([0, 1, 7, 39])('after %i chunks leaves nothing', async (chunks) => {
    const controller = new AbortController();
    if (chunks === 0) controller.abort();
    let done = 0;
    const stopped = attempt({
      signal: controller.signal,
      onProgress: () => {
        if (++done === chunks) controller.abort();
      },
    });
    await expectFailure(
      stopped,
      'WS5009',
      'the job was stopped before its end; nothing of its output is left',
    );
  });

  test('of a stream that never gives anything', async () => {
    const stream = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    await expectFailure(attempt({ input: stream, signal: AbortSignal.timeout(50) }), 'WS5009', 'stopped');
  });

  test('of pipes that nobody fills, and nobody empties', async () => {
    execFileSync('mkfifo', [at('in'), at('out')]);
    keep();
    await expectFailure(attempt({ input: at('in'), signal: AbortSignal.timeout(50) }), 'WS5009', 'stopped');
    await expectFailure(attempt({ output: at('out'), signal: AbortSignal.timeout(50) }), 'WS5009', 'stopped');
  });

  test('at any moment before such a pipe is waited for', { timeout: 60_000 }, async () => {
    execFileSync('mkfifo', [at('in'), at('out')]);
    keep();
    const filled = { file: at('in'), format: 'raw', dtype: 'f32' } as const;
    const waiting: Partial<RunOptions>[] = [
      { input: filled },
      { output: at('out') },
      { input: filled, device: 'cpu' },
    ];
    for (const options of waiting) {
      for (let turns = 0; turns < 40; turns++) {
        const controller = new AbortController();
        const stopped = attempt({ ...options, signal: controller.signal });
        stopped.catch(() => {});
        for (let n = 0; n < turns; n++) await new Promise(setImmediate);
        controller.abort();
        await expectFailure(stopped, 'WS5009', 'stopped');
      }
    }
  });

  test('by a callback that throws', async () => {
    const onProgress = () => {
      throw new RangeError('no more');
    };
    await expect(attempt({ onProgress })).rejects.toThrow(new RangeError('no more'));
  });

  test('leaves other work on the device alone', async () => {
    const stream = untouched.device.createStream();
    const array = untouched.device.alloc('f32', 3);
    stream.memcpyAsync(array, Float32Array.of(1, 2, 3));
    const controller = new AbortController();
    const stopped = attempt({ signal: controller.signal, onProgress: () => controller.abort() });
    await expectFailure(stopped, 'WS5009', 'stopped');
    const back = new Float32Array(3);
    stream.memcpyAsync(back, array);
    await stream.destroy();
    expect([...back]).toEqual([1, 2, 3]);
    array.free();
  });
});
