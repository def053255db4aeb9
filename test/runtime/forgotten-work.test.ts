// Work that nothing waited for, when its device is closed: it is cancelled, and a warning says so.

import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Device } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const warned: (Error & { code?: string; detail?: string })[] = [];
const listen = (warning: Error) => {
  if (warning.name === 'WarpstageWarning') warned.push(warning);
};
process.on('warning', listen);
afterAll(() => {
  process.off('warning', listen);
});
beforeEach(() => {
  warned.length = 0;
});

/** Closes a device; warnings come in the next turn. */
async function close(device: Device) {
  await device.close();
  await new Promise((resume) => setImmediate(resume));
}

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  /** A device, and a stream of it with a copy that cannot begin before the device is closed. */
  async function begun() {
    const device = await open();
    const stream = device.createStream();
    const [host, data] = [device.allocPinned('f32', 4), device.alloc('f32', 4)];
    stream.launchHostFunction(() => new Promise(() => {}));
    stream.memcpyAsync(host, data);
    return { device, stream };
  }

  test('what close cancels is warned of, with what was forgotten', async () => {
    const { device } = await begun();
    await close(device);
    expect(warned.map(({ code, message, detail }) => [code, message, detail])).toEqual([
      [
        'WS4006',
        'close() cancelled work of a device that nothing waited for: its results are not there',
        'await stream.synchronize() or device.synchronize() before the device is closed',
      ],
    ]);
    await close(device);
    expect(warned).toHaveLength(1);
  });

  test('a synchronisation that still waits says it itself', async () => {
    const { device, stream } = await begun();
    const waiting = expect(stream.synchronize()).rejects.toThrow('WS4006');
    await close(device);
    await waiting;
    expect(warned).toEqual([]);
  });

  test('what was waited for is no loss', async () => {
    const device = await open();
    const stream = device.createStream();
    stream.memcpyAsync(device.allocPinned('f32', 4), device.alloc('f32', 4));
    await stream.synchronize();
    await close(device);
    expect(warned).toEqual([]);
  });
});
