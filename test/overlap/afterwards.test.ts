// A run that has ended has ended: whatever stopped it, however slow its files are, nothing of it is under way when
// its promise is settled. What it left is the next run's then, or another process's.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Device, open, run, WarpstageError } from 'warpstage';
import { randomRuns } from '../differential/tape.ts';
import { FileOperations } from './file-operations.ts';
import { affine } from './jobs.ts';
import { npyFile, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

test('a run that is stopped touches no file after it has ended', async () => {
  const directory = temporaryDirectory();
  const [input, output] = [join(directory, 'x.npy'), join(directory, 'y.npy')];
  const x = Float32Array.from({ length: 800 }, (_, i) => i);
  writeFileSync(input, npyFile({ shape: [800], data: x }));
  const options = { input, output, device, chunk: 100, settings: { a: 2, b: 1 } };
  await run(affine, options);
  const whole = readFileSync(output);

  const stops = fc.record({
    chunks: fc.integer({ min: 1, max: 7 }),
    resume: fc.boolean(),
    /** Milliseconds that each operation takes, in turn. */
    waits: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 12 }),
  });
  const stop = async ({ chunks, resume, waits }: { chunks: number; resume: boolean; waits: number[] }) => {
    let ended = false;
    let begun = 0;
    const late: string[] = [];
    const operations = new FileOperations(async (name) => {
      if (ended) late.push(name);
      await pause(waits[begun++ % waits.length]!);
      if (ended) late.push(`${name}, which waited`);
    });
    const controller = new AbortController();
    let through = 0;
    const onProgress = () => {
      if (++through === chunks) controller.abort();
    };
    await operations.replace();
    try {
      const stopped = run(affine, { ...options, resume, signal: controller.signal, onProgress });
      const error = await stopped.catch((reason: unknown) => reason);
      ended = true;
      await pause(8);
      expect(error).toBeInstanceOf(WarpstageError);
      expect(late).toEqual([]);
    } finally {
      operations.restore();
    }
    await run(affine, { ...options, resume: true });
    expect(readFileSync(output).equals(whole)).toBe(true);
  };
  await fc.assert(fc.asyncProperty(stops, stop), randomRuns(12));
});
