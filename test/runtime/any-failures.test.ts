// Failures of streams on every device that is here: see any-failures.ts.

import { describe, expect, test } from 'vitest';
import { type Device, kernel, open } from 'warpstage';
import { checkedDevices, devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { checkAnyFailures, closing } from './any-failures.ts';

sayWithoutGpu();

const model = {
  name: 'model:c2050',
  kind: 'model',
  options: { checked: false },
  open: () => open('model:c2050', { kernelTime: () => 1, threads: 1 }),
};

describe.each([...devices, model])('$name', ({ open, kind, options }) => {
  test('each synchronisation waits for all that it covers, and each failure is thrown', async () => {
    // A fault that nobody looks for takes the GPU from the process.
    const faults = kind !== 'cuda' || options.checked === true;
    await checkAnyFailures({ open, faults, numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 12) });
  });

  test('what functions throw while it is closed is thrown', async () => {
    const numRuns = Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 20);
    await checkAnyFailures({ open, faults: false, only: closing, numRuns });
  });
});

describe.each(checkedDevices)('closing $name', ({ open }) => {
  const outside = kernel({ y: 'i32[]' }, ({ y }) => {
    y[y.length] = 1;
  });

  /** A launch that has failed, which no call reported. */
  const failed = async (device: Device) => {
    const done = new Promise<void>((resolve) => {
      device.recorder = () => resolve();
    });
    const y = device.alloc('i32', 4);
    device.defaultStream.launch(outside, { grid: 1, block: 1 }, { y });
    const poll = setInterval(() => void device.memory, 1);
    await done;
    clearInterval(poll);
  };

  test('throws the failure of a launch that nobody waited for, once', async () => {
    const device = await open();
    await failed(device);
    await expect(device.close()).rejects.toThrow('WS3001: the kernel writes `y[4]`, but `y` has 4 elements');
    await device.close();
  });

  test('by a scope does so too', async () => {
    const scope = async () => {
      await using device = await open();
      await failed(device);
    };
    await expect(scope()).rejects.toThrow('WS3001');
  });

  test('says nothing of what was thrown before, by whichever call', async () => {
    for (const call of ['synchronize', 'query', 'destroy', 'event'] as const) {
      await using device = await open();
      const stream = device.createStream();
      const event = device.createEvent();
      const y = device.alloc('i32', 4);
      stream.launch(outside, { grid: 1, block: 1 }, { y });
      stream.record(event);
      stream.memsetAsync(y, 0);
      const ask = async () => {
        if (call === 'event') return event.synchronize();
        if (call !== 'query') return stream[call]();
        while (!stream.query()) await new Promise((resolve) => setTimeout(resolve, 1));
      };
      await expect(ask()).rejects.toThrow('WS3001');
    }
  });

  test('says nothing of what it stops itself', async () => {
    const device = await open();
    device.defaultStream.launchHostFunction(() => new Promise(() => {}));
    device.defaultStream.memsetAsync(device.alloc('i32', 4), 1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await device.close();
  });
});
