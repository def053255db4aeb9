// Failures of streams on a driver of the tests' own whose streams take time. Needs a C compiler.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { checkAnyFailures, closing } from '../runtime/any-failures.ts';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const illegalAddress = 700;

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => {
    fake.reset();
    fake.remove();
  });

  test.each([false, true])(
    'each synchronisation waits, and each failure is thrown; checked: %s',
    async (checked) => {
      fake.lag(20, 1);
      await checkAnyFailures({
        open: () => open('cuda', { checked }),
        faults: false,
        numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 15),
      });
    },
  );

  test('what functions throw while it is closed is thrown', async () => {
    fake.lag(20, 1);
    const numRuns = Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 60);
    await checkAnyFailures({ open: () => open('cuda'), faults: false, only: closing, numRuns });
  });

  const wild = kernel({ y: 'i32[]' }, ({ y }) => {
    y[0] = 1;
  });

  test('a fault that nobody waited for is thrown by close, where the GPU stopped', async () => {
    const device = await open('cuda');
    device.defaultStream.launch(wild, { grid: 1, block: 1 }, { y: device.alloc('i32', 4) });
    fake.lose(illegalAddress);
    await expect(device.close()).rejects.toThrow('WS4006: the GPU stopped in the kernel');
    await device.close();
  });

  test('a GPU that stopped is reported once, by whichever call finds it', async () => {
    const device = await open('cuda');
    const y = device.alloc('i32', 4);
    device.defaultStream.launch(wild, { grid: 1, block: 1 }, { y });
    fake.lose(illegalAddress);
    expect(() => device.defaultStream.memsetAsync(y, 0)).toThrow('WS4006: the GPU stopped');
    await device.close();
  });
});
