// A GPU that a kernel brought down. In a file of its own, since it takes the GPU from its process.

import { describe, expect, test } from 'vitest';
import { kernel, open, WarpstageError } from 'warpstage';
import { gpus } from '../support/gpu.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const far = kernel(
  { y: 'i32[]', at: 'index' },
  ({ y, at }, cuda) => {
    y[at + cuda.thisGrid().threadRank()] = 1;
  },
  { name: 'far' },
);

const step = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + 1;
  },
  { name: 'step' },
);

sayWithoutGpu();

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WarpstageError);
  return error as WarpstageError;
}

describe.skipIf(gpus === 0)('cuda', () => {
  test('an illegal address stops the device, names the kernel, and leaves the process alive', async () => {
    const device = await open('cuda');
    const stream = device.createStream();
    const y = device.alloc('i32', 1000);
    stream.launch(step, { grid: 4, block: 256 }, { y });
    await stream.synchronize();
    stream.launch(far, { grid: 1, block: 32 }, { y, at: 2 ** 42 });
    const result = new Int32Array(1000);
    // Whoever comes first meets the error: the copy when it is issued, or the wait for it.
    const copyBack = async () => {
      stream.memcpyAsync(result, y);
      await stream.synchronize();
    };
    const error = await errorOf(copyBack());
    expect(error.message).toMatch(/^WS4006: the GPU stopped in kernel `far`: CUDA_ERROR_ILLEGAL_ADDRESS: /);
    expect(error.issues[0]!.location!.file).toMatch(/lost\.test\.ts$/);
    expect(() => device.alloc('i32', 1)).toThrow('WS4006: the GPU stopped in kernel `far`');
    expect(() => device.allocPinned('i32', 1)).toThrow('WS4006: the GPU stopped in kernel `far`');
    expect(() => device.memory).toThrow('WS4006: the GPU stopped in kernel `far`');
    expect(error.hint).toContain("open('cuda', { checked: true })");
    expect(() => stream.launch(step, { grid: 4, block: 256 }, { y })).toThrow('WS4006: the GPU stopped');
    await expect(open('cuda')).rejects.toThrow('WS4006: GPU 0 stopped, and a device that used it');
    await device.close();
    // The driver gives this process no GPU any more; the process goes on.
    await expect(open('cuda')).rejects.toThrow('WS4006: GPU 0 cannot be opened again');
    await using cpu = await open('cpu');
    const z = cpu.alloc('i32', 1000);
    cpu.defaultStream.launch(step, { grid: 4, block: 256 }, { y: z });
    cpu.defaultStream.memcpyAsync(result, z);
    await cpu.synchronize();
    expect(new Set(result)).toEqual(new Set([1]));
  });
});
