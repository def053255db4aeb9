// What a GPU's memory wants under way, from what the driver tells of it.

import { expect, test } from 'vitest';
import { bytesUnderWay } from '#warpstage/runtime/cuda/gpu.js';

test.each([
  ['an H200', 3_201_000, 6144, 132, 32],
  ['an H100', 2_619_000, 5120, 132, 22],
  ['an A100', 1_215_000, 5120, 108, 12],
  ['a T4', 5_001_000, 256, 40, 7],
  ['a memory of a far future', 10_000_000, 65_536, 16, 128],
])('of %s', (_, clock, width, multiprocessors, kibibytes) => {
  expect(bytesUnderWay(clock, width, multiprocessors)).toBe(kibibytes * 1024);
});

test('a memory that the driver does not tell of has the usual amount', () => {
  expect(bytesUnderWay(0, 0, 132)).toBeUndefined();
});
