// open(): from a device's name to the device.
//
// Each kind of device, and the compiler, is loaded when it is opened: for a GPU while the driver
// starts on another thread.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { WarpstageError } from '../diagnostics/error.ts';
import type { CpuSettings } from './cpu/device.ts';
import type { Device } from './device.ts';
import type { KernelTime } from './model/operation-times.ts';
import type { PresetName } from './model/presets.ts';

/**
 * The name of a device: `'cpu'`; `'cuda'` or `'cuda:1'` for an NVIDIA GPU; `'model:c2050'` or `'model:my-device.json'`
 * for a virtual device. Editors offer those that every installation knows.
 */
export type DeviceName = 'cpu' | 'cuda' | `model:${PresetName}` | (string & Record<never, never>);

/** Options of `open`; those that a device has no use for are ignored. */
export interface OpenOptions {
  /** Bytes of device memory. On the CPU at most 4 GiB less 64 KiB, which is the default; only what is used is taken. */
  readonly memory?: number;
  /** How many threads run the blocks of a kernel. Default: as many as the machine runs at a time. */
  readonly threads?: number;
  /** What runs kernels on the CPU: `wasm` is fast; `interpreter` is slow, exact and checks more. Default `wasm`. */
  readonly target?: 'wasm' | 'interpreter';
  /** When the interpreter delivers asynchronous copies: at once, as late as a wait allows, or by a seed. Default `eager`. */
  readonly delivery?: 'eager' | 'late' | number;
  /** Whether the default stream synchronises with the others (as CUDA's does) or is one of them. Default `legacy`. */
  readonly defaultStream?: 'legacy' | 'perThread';
  /**
   * On an NVIDIA GPU: whether kernels test every access, asynchronous copy and division of integers as they run, and
   * look in long loops whether they are to stop. Then the first fault is an error with its line, thread and block, as
   * on the CPU, after which the GPU goes on; and a signal ends a kernel that runs. It costs time. Default false:
   * nothing is tested, and an access outside its array may take the GPU from the process (WS4006).
   */
  readonly checked?: boolean;
  /**
   * On a virtual device: the milliseconds that a kernel takes when it has the device to itself. Default: its
   * bytes and operations, estimated from its text, over the device's rates.
   */
  readonly kernelTime?: KernelTime;
  /**
   * On a virtual device: whether copies and kernels are carried out (default), or only timed, which leaves
   * the arrays as they are.
   */
  readonly execute?: boolean;
}

/**
 * Opens a device. Without a name: an NVIDIA GPU if there is one that kernels can be compiled for, else the CPU.
 *
 * @example
 * await using device = await open('cpu', { threads: 2 });
 *
 * @throws WarpstageError WS4003 for a device that does not exist or is not available, WS4007 for an invalid option
 */
export async function open(name?: DeviceName, options: OpenOptions = {}): Promise<Device> {
  if (name === undefined) return (await openGpuIfThere(options)) ?? openCpu(options);
  if (name === 'cpu') return openCpu(options);
  const gpu = /^cuda(?::(\d+))?$/.exec(name);
  if (gpu !== null) return openCuda(Number(gpu[1] ?? 0), options);
  if (String(name).startsWith('model:')) return openModel(name.slice('model:'.length), options);
  throw new WarpstageError({
    code: 'WS4003',
    message: `there is no device '${String(name)}'`,
    hint: "the devices of this version are: 'cpu', and 'cuda' or 'cuda:0', 'cuda:1', … for an NVIDIA GPU, and 'model:h200' or 'model:my-device.json' for a virtual device",
  });
}

async function openCuda(
  ordinal: number,
  { defaultStream = 'legacy', checked = false }: OpenOptions,
): Promise<Device> {
  checkDefaultStream(defaultStream);
  check('checked', checked, typeof checked === 'boolean', 'true or false');
  const { openGpuAside } = await import('./cuda/aside.ts');
  const { gpu, loaded } = await openGpuAside(ordinal, {
    load: loadCuda,
    warmUp: ({ warmUp }, architecture) => warmUp(architecture),
  });
  const { CudaDevice, specialise } = loaded;
  try {
    return new CudaDevice({ gpu, defaultStream, checked, specialise });
  } catch (error) {
    gpu.context.close();
    throw error;
  }
}

