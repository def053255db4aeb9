// The overlapped job on every device that is here: the same results, in chunks.

import { describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { affine, neighbours, neighboursInJavaScript } from './jobs.ts';

sayWithoutGpu();

describe.each(devices)('$name', ({ open, ranOn }) => {
  test('streams rows in and out', async () => {
    await using device = await open();
    const x = Float32Array.from({ length: 100_003 }, (_, i) => i % 1000);
    const { outputs, report } = await run(affine, { input: x, device, chunk: 8192, settings: { a: 3 } });
    expect(outputs.y).toEqual(x.map((value) => value * 3 + 1));
    expect(report).toMatchObject({ rows: x.length, chunks: 13, chunkRows: 8192 });
    expect(report.ranOn[0]).toMatch(ranOn);
    // The device reported its copies and kernels.
    const operations = Object.fromEntries(report.stages.map((stage) => [stage.name, stage.operations]));
    expect(operations).toMatchObject({ 'copy in': 13, compute: 13, 'copy out': 13 });
    expect(device.memory.allocations).toBe(0);
  });

  test('gives chunks their neighbours', async () => {
    await using device = await open();
    const x = Int32Array.from({ length: 10_000 }, (_, i) => (i * 7) % 1000);
    const { outputs } = await run(neighbours(2, 3, 'clamp'), { input: x, device, chunk: 1000 });
    expect(outputs.y).toEqual(neighboursInJavaScript(x, 2, 3, 'clamp'));
  });
});
