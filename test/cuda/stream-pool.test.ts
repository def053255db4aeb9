import { expect, test } from 'vitest';
import type { Driver } from '#warpstage/runtime/cuda/driver.js';
import { StreamPool } from '#warpstage/runtime/cuda/stream-pool.js';

function recording() {
  const made: number[] = [];
  const ended: number[] = [];
  const driver = {
    check: (result: number) => expect(result).toBe(0),
    cuStreamCreateWithPriority: (stream: number[], _flags: number, priority: number) => {
      made.push(priority);
      stream[0] = made.length;
      return 0;
    },
    cuStreamDestroy_v2: (stream: number) => {
      ended.push(stream);
      return 0;
    },
  };
  return { pool: new StreamPool(driver as unknown as Driver), made, ended };
}

test('streams are used again by others of their priority', () => {
  const { pool, made, ended } = recording();
  const [low, high] = [pool.take(0), pool.take(-1)];
  pool.give(low, 0);
  expect(pool.take(-1)).toBe(3);
  expect(pool.take(0)).toBe(low);
  expect(made).toEqual([0, -1, -1]);
  pool.give(high, -1);
  pool.close();
  expect(ended).toEqual([high]);
});

test('only so many are kept', () => {
  const { pool, ended } = recording();
  const streams = Array.from({ length: 40 }, () => pool.take(0));
  for (const stream of streams) pool.give(stream, 0);
  expect(ended).toEqual(streams.slice(32));
  pool.close();
  expect(new Set(ended)).toEqual(new Set(streams));
});
