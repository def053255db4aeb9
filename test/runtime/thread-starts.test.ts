// Threads that the system does not let start: the n-th for n = 1, 2, … until all start, at once or by an error that
// comes later, once or from then on. A kernel needs one thread of all that were asked for; without any, its commands
// fail, and the device works again when threads can start.

import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { availableParallelism } from 'node:os';
import threads from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { type Device, kernel, open, WarpstageError } from 'warpstage';
import { atLength } from '../support/thorough.ts';

const twice = kernel(
  { y: 'i32[]', x: 'readonly i32[]' },
  ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = 2 * x[i]!;
  },
  { name: 'twice' },
);
const x = Int32Array.from({ length: 100_000 }, (_, i) => i);
const expected = x.map((value) => 2 * value);

const { Worker } = threads;
afterEach(() => {
  threads.Worker = Worker;
  syncBuiltinESMExports();
});

/** Counts the threads that are started, and has those for which `fails` is true not start. */
function startThreads(how: 'at once' | 'later', fails: (n: number) => boolean): { started: number } {
  const seen = { started: 0 };
  const message = 'Worker initialization failure: EAGAIN';
  class Unstarted extends EventEmitter {
    constructor() {
      super();
      setImmediate(() => {
        this.emit('error', new Error(message));
        this.emit('exit', 1);
      });
    }
    unref() {}
    async terminate() {}
  }
  threads.Worker = new Proxy(Worker, {
    construct(target, args) {
      if (!fails(++seen.started)) return Reflect.construct(target, args) as object;
      if (how === 'at once') throw new Error(message);
      return new Unstarted();
    },
  });
  syncBuiltinESMExports();
  return seen;
}

async function compute(device: Device): Promise<Int32Array> {
  const [from, into] = [device.alloc('i32', x.length), device.alloc('i32', x.length)];
  const stream = device.createStream();
  try {
    const y = new Int32Array(x.length);
    stream.memcpyAsync(from, x);
    stream.launch(twice, { grid: Math.ceil(x.length / 256), block: 256 }, { y: into, x: from });
    stream.memcpyAsync(y, into);
    await stream.synchronize();
    return y;
  } finally {
    await stream.destroy().catch(() => {});
    from.free();
    into.free();
  }
}

describe.each(['at once', 'later'] as const)('a thread that does not start, which shows %s', (how) => {
  // Later, once; at once, in turn: once, and from then on.
  test.runIf(how === 'later' || atLength)('is done without, or fails what needs it', async () => {
    let n = 0;
    for (let passed = false; !passed; ) {
      n++;
      const forEver = how === 'at once' && n % 2 === 1;
      const told = `the ${n}th thread did not start${forEver ? ', nor did any after it' : ''}`;
      await using device = await open('cpu', { threads: 3, memory: 8 << 20 });
      const seen = startThreads(how, (k) => (forEver ? k >= n : k === n));
      const result = await compute(device).catch((error: unknown) => error);
      passed = seen.started < n;
      threads.Worker = Worker;
      syncBuiltinESMExports();
      if (result instanceof Int32Array) expect(result, told).toEqual(expected);
      else {
        expect(result, told).toBeInstanceOf(WarpstageError);
        expect((result as WarpstageError).code, told).toBe('WS4006');
        expect((result as WarpstageError).hint, told).toMatch(/may have no more threads/);
      }
      expect(await compute(device), told).toEqual(expected);
    }
    // Two engines that copy, and the three threads of kernels.
    expect(n).toBe(6);
  });

  test('is done without where it would only help', async () => {
    await using device = await open('cpu', { threads: 4, memory: 8 << 20 });
    // The engine that copies in, and the lead of the kernels, start.
    startThreads(how, (k) => k > 2 && k < 6);
    const stream = device.createStream();
    const [from, into] = [device.alloc('i32', x.length), device.alloc('i32', x.length)];
    stream.memcpyAsync(from, x);
    for (let k = 0; k < 20; k++) {
      stream.launch(twice, { grid: Math.ceil(x.length / 256), block: 256 }, { y: into, x: from });
      await stream.synchronize();
    }
    threads.Worker = Worker;
    syncBuiltinESMExports();
    const y = new Int32Array(x.length);
    stream.memcpyAsync(y, into);
    await stream.synchronize();
    expect(y).toEqual(expected);
  });
});

test('a device of 1024 threads starts those that a launch can use, and the others one by one', async () => {
  await using device = await open('cpu', { threads: 1024, memory: 64 << 20 });
  expect(device.properties.multiProcessorCount).toBe(1024);
  const seen = startThreads('at once', () => false);
  expect(await compute(device)).toEqual(expected);
  const most = Math.max(8, availableParallelism()) + 2;
  expect(seen.started).toBeLessThanOrEqual(most);
  expect(await compute(device)).toEqual(expected);
  expect(seen.started).toBeLessThanOrEqual(most + 1);
});
