// A GPU is opened on another thread while this one gets ready: nothing of that may stay behind,
// however opening ends. A driver and a compiler of the tests' own stand in. Needs a C compiler.

import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const illegalAddress = 700;

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    vi.resetModules();
  });
  afterEach(() => expect(fake.retained()).toBe(0));
  afterAll(() => {
    fake.remove();
  });

  /** The package as a process that starts now would have it: nothing is opened yet. */
  const fresh = async () => (await import('warpstage')).open;

  test('the event loop goes on while the driver starts', async () => {
    const open = await fresh();
    let turns = 0;
    let opened = false;
    const turn = () => {
      turns += 1;
      if (!opened) setImmediate(turn);
    };
    fake.slow(50);
    turn();
    await using device = await open('cuda');
    opened = true;
    // A loop that stands still has one turn before and one behind.
    expect(turns).toBeGreaterThan(3);
    expect(device.properties.name).toBe('Fake GPU 0');
  });

  test('devices that are opened at the same time share the context', async () => {
    fake.devices(2);
    const open = await fresh();
    const devices = await Promise.all([open('cuda:0'), open('cuda:0'), open('cuda:1'), open('cuda')]);
    expect(fake.retained()).toBe(2);
    for (const device of devices) {
      device.alloc('f32', 4).free();
      await device.close();
    }
  });

  test('the devices of a run are opened at the same time; all of them, or none', async () => {
    fake.devices(3);
    vi.resetModules();
    const { openDevices } = await import('#warpstage/overlap/devices.js');
    fake.fail('cuDevicePrimaryCtxRetain', 2, 2);
    await expect(openDevices('cuda:*')).rejects.toThrow('WS4001: opening a context on GPU');
    expect(fake.retained()).toBe(0);
    fake.reset();
    fake.devices(3);
    await using all = await openDevices('cuda:*,cpu', { threads: 1 });
    expect(all.participants.map(({ name }) => name)).toEqual(['cuda:0', 'cuda:1', 'cuda:2', 'cpu']);
    expect(fake.retained()).toBe(3);
  });

  test.each([
    [34, 'stubs'],
    [304, '/dev/nvidia'],
    [802, 'nvidia-fabricmanager'],
    [803, 'load the module again'],
    [804, 'cuda-compat'],
    [807, 'nvidia-cuda-mps-control'],
    [9999, 'look at the GPU with nvidia-smi'],
  ])('a driver that does not start, with %i, says what to do', async (result, hint) => {
    fake.fail('cuInit', result, 0);
    const open = await fresh();
    const error = await open('cuda').then(
      () => null,
      (reason) => reason,
    );
    expect(error.code).toBe('WS4003');
    expect(error.hint).toContain(hint);
    fake.reset();
  });

  test('what fails for one fails for all', async () => {
    fake.fail('cuInit', 100, 0);
    const open = await fresh();
    const both = await Promise.allSettled([open('cuda'), open('cuda')]);
    for (const one of both) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'WS4003' } });
      expect(String((one as PromiseRejectedResult).reason)).toContain('CUDA_ERROR_NO_DEVICE');
    }
    fake.reset();
    await using device = await open('cuda');
    expect(device.properties.kind).toBe('cuda');
  });

  test.each([
    [illegalAddress, /^WS4006: GPU 0 cannot be opened again/],
    [
      2,
      /^WS4001: opening a context on GPU 0 failed: CUDA_ERROR_OUT_OF_MEMORY: .*hint: see with nvidia-smi which/s,
    ],
    [
      46,
      /^WS4006: opening a context on GPU 0 failed: CUDA_ERROR_DEVICE_UNAVAILABLE: .*hint: another process/s,
    ],
    [100, /^WS4006: opening a context on GPU 0 failed: CUDA_ERROR_NO_DEVICE: .*CUDA_VISIBLE_DEVICES/s],
  ])('a context that is refused with %i', async (result, message) => {
    const open = await fresh();
    fake.fail('cuDevicePrimaryCtxRetain', result, 0);
    await expect(open('cuda')).rejects.toThrow(message);
  });

  test('a GPU that stopped while another opens it', async () => {
    const open = await fresh();
    const device = await open('cuda');
    const data = device.alloc('i32', 4);
    device.defaultStream.memsetAsync(data, 0);
    fake.lose(illegalAddress);
    await expect(device.synchronize()).rejects.toThrow('WS4006');
    // The driver may still count whoever asks, or refuse it.
    fake.reset();
    await expect(open('cuda')).rejects.toThrow('WS4006: GPU 0 stopped, and a device that used it then');
    await device.close();
  });

  test.each([
    ['cuMemGetInfo_v2', 'WS4006: asking for the memory failed'],
    ['cuDeviceGetDefaultMemPool', 'WS4006: asking for the memory pool failed'],
    ['cuStreamCreateWithPriority', 'WS4006: creating a stream failed'],
  ])('%s that fails', async (name, message) => {
    const open = await fresh();
    fake.fail(name, 1, 0);
    await expect(open('cuda')).rejects.toThrow(message);
  });

  test('warming up leaves nothing in the cache', async () => {
    const open = await fresh();
    await using device = await open('cuda');
    expect(device.properties.kind).toBe('cuda');
    expect(fake.compiles()).toBe(0);
    expect(() => readdirSync(process.env.WARPSTAGE_CACHE!)).toThrow('ENOENT');
  });
});
