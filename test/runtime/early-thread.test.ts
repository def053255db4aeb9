// Threads that start before their device: the first device has them, and who ends without one leaves none behind.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DeviceArray, kernel, map, open, run } from 'warpstage';
import { EarlyThread, startEarly } from '#warpstage/runtime/cpu/early-thread.js';
import { expectFailure, useFolder } from '../overlap/support.ts';

const count = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = i;
});
const twice = map({ y: 'f32', x: 'f32' }, ({ x }) => 2 * x);

async function read(y: DeviceArray<'i32'>): Promise<Int32Array> {
  const values = new Int32Array(y.length);
  y.device.defaultStream.memcpyAsync(values, y);
  await y.device.synchronize();
  return values;
}

/** Whether a thread is gone, as Node says it. */
const isGone = ({ worker }: EarlyThread) => worker.threadId === -1;

afterEach(() => expect(EarlyThread.take()).toBeNull());

test.runIf(availableParallelism() > 1)('one starts for the CPU alone', async () => {
  expect(startEarly('model:h200', [])).toBeNull();
  expect(startEarly(['cpu'], [])).toBeNull();
  for (const device of [undefined, 'cpu']) {
    await using early = startEarly(device, []);
    expect(early).not.toBeNull();
  }
});

describe.runIf(availableParallelism() > 1)('a second one starts behind the first', () => {
  const at = useFolder();
  let large: string;
  beforeEach(() => {
    large = at('large.f32');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 26);
  });
  /** Whether there are two once the first one has begun. */
  const isFollowed = async (input: unknown) => {
    await using _ = startEarly('cpu', input);
    const first = EarlyThread.waiting[0]!;
    await once(first.worker, 'online');
    return EarlyThread.waiting.length === 2;
  };

  test('where a large file is read', async () => {
    expect(await isFollowed(large)).toBe(true);
    expect(await isFollowed([large])).toBe(true);
    expect(await isFollowed({ x: Float32Array.of(1), y: large })).toBe(true);
  });

  test('and nowhere else', async () => {
    for (const input of [
      undefined,
      null,
      'no such file',
      '\0',
      [],
      new Float32Array(2 ** 20),
      { x: 'small' },
      7,
    ])
      expect(await isFollowed(input)).toBe(false);
  });

  test('not when the device has the first one already, nor when the run is over', async () => {
    {
      await using _ = startEarly('cpu', large);
      const first = EarlyThread.take()!;
      await once(first.worker, 'online');
      expect(EarlyThread.waiting).toEqual([]);
      await first.worker.terminate();
    }
    const early = startEarly('cpu', large)!;
    const { worker } = EarlyThread.waiting[0]!;
    const gone = once(worker, 'exit');
    await early[Symbol.asyncDispose]();
    await gone;
    expect(EarlyThread.waiting).toEqual([]);
  });

  test('a run has both, and leaves none', async () => {
    const started = new Set<EarlyThread>();
    let isOver = false;
    const running = run(twice, { input: large, output: at('y.f32') }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const one of EarlyThread.waiting) started.add(one);
      await setImmediate();
    }
    await running;
    expect(statSync(at('y.f32')).size).toBe(2 ** 26);
    expect(started.size).toBeGreaterThan(0);
    expect([...started].every(isGone)).toBe(true);
  });
});

test.runIf(process.platform === 'linux')('none starts where the address space is limited', () => {
  const path = createRequire(import.meta.url).resolve('#warpstage/runtime/cpu/early-thread.js');
  const script = `import(${JSON.stringify(path)}).then((one) => console.log(one.startEarly(undefined, []) === null))`;
  const limited = spawnSync(
    'sh',
    ['-c', 'ulimit -v 100000000; exec "$0" -e "$1"', process.execPath, script],
    {
      encoding: 'utf8',
    },
  );
  expect(limited.stdout, limited.stderr).toBe('true\n');
});

test('a device runs its kernels on it, and ends it', async () => {
  const early = new EarlyThread();
  await using device = await open('cpu', { threads: 2 });
  const y = device.alloc('i32', 1000);
  device.defaultStream.launch(count, { grid: 4, block: 256 }, { y });
  expect(EarlyThread.take()).toBeNull();
  expect([...(await read(y))]).toEqual([...Array(1000).keys()]);
  // It belongs to the device now: the run that started it does not end it.
  await early[Symbol.asyncDispose]();
  expect(isGone(early)).toBe(false);
  expect(early.hasBegun).toBe(true);
  await device.close();
  expect(isGone(early)).toBe(true);
});

test('an interpreted kernel, whose threads have another program, leaves it', async () => {
  await using early = new EarlyThread();
  await using device = await open('cpu', { target: 'interpreter' });
  const y = device.alloc('i32', 3);
  device.defaultStream.launch(count, { grid: 1, block: 32 }, { y });
  expect([...(await read(y))]).toEqual([0, 1, 2]);
  expect(EarlyThread.take()).toBe(early);
  await early.worker.terminate();
});

describe('nothing is left', () => {
  test('of one that nobody takes', async () => {
    const early = new EarlyThread();
    await early[Symbol.asyncDispose]();
    expect(isGone(early)).toBe(true);
  });

  test('of a run, whether it goes well or fails before it opens a device', async () => {
    for (let times = 0; times < 3; ++times) {
      const { outputs } = await run(twice, { input: Float32Array.of(1, 2) });
      expect([...outputs.y!]).toEqual([2, 4]);
      await expectFailure(
        run(twice, { input: 'no/such/file.npy' }),
        'WS5003',
        /no\/such\/file.npy cannot be read/,
      );
      expect(EarlyThread.take()).toBeNull();
    }
  });

  test('of one that does not start: the device starts another', async () => {
    await using early = new EarlyThread();
    early.worker.emit('error', new Error('no more threads'));
    const { outputs } = await run(twice, { input: Float32Array.of(3) });
    expect([...outputs.y!]).toEqual([6]);
    const ended = once(early.worker, 'exit');
    await early.worker.terminate();
    await ended;
  });
});
