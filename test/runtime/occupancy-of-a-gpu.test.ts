// What a GPU says of a launch, with a driver of the tests' own: it compiles nothing, and knows its numbers.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel, open } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const staged = kernel({ y: 'f32[]', room: 'constant index = 0' }, ({ y, room }, cuda) => {
  const shared = cuda.sharedArray('f32', room + 1);
  shared[0] = y[0]!;
  cuda.syncthreads();
  y[cuda.threadIdx.x] = shared[0]!;
});

describe.skipIf(!canFake)('a GPU', () => {
  let fake: FakeCuda;
  let device: Device;
  beforeAll(async () => {
    fake = installFakeCuda();
    device = await open('cuda');
  });
  afterAll(async () => {
    await device?.close();
    fake?.remove();
  });

  test('tells what a launch takes, by its own numbers', () => {
    const y = device.alloc('f32', 256);
    expect(device.occupancy(staged, { grid: 1, block: 256 }, { y, room: 0 })).toEqual({
      blocksPerMultiprocessor: 2,
      residentBlocks: 264,
      occupancy: 0.25,
      limitedBy: 'registers',
      registers: 128,
      sharedBytes: 512 + 4,
      localBytes: 24,
    });
    expect(device.occupancy(staged, { grid: 1, block: 64 }, { y, room: 25 * 1024 - 1 })).toMatchObject({
      blocksPerMultiprocessor: 2,
      limitedBy: 'shared memory',
      sharedBytes: 512 + 100 * 1024,
    });
    y.free();
  });

  // Its code has 512 bytes itself, for barriers, say.
  test.each([
    ['as much as a block has without asking', 48 * 1024],
    ['somewhat more with what the code has itself', 48 * 1024 - 256],
    ['all that there is', 227 * 1024 - 512],
  ])('launches a block that has %s', async (_, bytes) => {
    const y = device.alloc('f32', 256);
    device.defaultStream.launch(staged, { grid: 1, block: 64 }, { y, room: bytes / 4 - 1 });
    await device.synchronize();
    y.free();
  });

  test('refuses a block whose barriers no longer fit beside its arrays, and says so', () => {
    const y = device.alloc('f32', 256);
    for (const bytes of [227 * 1024 - 508, 227 * 1024]) {
      const launch = () =>
        device.defaultStream.launch(staged, { grid: 1, block: 64 }, { y, room: bytes / 4 - 1 });
      expect(launch).toThrowError(
        expect.objectContaining({
          code: 'WS2004',
          message: expect.stringContaining(
            `a block needs ${bytes + 512} bytes of shared memory, 512 of them for barriers and tests; the device has 232448`,
          ),
          hint: 'use smaller blocks, fewer stages or smaller tiles',
        }),
      );
    }
    y.free();
  });

  test('and proposes a block by them', () => {
    const y = device.alloc('f32', 1024);
    // Its registers leave no more than 512 threads, whatever the blocks.
    expect(device.proposeBlock(staged, { y, room: 0 })).toMatchObject({ block: 256, grid: 264 });
    expect(device.proposeBlock(staged, { y, room: 0 }, { maxThreads: 200 }).block).toBe(128);
    // Shared memory leaves two blocks: these of 384 threads do not fit by registers, one of 512 does.
    expect(device.proposeBlock(staged, { y, room: 25 * 1024 - 1 }).occupancy).toMatchObject({
      occupancy: 0.25,
    });
    y.free();
  });

  test('and passes on what goes wrong in asking', () => {
    const y = device.alloc('f32', 256);
    fake.fail('cuOccupancyMaxActiveBlocksPerMultiprocessor', 999, 0);
    expect(() => device.occupancy(staged, { grid: 1, block: 256 }, { y })).toThrowError(
      /how many blocks fit/,
    );
    y.free();
  });
});