/** What a GPU is used with. In parts: between them the event loop hears that the driver has started. */
async function loadCuda() {
  const { specialise } = await import('../compiler/specialise.ts');
  await setImmediate();
  const { warmUp } = await import('./cuda/warm-up.ts');
  await setImmediate();
  const { CudaDevice } = await import('./cuda/device.ts');
  return { specialise, warmUp, CudaDevice };
}

/** The first GPU; null if there is none, or no driver or compiler for it. */
async function openGpuIfThere(options: OpenOptions): Promise<Device | null> {
  // The driver's own traces are looked for first: loading the FFI takes longer than that.
  const traces = ['/dev/nvidiactl', '/dev/dxg'];
  const likely =
    process.platform === 'linux' ? traces.some((path) => existsSync(path)) : process.platform === 'win32';
  if (!likely && process.env.WARPSTAGE_DRIVER === undefined) return null;
  try {
    const { checkCompiler } = await import('./cuda/compiler.ts');
    checkCompiler();
    return await openCuda(0, options);
  } catch (error) {
    if (error instanceof WarpstageError && error.code === 'WS4003') return null;
    throw error;
  }
}

async function openCpu(options: OpenOptions): Promise<Device> {
  const [settings, { CpuDevice }] = await Promise.all([cpuSettings(options), import('./cpu/device.ts')]);
  return new CpuDevice(settings);
}

async function openModel(name: string, options: OpenOptions): Promise<Device> {
  const [{ findModel }, { createModelDevice }, { maximumBytes }] = await Promise.all([
    import('./model/device-file.ts'),
    import('./model/device.ts'),
    import('./cpu/linear-memory.ts'),
  ]);
  const model = findModel(name);
  const { kernelTime, execute = true } = options;
  const known = kernelTime === undefined || typeof kernelTime === 'function';
  check('kernelTime', kernelTime, known, 'a function of a launch that gives milliseconds');
  check('execute', execute, typeof execute === 'boolean', 'true or false');
  // Kernels and data are real, so they must fit the CPU's memory too.
  const memory = Math.min(options.memory ?? model.memory, maximumBytes);
  return createModelDevice(model, await cpuSettings({ ...options, memory }), { kernelTime, execute });
}

async function cpuSettings(options: OpenOptions): Promise<CpuSettings> {
  const [{ maximumBytes }, { loadTarget }, { specialise }] = await Promise.all([
    import('./cpu/linear-memory.ts'),
    import('./cpu/targets.ts'),
    import('../compiler/specialise.ts'),
  ]);
  const { memory = maximumBytes, threads = availableParallelism(), target = 'wasm' } = options;
  const { delivery = 'eager', defaultStream = 'legacy' } = options;
  check('memory', memory, memory >= 65536 && memory <= maximumBytes, `bytes, from 65536 to ${maximumBytes}`);
  check(
    'threads',
    threads,
    Number.isInteger(threads) && threads >= 1 && threads <= 1024,
    'a whole number from 1 to 1024',
  );
  check('target', target, target === 'wasm' || target === 'interpreter', "'wasm' or 'interpreter'");
  const known = delivery === 'eager' || delivery === 'late' || Number.isSafeInteger(delivery);
  check('delivery', delivery, known, "'eager', 'late' or a whole number, the seed of a random order");
  checkDefaultStream(defaultStream);
  return { memory, threads, defaultStream, target: await loadTarget(target, delivery), specialise };
}

function checkDefaultStream(defaultStream: unknown): void {
  const known = defaultStream === 'legacy' || defaultStream === 'perThread';
  check('defaultStream', defaultStream, known, "'legacy' or 'perThread'");
}

function check(option: string, given: unknown, valid: boolean, expected: string): void {
  if (valid) return;
  throw new WarpstageError({
    code: 'WS4007',
    message: `open: option \`${option}\` must be ${expected}, and is ${String(given)}`,
  });
}
