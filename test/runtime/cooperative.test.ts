// Cooperative launches and warps, on every device.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel } from 'warpstage';
import { cpuDevices, devices } from '../support/devices.ts';

/** The sum of an array: of each block's threads by tiles, then of the blocks after a sync of the grid. */
const sum = kernel(
  { total: 'i32[]', x: 'readonly i32[]', partial: 'i32[]' },
  ({ total, x, partial }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const warp = cuda.tiledPartition(block, 32);
    const sums = cuda.sharedArray('i32', 32);
    let own = 0;
    for (let i = grid.threadRank(); i < x.length; i += grid.size()) own += x[i]!;
    own = cuda.cg.reduce(warp, own, 'plus');
    if (warp.threadRank() === 0) sums[warp.metaGroupRank()] = own;
    block.sync();
    if (warp.metaGroupRank() === 0) {
      const rank = warp.threadRank();
      const all = cuda.cg.reduce(warp, rank < warp.metaGroupSize() ? sums[rank]! : 0, 'plus');
      if (rank === 0) partial[grid.blockRank()] = all;
    }
    grid.sync();
    if (grid.threadRank() === 0) {
      let all = 0;
      for (let i = 0; i < grid.numBlocks(); i++) all += partial[i]!;
      total[0] = all;
    }
  },
);

const votes = kernel({ out: 'u32[]' }, ({ out }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  const odd = cuda.ballotSync(0xffffffff, i % 2 === 1);
  if (i % 2 === 1) out[i] = cuda.reduceAddSync(odd, cuda.u32(i)) + cuda.u32(cuda.popc(odd));
});

describe.each(devices)('$name', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  test('a grid sums an array in two phases, again and again', async () => {
    const x = Int32Array.from({ length: 3000 }, (_, i) => (i * 37) % 101);
    const data = device.alloc('i32', x.length);
    const partial = device.alloc('i32', 7);
    const total = device.alloc('i32', 1);
    const stream = device.defaultStream;
    stream.memcpyAsync(data, x);
    for (let round = 0; round < 3; round += 1) {
      stream.launch(sum, { grid: 7, block: 128, cooperative: true }, { total, x: data, partial });
    }
    const result = new Int32Array(1);
    stream.memcpyAsync(result, total);
    await device.synchronize();
    expect(result[0]).toBe(x.reduce((a, b) => a + b));
  });

  test('lanes vote and add what the voters have', async () => {
    const out = device.alloc('u32', 256);
    device.defaultStream.launch(votes, { grid: 4, block: 64 }, { out });
    const result = new Uint32Array(256);
    device.defaultStream.memcpyAsync(result, out);
    await device.synchronize();
    const expected = Array.from({ length: 256 }, (_, i) => {
      const first = i & ~31;
      return i % 2 === 0 ? 0 : 16 * (first + 16) + 16;
    });
    expect(Array.from(result)).toEqual(expected);
  });

  test('a kernel that waits for the grid cannot be launched otherwise', () => {
    const arrays = {
      total: device.alloc('i32', 1),
      x: device.alloc('i32', 1),
      partial: device.alloc('i32', 1),
    };
    expect(() => device.defaultStream.launch(sum, { grid: 1, block: 32 }, arrays)).toThrow(
      'WS2006: grid.sync() needs a cooperative launch, and this one is not',
    );
  });
});

test.each(cpuDevices)('$name: a cooperative grid must fit the device', async ({ open }) => {
  await using device = await open();
  const arrays = {
    total: device.alloc('i32', 1),
    x: device.alloc('i32', 1),
    partial: device.alloc('i32', 1),
  };
  const launch = () =>
    device.defaultStream.launch(sum, { grid: 2 ** 20, block: 1024, cooperative: true }, arrays);
  expect(launch).toThrow(/WS2006: launch of .* a cooperative grid of 1048576 blocks of 1024 threads/);
  expect(launch).toThrow('is larger than the 256 that the device keeps at once');
});
