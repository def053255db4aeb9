// Threads that sleep, or wait with a limit, again and again for what never comes: state machines
// give up after a while, and say where everybody is.

import { afterEach, describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { patienceOf } from '#warpstage/targets/patience.js';
import { Patience } from '#warpstage/targets/wasm/patience.js';
import { createWasmRunner } from '#warpstage/targets/wasm/runner.js';
import { type KernelLaunch, runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm } from '../support/wasm.ts';

/** WebAssembly, with patience for a few milliseconds only. */
const hasty: Target = {
  ...wasm,
  createRunner: (executable, context) =>
    createWasmRunner(executable as never, context, new Patience(context.memory, 30)),
};

const faultOf = (made: Kernel, launch: KernelLaunch) => runKernel(hasty, made, launch).fault;
const inVain =
  'a sleep or a wait with a limit, again and again, while no thread of the block arrives anywhere';
const out = () => ({ out: new Int32Array(8) });

describe('what never comes', () => {
  test('is a stage that nobody commits', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const pipe = cuda.makePipeline(
        block,
        cuda.pipelineSharedState('block', 2),
        t < 2 ? 'producer' : 'consumer',
      );
      if (t >= 2) while (!pipe.consumerWaitFor(1000));
      else block.sync();
      out[t] = 1;
    });
    const fault = faultOf(polls, { grid: 1, block: 8, arguments: out() });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        { what: 'sync of the block: 2 of 8 threads have arrived', threads: [0, 1] },
        { what: inVain, threads: [2, 3, 4, 5, 6, 7] },
      ],
    });
  });

  test('is a phase of a barrier that nobody ends', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block, block.size() + 1);
      const token = bar.arrive();
      while (!bar.tryWaitFor(token, 500));
      out[block.threadRank()] = 1;
    });
    const fault = faultOf(polls, { grid: 1, block: 8, arguments: out() });
    expect(fault).toMatchObject({ kind: 'deadlock', waiting: [{ what: inVain }] });
  });

  test('is a flag in memory that nobody sets, in the second block', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisGrid().blockRank();
      if (block === 0) cuda.atomicAdd(out, 0, 1);
      while (cuda.atomicAdd(out, block, 0) === 0) cuda.nanosleep(100);
    });
    const fault = faultOf(polls, { grid: 2, block: 4, arguments: out() });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      block: [1, 0, 0],
      waiting: [{ what: inVain, threads: [0, 1, 2, 3] }],
    });
  });
});

describe('what does come', () => {
  test('is waited for, however often threads look for it', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const pipe = cuda.makePipeline(
        block,
        cuda.pipelineSharedState('block', 1),
        t === 0 ? 'producer' : 'consumer',
      );
      for (let batch = 0; batch < 200; batch++) {
        if (t === 0) {
          pipe.producerAcquire();
          cuda.nanosleep(10);
          pipe.producerCommit();
        } else {
          while (!pipe.consumerWaitFor(100)) cuda.nanosleep(10);
          out[t] = out[t]! + 1;
          pipe.consumerRelease();
        }
      }
    });
    const given = out();
    expect(faultOf(polls, { grid: 1, block: 8, arguments: given })).toBeNull();
    expect([...given.out]).toEqual([0, ...Array(7).fill(200)]);
  });

  test('is what a thread brings that first waits for other blocks', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const grid = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const bar = cuda.barrier(block, 1);
      if (block.threadRank() === 0) cuda.atomicAdd(out, grid.blockRank(), 1);
      // Another block sets what this one looks for.
      while (cuda.atomicAdd(out, (grid.blockRank() + 1) % grid.numBlocks(), 0) === 0) cuda.nanosleep(10);
      grid.sync();
      if (block.threadRank() === 0) bar.arrive();
      while (!bar.tryWaitParityFor(0, 10));
      if (block.threadRank() === 0) cuda.atomicAdd(out, grid.blockRank(), 1);
    });
    const given = out();
    expect(faultOf(polls, { grid: 3, block: 4, cooperative: true, arguments: given })).toBeNull();
    expect([...given.out]).toEqual([2, 2, 2, 0, 0, 0, 0, 0]);
  });
});

describe('WARPSTAGE_PATIENCE', () => {
  const { WARPSTAGE_PATIENCE: before } = process.env;
  afterEach(() => {
    if (before === undefined) delete process.env.WARPSTAGE_PATIENCE;
    else process.env.WARPSTAGE_PATIENCE = before;
  });

  test('says for how long the CPU waits for what never comes', async () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      while (cuda.atomicAdd(out, 0, 0) === 0) cuda.nanosleep(100);
    });
    process.env.WARPSTAGE_PATIENCE = '0.05';
    await using device = await open('cpu', { threads: 1 });
    device.defaultStream.launch(polls, { grid: 1, block: 2 }, { out: device.alloc('i32', 1) });
    await expect(device.synchronize()).rejects.toThrow('WS3002: the kernel is deadlocked');
  });

  test('is a number of seconds; anything else leaves it at 30', () => {
    const of = (text?: string) => patienceOf(text === undefined ? {} : { WARPSTAGE_PATIENCE: text });
    expect([of('2'), of('0.5'), of('1e3')]).toEqual([2000, 500, 1_000_000]);
    for (const text of [undefined, '', '0', '-1', 'long', 'NaN']) expect(of(text)).toBe(30_000);
    // A browser has no environment.
    expect(patienceOf(undefined)).toBeGreaterThan(0);
  });
});
