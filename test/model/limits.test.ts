// Virtual devices report the limits of the devices whose time they keep, and refuse what those would.

import { expect, test } from 'vitest';
import { kernel, open } from 'warpstage';

const fill = kernel({ y: 'i32[]', n: 'index' }, ({ y, n }, cuda) => {
  const shared = cuda.sharedArray('u8', n);
  shared[0] = 1;
  y[0] = 1;
});

const far = 2 ** 31 - 1;
const devices = [
  ['c1060', 512, [512, 512, 64], [65535, 65535, 1], 16],
  ['c2050', 1024, [1024, 1024, 64], [65535, 65535, 65535], 48],
  ['k20c', 1024, [1024, 1024, 64], [far, 65535, 65535], 48],
  ['h200', 1024, [1024, 1024, 64], [far, 65535, 65535], 227],
] as const;

test.each(devices)('%s', async (name, threads, block, grid, kilobytes) => {
  await using device = await open(`model:${name}`, { execute: false, memory: 2 ** 20, threads: 1 });
  expect(device.properties).toMatchObject({
    maxThreadsPerBlock: threads,
    maxBlockDim: block,
    maxGridDim: grid,
    sharedMemoryPerBlock: 1024 * kilobytes,
  });
  const y = device.alloc('i32', 1);
  const launch = (n: number, size: { grid: number | number[]; block: number }) =>
    device.defaultStream.launch(fill, size as never, { y, n });
  expect(() => launch(1, { grid: 1, block: threads + 1 })).toThrow('WS2003');
  expect(() => launch(1, { grid: [1, grid[1] + 1], block: 1 })).toThrow('WS2003');
  if (grid[0] < far) expect(() => launch(1, { grid: grid[0] + 1, block: 1 })).toThrow('WS2003');
  expect(() => launch(1024 * kilobytes + 1, { grid: 1, block: 1 })).toThrow(/WS\d+.*shared memory/);
  launch(1024 * kilobytes, { grid: 1, block: threads });
  await device.synchronize();
});
