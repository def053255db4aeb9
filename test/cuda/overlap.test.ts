// A kernel whose input overlaps its output reads and writes in the order of the program: nothing reads ahead.
// Needs a GPU; where there is none the test says that it skips.

import { expect, test } from 'vitest';
import { open } from 'warpstage';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { gpus } from '../support/gpu.ts';

test.skipIf(gpus === 0)(
  'an input that overlaps the output is copied in the order of the program',
  async () => {
    await using device = await open('cuda');
    const [block, batchCount] = [64, 9];
    const memory = device.alloc('i32', block * (batchCount + 1));
    const stream = device.defaultStream;
    stream.memcpyAsync(memory, new Int32Array(memory.length).fill(1));
    const launch = { grid: 1, block };
    const apart = device.alloc('i32', block * batchCount);
    const plain = stream.launch(withStagingUnified, launch, {
      globalOut: apart,
      globalIn: memory.subarray(0, block * batchCount),
      batchCount,
      stagesCount: 2,
    });
    expect(plain.ranOn).toBe('cuda (kernel, bulk)');
    const again = (stagesCount: number) =>
      stream.launch(withStagingUnified, launch, {
        globalOut: memory.subarray(block),
        globalIn: memory.subarray(0, block * batchCount),
        batchCount,
        stagesCount,
      });
    expect(again(2).ranOn).toBe('cuda (kernel, groups)');
    stream.memcpyAsync(memory, new Int32Array(memory.length).fill(1));
    // With one stage, each batch is written before the next one, which is the same memory, is read.
    expect(again(1).ranOn).toBe('cuda (kernel, groups)');
    const result = new Int32Array(memory.length);
    stream.memcpyAsync(result, memory);
    await stream.synchronize();
    let expected = 1;
    for (let batch = 0; batch <= batchCount; ++batch, expected = 3 * expected + 1)
      expect(result[batch * block + 7], `batch ${batch}`).toBe(expected);
  },
);
