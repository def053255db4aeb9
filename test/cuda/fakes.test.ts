// What a GPU that works cannot be made to show: memory that ends, a GPU that is gone, code that is
// compiled once. A driver and a compiler of the tests' own stand in. Needs a C compiler.

import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Device, kernel, open, type WarpstageError } from 'warpstage';
import { cacheFolders } from '#warpstage/files/cache-folders.js';
import { CodeCache } from '#warpstage/runtime/cuda/code-cache.js';
import { CudaCompiler } from '#warpstage/runtime/cuda/compiler.js';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { runHere } from '../cli/support.ts';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const step = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + 1;
  },
  { name: 'step' },
);
const other = kernel(
  { y: 'i32[]' },
  ({ y }) => {
    y[0] = 1;
  },
  { name: 'other' },
);
const one = { grid: 1, block: 32 };
const illegalAddress = 700;

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).not.toBeNull();
  return error as WarpstageError;
}

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => {
    fake.remove();
  });

  test('`warpstage overlap` ends with exit code 4 where the results are not what they must be', async () => {
    const { code, text, stderr } = await runHere('overlap', '--device', 'cuda');
    expect(text).toMatch(/cuda +sequential/);
    // Its kernels do nothing.
    const wrong = (schedule: string) =>
      `${schedule} on cuda: results differ by up to 1 from 1, which all must be\n`;
    expect({ code, stderr }).toEqual({ code: 4, stderr: ['sequential', 'V1', 'V2'].map(wrong).join('') });
  });

  describe('memory', () => {
    test('that ends is an error with the figures; what is freed can be had again', async () => {
      fake.memory(2 ** 20);
      await using device = await open('cuda');
      const y = device.alloc('u8', 800_000);
      expect(() => device.alloc('f32', 100_000)).toThrow(
        /^WS4001: an array of 100000 elements of f32 needs 390\.6 KiB: of the device's 1 MiB, 1 array take.* 781\.3 KiB, other processes and the driver .* are free\n {2}hint: .*nvidia-smi/,
      );
      y.free();
      device.alloc('f32', 100_000).free();
    });

    test('of the host begins with a page where it is long, and ends where it should', async () => {
      await using device = await open('cuda');
      const stream = device.createStream();
      for (const length of [100, 2 ** 16, 2 ** 26]) {
        const host = device.allocPinned('u8', length);
        if (length > 100) expect(addressOf(host.array) % 4096).toBe(0);
        expect(host.array.length).toBe(length);
        host.array.fill(7);
        const part = host.subarray(length - 3);
        expect(part.array).toEqual(Uint8Array.of(7, 7, 7));
        expect(part.array.byteOffset).toBe(host.array.byteOffset + length - 3);
        const data = device.alloc('u8', 3);
        const back = device.allocPinned('u8', 3);
        stream.memcpyAsync(data, part);
        stream.memcpyAsync(back, data);
        await stream.synchronize();
        expect(back.array).toEqual(part.array);
        host.free();
        expect(() => host.array).toThrow('WS4002');
      }
    });

    test('of the host stays locked while a stream that has failed still copies from it', async () => {
      await using device = await open('cuda');
      const stream = device.createStream();
      const host = device.allocPinned('i32', 64);
      const y = device.alloc('i32', 64);
      fake.lag(100_000, 1);
      stream.memcpyAsync(y, host);
      stream.launch(step, { ...one, signal: AbortSignal.abort() }, { y });
      const destroyed = expect(stream.destroy()).rejects.toThrow('WS3004');
      const before = fake.unlocks();
      host.free();
      expect(fake.unlocks()).toBe(before);
      await destroyed;
      expect(fake.unlocks()).toBe(before + 1);
      fake.lag(0, 0);
      y.free();
    });

    test('of the host that cannot be locked is an error', async () => {
      await using device = await open('cuda');
      fake.fail('cuMemHostRegister_v2', 2, 0);
      expect(() => device.allocPinned('f32', 1000)).toThrow(
        'WS4001: a page-locked array of 1000 elements of f32 needs 3.906 KiB of host memory',
      );
    });

    test('goes through staging memory, also in rows', async () => {
      await using device = await open('cuda');
      const stream = device.createStream();
      const data = device.alloc('i32', 6);
      const result = new Int32Array(4);
      stream.memcpyAsync(data, Int32Array.of(1, 2, 3, 4, 5, 6));
      stream.memcpy2DAsync({ array: result, pitch: 2 }, { array: data, pitch: 3 }, 2, 2);
      await stream.synchronize();
      expect([...result]).toEqual([1, 2, 4, 5]);
    });
  });

  describe('a GPU that stops', () => {
    test('fails what is in flight, with the kernel and its place, and can be opened again where the driver lets it', async () => {
      const device = await open('cuda');
      const stream = device.createStream();
      const y = device.alloc('i32', 4);
      stream.launch(step, one, { y });
      fake.lose(illegalAddress);
      const error = await errorOf(stream.synchronize());
      expect(error.message).toMatch(
        /^WS4006: the GPU stopped in kernel `step`: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered/,
      );
      expect(error.issues[0]!.location!.file).toMatch(/fakes\.test\.ts$/);
      expect(() => stream.launch(step, one, { y })).toThrow('WS4006: the GPU stopped in kernel `step`');
      await expect(device.synchronize()).rejects.toThrow('WS4006');
      await expect(open('cuda')).rejects.toThrow(
        'WS4006: GPU 0 stopped, and a device that used it then is still open',
      );
      await device.close();
      await using again = await open('cuda');
      again.defaultStream.launch(step, one, { y: again.alloc('i32', 4) });
      await again.synchronize();
    });

    test.each([
      [702, /CUDA_ERROR_LAUNCH_TIMEOUT: .*\n.*hint: let each launch do less/s],
      [719, /CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure/],
      [46, /CUDA_ERROR_DEVICE_UNAVAILABLE: .*hint: another process may have the GPU for itself/s],
    ])('with result %i', async (result, message) => {
      await using device = await open('cuda');
      const stream = device.createStream();
      const y = device.alloc('i32', 4);
      stream.launch(step, one, { y });
      stream.launch(other, one, { y });
      fake.lose(result);
      const error = await errorOf(stream.synchronize());
      expect(error.message).toMatch(/^WS4006: the GPU stopped in one of kernel `step`, kernel `other`: /);
      expect(error.message).toMatch(message);
    });

    test('and that the driver refuses to this process', async () => {
      fake.fail('cuDevicePrimaryCtxRetain', illegalAddress, 0);
      await expect(open('cuda')).rejects.toThrow(
        /^WS4006: GPU 0 cannot be opened again: the driver refuses it to a process in which it stopped \(CUDA_ERROR_ILLEGAL_ADDRESS/,
      );
    });

    test('where a call tells it first', async () => {
      await using device = await open('cuda');
      const stream = device.createStream();
      const y = device.alloc('i32', 4);
      stream.launch(step, one, { y });
      fake.lose(illegalAddress);
      expect(() => stream.memsetAsync(y, 0)).toThrow('WS4006: the GPU stopped in kernel `step`');
    });
  });

  test.each<[string, (device: Device) => unknown]>([
    ['alloc', (device) => device.alloc('f32', 4)],
    ['allocPinned', (device) => device.allocPinned('f32', 4)],
    ['memory', (device) => device.memory],
    ['record', (device) => device.defaultStream.record(device.createEvent())],
  ])('a GPU that stopped, told by %s first: the kernel, what happened, and what to do', async (_, call) => {
    await using device = await open('cuda');
    const y = device.alloc('i32', 4);
    device.createStream().launch(step, one, { y });
    fake.lose(illegalAddress);
    const said =
      /^WS4006: the GPU stopped in kernel `step`: CUDA_ERROR_ILLEGAL_ADDRESS: .*hint: start the process again/s;
    expect(() => call(device)).toThrow(said);
    expect(() => call(device)).toThrow(said);
  });

  test('page-locked memory that the driver refuses is short of memory only where the driver says so', async () => {
    await using device = await open('cuda');
    fake.fail('cuMemHostRegister_v2', 2, 0);
    expect(() => device.allocPinned('f32', 4)).toThrow(/^WS4001: a page-locked array of 4 elements/);
    fake.fail('cuMemHostRegister_v2', 802, 0);
    expect(() => device.allocPinned('f32', 4)).toThrow(
      /^WS4006: locking memory of the host failed: CUDA_ERROR_SYSTEM_NOT_READY: .*hint: wait until/s,
    );
    fake.reset();
  });

  test('a block that does not fit is refused with the registers that it takes', async () => {
    await using device = await open('cuda');
    const y = device.alloc('i32', 4);
    fake.fail('cuLaunchKernelEx', 701, 0);
    expect(() => device.defaultStream.launch(step, { grid: 1, block: 1024 }, { y })).toThrow(
      /^WS2003: launch of kernel `step`: a block of 1024 threads with 128 registers each does not fit a multiprocessor\n {2}hint: use smaller blocks/,
    );
    fake.reset();
    device.defaultStream.launch(step, { grid: 1, block: 1024 }, { y });
    await device.synchronize();
  });

  describe('the cache of code', () => {
    const options = ['--gpu-architecture=sm_90', '--fmad=false'];
    const cacheIn = (folder: string) => new CodeCache([join(fake.folder, folder)]);
    const compile = (cache: CodeCache, text: string, architecture = 90, more = options) =>
      Buffer.from(new CudaCompiler(architecture, cache).compile(text, 'own.cu', more).image)
        .toString('utf8')
        .replace('\0', '');

    test('keeps what was compiled, by text, options, architecture and version', async () => {
      const cache = cacheIn('a');
      const count = () => fake.compiles();
      expect(compile(cache, 'one')).toBe('one');
      expect(compile(cache, 'one')).toBe('one');
      expect(count()).toBe(1);
      compile(cache, 'two');
      compile(cache, 'one', 90, [...options, '--use_fast_math']);
      compile(cache, 'one', 120, ['--gpu-architecture=sm_120', '--fmad=false']);
      expect(count()).toBe(4);
      compile(cache, 'one');
      expect(count()).toBe(4);
    });

    test('builds anew what is cut off, changed or of another version', () => {
      const folder = join(fake.folder, 'b');
      const cache = new CodeCache([folder]);
      compile(cache, 'text');
      const [name] = readdirSync(folder).filter((file) => file.endsWith('.cubin'));
      const path = join(folder, name!);
      const whole = readFileSync(path);
      const changed = Buffer.from(whole);
      changed[whole.length - 3]! ^= 1;
      for (const [round, bytes] of [
        whole.subarray(0, 30),
        whole.subarray(0, -1),
        changed,
        Buffer.alloc(0),
      ].entries()) {
        writeFileSync(path, bytes);
        expect(compile(cache, 'text')).toBe('text');
        expect(fake.compiles()).toBe(2 + round);
        expect(readFileSync(path).equals(whole)).toBe(true);
      }
      const made = Buffer.from(whole.toString('latin1').replace('13.0', '12.9'), 'latin1');
      writeFileSync(path, made);
      compile(cache, 'text');
      expect(fake.compiles()).toBe(6);
      // Nothing unfinished is left.
      expect(readdirSync(folder).filter((file) => file.startsWith('.'))).toEqual([]);
    });

    describe('runs nothing that another user could have written', () => {
      /** Another user's, for this test: as root by giving it away, else by being somebody else. */
      const stranger = (path: string) => {
        if (process.getuid!() === 0) chownSync(path, 65_534, 65_534);
        else vi.spyOn(process, 'geteuid').mockReturnValue(process.getuid!() + 1);
      };
      afterEach(() => vi.restoreAllMocks());

      const kept = (name: string) => {
        const folder = join(fake.folder, name);
        const cache = new CodeCache([folder]);
        compile(cache, 'text');
        const [entry] = readdirSync(folder).filter((file) => file.endsWith('.cubin'));
        const path = join(folder, entry!);
        return { folder, path };
      };
      /** Whether another process compiles it anew; the code is right in any case. */
      const isRefused = (...folders: string[]) => {
        const before = fake.compiles();
        expect(compile(new CodeCache(folders), 'text')).toBe('text');
        return fake.compiles() > before;
      };

      test('entries and folders are made for their user alone', () => {
        const { folder, path } = kept('own');
        expect(statSync(folder).mode & 0o777).toBe(0o700);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        expect(isRefused(folder)).toBe(false);
      });

      test('entries of another user', () => {
        const { folder, path } = kept('entry');
        stranger(path);
        expect(isRefused(folder)).toBe(true);
      });

      test('folders of another user', () => {
        const { folder } = kept('folder');
        stranger(folder);
        expect(isRefused(folder)).toBe(true);
        expect(isRefused(folder)).toBe(true);
      });

      test('entries and folders that others may write to', () => {
        const { folder, path } = kept('open');
        chmodSync(path, 0o666);
        expect(isRefused(folder)).toBe(true);
        expect(isRefused(folder)).toBe(false);
        chmodSync(folder, 0o777);
        expect(isRefused(join(fake.folder, 'beside open'), folder)).toBe(true);
        // As the one that is written it is closed first.
        isRefused(folder);
        expect(statSync(folder).mode & 0o777).toBe(0o700);
      });

      test('what a symbolic link leads to', () => {
        const { folder, path } = kept('link');
        const elsewhere = join(fake.folder, 'elsewhere.cubin');
        renameSync(path, elsewhere);
        symlinkSync(elsewhere, path);
        expect(isRefused(folder)).toBe(true);
      });

      test('an entry of another kernel under this one’s name', () => {
        const { folder, path } = kept('renamed');
        compile(new CodeCache([folder]), 'other text');
        const [other] = readdirSync(folder).filter((file) => file.endsWith('.cubin') && !path.endsWith(file));
        renameSync(join(folder, other!), path);
        expect(isRefused(folder)).toBe(true);
      });

      test('a folder that is shipped is not written, and believed if it is ours', () => {
        const { folder, path } = kept('shipped');
        const [beside, written] = [join(fake.folder, 'beside'), readFileSync(path)];
        compile(new CodeCache([beside]), 'some other text');
        expect(isRefused(beside, folder)).toBe(false);
        chmodSync(path, 0o622);
        expect(isRefused(beside, folder)).toBe(true);
        expect(readFileSync(path)).toEqual(written);
      });
    });

    test('confuses no two texts with their options', () => {
      const cache = cacheIn('parts');
      compile(cache, 'a', 90, ['--gpu-architecture=sm_90', 'b\0c']);
      const before = fake.compiles();
      compile(cache, 'a', 90, ['--gpu-architecture=sm_90', 'b', 'c']);
      compile(cache, 'a\0b\0c', 90, ['--gpu-architecture=sm_90']);
      expect(fake.compiles()).toBe(before + 2);
    });

    test('does without a folder that cannot be written', () => {
      const file = join(fake.folder, 'file');
      writeFileSync(file, '');
      const cache = new CodeCache([join(file, 'below')]);
      expect(compile(cache, 'text')).toBe('text');
      expect(compile(cache, 'text')).toBe('text');
      expect(fake.compiles()).toBe(2);
    });

    test('lies where the user wants it', () => {
      expect(cacheFolders({ WARPSTAGE_CACHE: '/a:/b', HOME: '/home' })).toEqual(['/a', '/b']);
      expect(cacheFolders({ WARPSTAGE_CACHE: '' })).toEqual([]);
      expect(cacheFolders({ XDG_CACHE_HOME: '/x' })).toEqual(['/x/warpstage']);
      expect(cacheFolders({})[0]).toMatch(/\.cache.warpstage$/);
    });
  });

  describe('kernels in CUDA C++', () => {
    const schema = { y: 'f32[]', x: 'readonly f32[]', a: 'f32', n: 'index' } as const;
    const source = 'extern "C" __global__ void scale(float *y, const float *x, float a, long long n) {}';

    test('are compiled when they are made, and launched like any other', async () => {
      await using device = await open('cuda');
      const scale = device.compile(source, { name: 'scale', schema });
      const compiled = fake.compiles();
      const [x, y] = [device.alloc('f32', 8), device.alloc('f32', 8)];
      const { ranOn } = device.defaultStream.launch(scale, { grid: 1, block: 8 }, { x, y, a: 2, n: 8 });
      expect(ranOn).toBe('cuda (kernel)');
      expect(fake.compiles()).toBe(compiled);
      expect(fake.launches()).toBe(1);
      expect(() => device.defaultStream.launch(scale, one, { x, y, a: 2 } as never)).toThrow(
        'WS2001: launch of kernel `scale`: argument `n` is missing',
      );
      await using cpu = await open('cpu');
      expect(() => cpu.defaultStream.launch(scale, one, { x, y, a: 2, n: 8 } as never)).toThrow(
        'WS2005: launch of kernel `scale`: it is CUDA C++ that was compiled by another device (Fake GPU 0)\n  hint: compile it on the device that is to launch it: device.compile(source, { name, schema })',
      );
    });

    test('are refused where they cannot be compiled', async () => {
      await using device = await open('cuda');
      expect(() => device.compile('#error', { name: 'own', schema })).toThrow(
        /^WS1014: NVRTC could not compile own\.cu:\n\s*own\.cu\(1\): error: #error/,
      );
      expect(() => device.compile(source, { name: '', schema })).toThrow('WS4007: compile: `name` must name');
      expect(() => device.compile(3 as never, { name: 'a', schema })).toThrow(
        /^WS4007: compile: the source must be .*\n {2}hint: write for example device\.compile\(source, \{ name: 'scale', schema: \{ y: 'f32\[\]', a: 'f32' \} \}\)$/,
      );
      device.compile(source, { name: 'scale', schema: { y: 'f32[]', a: 'f32' } });
      expect(() => device.compile(source, { name: 'a', schema: { y: 'float*' as never } })).toThrow('WS1010');
      await using cpu = await open('cpu');
      expect(() => cpu.compile(source, { name: 'scale', schema })).toThrow(
        /^WS4003: compile: CUDA C\+\+ runs on NVIDIA GPUs, and this device is/,
      );
    });
  });

  test('copies between a GPU and the CPU device go through an array of the host', async () => {
    await using device = await open('cuda');
    await using cpu = await open('cpu');
    expect(() => cpu.defaultStream.memcpyAsync(cpu.alloc('f32', 4), device.alloc('f32', 4))).toThrow(
      'WS2005: memcpyAsync: the source is an array of a device of another kind (Fake GPU 0)',
    );
  });
});
