// Jobs on a real GPU that is short of memory, or whose kernel fails in the middle. Needs a GPU; where
// there is none the tests say that they skip.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { job, kernel, open, run } from 'warpstage';
import { affine } from '../overlap/jobs.ts';
import { namesIn, npyFile, temporaryDirectory } from '../overlap/support.ts';
import { gpus } from '../support/gpu.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

/** Elements: more bytes than any GPU has, and maps in one stretch. */
const far = 2 ** 40;

/** Writes far away at one element of the input. */
const wild = job({
  kernel: kernel(
    { y: 'f32[]', x: 'readonly f32[]', far: 'index' },
    ({ y, x, far }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[x[i] === 70_000 ? i + far : i] = x[i]!;
    },
    { name: 'wild' },
  ),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { far: { default: far } },
});

function inputIn(folder: string): string {
  const data = Float32Array.from({ length: 100_000 }, (_value, i) => i);
  const path = join(folder, 'x.npy');
  writeFileSync(path, npyFile({ shape: [data.length], data }));
  return path;
}

sayWithoutGpu();

describe.skipIf(gpus === 0)('a job on a GPU', () => {
  test('makes its chunks smaller where the memory is short, and works', async () => {
    await using device = await open('cuda');
    // Less than a chunk takes, and more than the driver needs for streams.
    const left = 240 * 2 ** 20;
    const taken = [];
    let size = 2 ** Math.floor(Math.log2(device.properties.totalGlobalMemory));
    while (size >= 2 ** 20) {
      try {
        if (device.memory.free - size <= left) size /= 2;
        else taken.push(device.alloc('u8', size));
      } catch {
        // What is free need not be one stretch.
        size /= 2;
      }
    }
    // The plan is made as if the memory were there, as when another process takes it afterwards.
    const { memory } = device;
    Object.defineProperty(device, 'memory', { value: { ...memory, free: memory.total }, configurable: true });
    const rows = 64 * 2 ** 20;
    const x = new Float32Array(rows).fill(2);
    const wanted = 32 * 2 ** 20;
    const { outputs, report } = await run(affine, {
      input: x,
      device,
      chunk: wanted,
      depth: 3,
      settings: { a: 3 },
    });
    expect(report.chunkRows).toBeLessThan(wanted);
    expect(report.rows).toBe(rows);
    expect(outputs.y![0]).toBe(7);
    expect(outputs.y![rows - 1]).toBe(7);
    for (const array of taken) array.free();
    Reflect.deleteProperty(device, 'memory');
    expect(device.memory.allocations).toBe(0);
  });

  test('says where its kernel failed, leaves no output, and can be run again', async () => {
    await using device = await open('cuda', { checked: true });
    const folder = temporaryDirectory();
    const files = { input: inputIn(folder), output: join(folder, 'y.npy'), device, chunk: 4096 };
    await expect(run(wild, { ...files, settings: { far } })).rejects.toThrow(
      /^WS3001: kernel `wild` writes `y\[109951\d{7}\]`, but `y` has 4096/,
    );
    expect(namesIn(folder)).toEqual(['x.npy']);
    await run(affine, files);
    expect(namesIn(folder)).toEqual(['x.npy', 'y.npy']);
    expect(device.memory.allocations).toBe(0);
  });

  // Last, since it takes the GPU from this process.
  test('whose GPU stops in the middle fails, and leaves no output', async () => {
    const device = await open('cuda');
    const folder = temporaryDirectory();
    const files = { input: inputIn(folder), output: join(folder, 'y.npy'), device, chunk: 4096 };
    await expect(run(wild, { ...files, settings: { far } })).rejects.toThrow(
      /^WS4006: the GPU stopped in kernel `wild`: CUDA_ERROR_/,
    );
    expect(namesIn(folder)).toEqual(['x.npy']);
    await device.close();
    await run(affine, { ...files, device: 'cpu' });
    expect(namesIn(folder)).toEqual(['x.npy', 'y.npy']);
  });
});
