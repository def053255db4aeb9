// What only NVIDIA GPUs can show: devices that share one, and several of them.

import { describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { gpus } from '../support/gpu.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const step = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + 1;
  },
  { name: 'step' },
);

sayWithoutGpu();

describe.skipIf(gpus === 0)('cuda', () => {
  test('two devices on one GPU share its context', async () => {
    await using device = await open('cuda');
    await using other = await open('cuda');
    const [a, b] = [device.alloc('i32', 10), other.alloc('i32', 10)];
    device.defaultStream.launch(step, { grid: 1, block: 32 }, { y: a });
    await device.synchronize();
    other.defaultStream.memcpyAsync(b, a);
    await Promise.all([device.synchronize(), other.synchronize()]);
    await device.close();
    other.defaultStream.launch(step, { grid: 1, block: 32 }, { y: b });
    const result = new Int32Array(10);
    other.defaultStream.memcpyAsync(result, b);
    await other.synchronize();
    expect([...result]).toEqual(new Array(10).fill(2));
  });

  test.skipIf(gpus < 2)('two GPUs work side by side, and copy to each other', async () => {
    await using one = await open('cuda:0');
    await using two = await open('cuda:1');
    const n = 1_000_000;
    const [x, y] = [one.alloc('i32', n), two.alloc('i32', n)];
    for (let i = 0; i < 3; ++i) {
      one.defaultStream.launch(step, { grid: Math.ceil(n / 256), block: 256 }, { y: x });
      two.defaultStream.launch(step, { grid: Math.ceil(n / 256), block: 256 }, { y });
    }
    await Promise.all([one.synchronize(), two.synchronize()]);
    two.defaultStream.launch(step, { grid: Math.ceil(n / 256), block: 256 }, { y });
    two.defaultStream.memcpyAsync(y.subarray(0, 10), x.subarray(0, 10));
    one.defaultStream.memcpyAsync(x.subarray(10, 20), one.alloc('i32', 10));
    await two.synchronize();
    one.defaultStream.memcpyAsync(x.subarray(20, 30), y.subarray(20, 30));
    const [fromOne, fromTwo] = [new Int32Array(40), new Int32Array(40)];
    one.defaultStream.memcpyAsync(fromOne, x.subarray(0, 40));
    two.defaultStream.memcpyAsync(fromTwo, y.subarray(0, 40));
    await Promise.all([one.synchronize(), two.synchronize()]);
    const tens = (...values: number[]) => values.flatMap((value) => new Array(10).fill(value));
    expect([...fromTwo]).toEqual(tens(3, 4, 4, 4));
    expect([...fromOne]).toEqual(tens(3, 0, 4, 3));
  });
});
