// A cache that is shipped: PTX that one machine leaves there runs on others that have only the driver.
// A driver and a compiler of the tests' own stand in. Needs a C compiler.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const one = { grid: 1, block: 32 };

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  let folder: string;

  beforeAll(() => {
    fake = installFakeCuda();
    folder = process.env.WARPSTAGE_CACHE!;
  });
  beforeEach(() => {
    fake.reset();
    process.env.WARPSTAGE_NVRTC = fake.path;
    process.env.WARPSTAGE_PTX = '75,80';
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  afterAll(() => {
    fake.remove();
  });

  /** Launches a kernel in TypeScript and one in CUDA C++ in a process that starts now. */
  async function launch(): Promise<void> {
    vi.resetModules();
    const { kernel, open } = await import('warpstage');
    const step = kernel(
      { y: 'i32[]' },
      ({ y }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = y[i]! + 1;
      },
      { name: 'step' },
    );
    await using device = await open('cuda');
    const y = device.alloc('i32', 32);
    device.defaultStream.launch(step, one, { y });
    const raw = device.compile('extern "C" __global__ void raw(int *y) {}', {
      name: 'raw',
      schema: { y: 'i32[]' },
    });
    device.defaultStream.launch(raw, one, { y });
    await device.synchronize();
    expect(fake.launches()).toBe(2);
  }

  const files = (extension: string) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(extension))
      .map((file) => file.slice(41));

  /** What a machine with NVRTC leaves, less the machine code; then NVRTC is gone. */
  async function ship(): Promise<void> {
    await launch();
    expect(files('.cubin').sort()).toEqual(['90.cubin', '90a.cubin']);
    for (const file of readdirSync(folder)) if (!file.endsWith('.ptx')) rmSync(join(folder, file));
    fake.reset();
    process.env.WARPSTAGE_NVRTC = '/nowhere/libnvrtc.so';
    process.env.WARPSTAGE_PTX = '';
  }

  test('holds PTX of the architectures that were asked for', async () => {
    await launch();
    expect(files('.ptx').sort()).toEqual(['75.ptx', '75.ptx', '80.ptx', '80.ptx', '90.ptx', '90a.ptx']);
    const compiled = fake.compiles();
    fake.reset();
    await launch();
    expect([compiled, fake.compiles()]).toEqual([6, 0]);
  });

  test.each([75, 80, 86, 90, 100, 120])('runs without NVRTC on %i', async (architecture) => {
    await ship();
    fake.capability(architecture);
    await launch();
    expect(fake.compiles()).toBe(0);
  });

  test('an entry that is broken is none, and is built anew where NVRTC is', async () => {
    await ship();
    for (const file of readdirSync(folder)) {
      const path = join(folder, file);
      writeFileSync(path, readFileSync(path).subarray(0, -2));
    }
    await expect(launch()).rejects.toThrow('WS4003: NVRTC was not found');
    process.env.WARPSTAGE_NVRTC = fake.path;
    process.env.WARPSTAGE_PTX = '75';
    fake.reset();
    await launch();
    expect(fake.compiles()).toBe(4);
    expect(files('.ptx').sort()).toEqual(['75.ptx', '75.ptx', '80.ptx', '80.ptx', '90.ptx', '90a.ptx']);
  });

  test.each(['70', '80;90', 'sm_80', '80,'])(
    'a list of architectures such as %s is refused',
    async (list) => {
      process.env.WARPSTAGE_PTX = list;
      await expect(launch()).rejects.toThrow(
        `WS4007: WARPSTAGE_PTX must list architectures from 75, such as 75,80, and is ${list}`,
      );
    },
  );
});
