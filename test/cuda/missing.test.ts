// What is missing for a GPU is said in one sentence. A driver and a compiler of the tests' own
// stand in for what a machine may have. Needs a C compiler.

import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { kernel } from 'warpstage';
import { CodeCache } from '#warpstage/runtime/cuda/code-cache.js';
import { CudaCompiler } from '#warpstage/runtime/cuda/compiler.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const one = { grid: 1, block: 32 };

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    vi.resetModules();
  });
  afterAll(() => {
    fake.remove();
  });

  /** The package as a process that starts now would have it: nothing is opened yet. */
  const fresh = async () => (await import('warpstage')).open;

  describe('what is missing is said in one sentence, with how to get it', () => {
    test('a driver', async () => {
      process.env.WARPSTAGE_DRIVER = '/nowhere/libcuda.so';
      const openFresh = await fresh();
      await expect(openFresh('cuda')).rejects.toThrow(
        'WS4003: no NVIDIA driver was found at WARPSTAGE_DRIVER=/nowhere/libcuda.so\n  hint: install the NVIDIA driver, or open("cpu")',
      );
      process.env.WARPSTAGE_DRIVER = fake.path;
    });

    test('a driver that is new enough', async () => {
      fake.version(11040);
      const openFresh = await fresh();
      await expect(openFresh('cuda')).rejects.toThrow(
        /^WS4003: the NVIDIA driver is too old: it supports CUDA 11\.4, and warpstage needs 12\.0\n {2}hint: install a newer NVIDIA driver \(525 or later\), or open\("cpu"\)$/,
      );
    });

    test('a GPU', async () => {
      fake.fail('cuInit', 100, 0);
      const openFresh = await fresh();
      await expect(openFresh('cuda')).rejects.toThrow(
        /^WS4003: the NVIDIA driver cannot be used: CUDA_ERROR_NO_DEVICE: no CUDA-capable device/,
      );
      fake.reset();
      await expect(openFresh('cuda:3')).rejects.toThrow('WS4003: there is no GPU 3: the driver sees 1');
    });

    test('NVRTC', async () => {
      process.env.WARPSTAGE_NVRTC = '/nowhere/libnvrtc.so';
      process.env.WARPSTAGE_CACHE = '';
      const openFresh = await fresh();
      await using device = await openFresh('cuda');
      const step = kernel(
        { y: 'i32[]' },
        ({ y }) => {
          y[0] = 1;
        },
        { name: 'step' },
      );
      const y = device.alloc('i32', 4);
      expect(() => device.defaultStream.launch(step, one, { y })).toThrow(
        /^WS4003: NVRTC was not found at WARPSTAGE_NVRTC=\/nowhere\/libnvrtc\.so\n {2}hint: install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or set WARPSTAGE_NVRTC to the path of libnvrtc$/,
      );
      process.env.WARPSTAGE_NVRTC = fake.path;
      device.defaultStream.launch(step, one, { y });
      await device.synchronize();
      process.env.WARPSTAGE_CACHE = join(fake.folder, 'cache');
    });
  });

  describe('open without a name', () => {
    test('opens the GPU, if kernels can be compiled for it', async () => {
      const openFresh = await fresh();
      await using device = await openFresh();
      expect(device.properties).toMatchObject({ kind: 'cuda', name: 'Fake GPU 0', computeCapability: '9.0' });
    });

    test.each([
      ['the driver', 'WARPSTAGE_DRIVER'],
      ['NVRTC', 'WARPSTAGE_NVRTC'],
    ])('opens the CPU without %s', async (_, name) => {
      const cache = process.env.WARPSTAGE_CACHE;
      process.env[name] = '/nowhere/lib.so';
      process.env.WARPSTAGE_CACHE = '';
      const openFresh = await fresh();
      await using device = await openFresh();
      expect(device.properties.kind).toBe('cpu');
      process.env[name] = fake.path;
      process.env.WARPSTAGE_CACHE = cache;
    });
  });

  test('the cache serves machines without NVRTC: their own code, or PTX of an older architecture', async () => {
    const folder = join(fake.folder, 'c');
    const options = ['--gpu-architecture=sm_80', '--fmad=false'];
    new CudaCompiler(80, new CodeCache([folder])).compile('text', 'own.cu', options);
    process.env.WARPSTAGE_NVRTC = '/nowhere/libnvrtc.so';
    const bare = (await import('#warpstage/runtime/cuda/compiler.js')).CudaCompiler;
    const shipped = new CodeCache([join(fake.folder, 'own'), folder]);
    const take = (architecture: number, flag: string, text = 'text') =>
      new bare(architecture, shipped).compile(text, 'own.cu', [flag, '--fmad=false']).image;
    expect(take(80, '--gpu-architecture=sm_80').length).toBeGreaterThan(0);
    expect(take(90, '--gpu-architecture=sm_90a').length).toBeGreaterThan(0);
    expect(() => take(75, '--gpu-architecture=sm_75')).toThrow('WS4003: NVRTC was not found');
    expect(() => take(80, '--gpu-architecture=sm_80', 'another')).toThrow('WS4003: NVRTC was not found');
    process.env.WARPSTAGE_NVRTC = fake.path;
  });
});
