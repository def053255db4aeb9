// What a copy may promise of addresses: arrays begin at multiples of 256 bytes on every device, and shared
// arrays at multiples of what the kernel's copies promise of them.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { devices } from '../support/devices.ts';

const promising = (align: number) =>
  kernel(
    { out: 'i32[]', input: 'readonly i32[]', align: `constant index = ${align}` },
    ({ out, input, align }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      // Of a size that leaves no array behind it at a round place by itself.
      const before = cuda.sharedArray('i32', 5);
      const staged = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      if (t < 5) before[t] = t;
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged, input, cuda.alignedSize(align, 64), pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] = staged[63 - t]! + before[t % 5]!;
      pipe.consumerRelease();
    },
  );

const expected = Int32Array.from({ length: 64 }, (_, t) => 100 * (63 - t) + (t % 5));

describe.each(devices)('$name', ({ open }) => {
  test('keeps promises of 16 to 256 bytes', async () => {
    const device = await open();
    try {
      // Arrays of odd sizes between those that are copied.
      for (const align of [16, 64, 128, 256]) {
        device.alloc('u8', align + 3);
        const [out, input] = [device.alloc('i32', 64), device.alloc('i32', 64)];
        const stream = device.createStream();
        stream.memcpyAsync(
          input,
          Int32Array.from({ length: 64 }, (_, i) => 100 * i),
        );
        stream.launch(promising(align), { grid: 1, block: 64 }, { out, input });
        const result = new Int32Array(64);
        stream.memcpyAsync(result, out);
        await stream.synchronize();
        expect(result).toEqual(expected);
      }
    } finally {
      await device.close();
    }
  });
});

test.each([16, 64, 128, 256])('the checker finds nothing wrong with a promise of %i bytes', (align) => {
  const launch = { grid: 1, block: 64, arguments: { out: { length: 64 }, input: { length: 64 } } };
  const { findings } = check(promising(align), launch, { schedules: 2 });
  expect(findings.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
});
