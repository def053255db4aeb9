// Runs that share a device: the report and the spans of each are of what it did itself.

import { describe, expect, test } from 'vitest';
import { run } from 'warpstage';
import { devices } from '../support/devices.ts';
import { affine } from './jobs.ts';

const rowsOf = [40_000, 10_000, 25_000];
const chunk = 2500;

describe.each(devices)('$name', ({ open }) => {
  test('runs at the same time count their own copies and kernels, beside other work of the device', async () => {
    await using device = await open();
    const runs = rowsOf.map(async (rows) => {
      const x = Float32Array.from({ length: rows }, (_, i) => i % 1000);
      const ran = await run(affine, { input: x, device, chunk, depth: 2, trace: true });
      return { rows, ran, x };
    });
    // What nobody's run is.
    const [a, b] = [device.alloc('u8', 1 << 20), device.alloc('u8', 1 << 20)];
    const stream = device.createStream();
    for (let i = 0; i < 20; i++) stream.memcpyAsync(a, b);
    const all = await Promise.all(runs);
    await stream.synchronize();
    const streams = new Set<string>();
    for (const { rows, ran, x } of all) {
      const { report, spans, outputs } = ran;
      expect([...outputs.y!]).toEqual([...x.map((value) => 2 * value + 1)]);
      const chunks = rows / chunk;
      expect(report.chunks).toBe(chunks);
      const stage = (name: string) => report.stages.find((one) => one.name === name)!;
      expect({ rows, kernels: stage('compute').operations }).toEqual({ rows, kernels: chunks });
      expect({ rows, bytes: stage('copy out').bytes }).toEqual({ rows, bytes: 4 * rows });
      expect(spans.filter(({ name }) => name === 'affine')).toHaveLength(chunks);
      const own = new Set(spans.map((span) => span.stream).filter((name) => name.startsWith('stream ')));
      expect(own.has(stream.name)).toBe(false);
      for (const name of own) expect(streams.has(name)).toBe(false);
      for (const name of own) streams.add(name);
    }
  });
});
