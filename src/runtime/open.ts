// open(): from a device's name to the device.
//
// Each kind of device, and the compiler, is loaded when it is opened: for a GPU while the driver
// starts on another thread.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { WarpstageError } from '../diagnostics/error.ts';
import type { Device } from './device.ts';
import { memory64For, openCpu, openCpuWith, openModel, type Place } from './open-cpu.ts';
import { checkDefaultStream, checkOption, type DeviceName, type OpenOptions } from './open-options.ts';

/** Engines with threads of their own. */
const inNode: Place = {
  loadMemory64: async () => (await import('../targets/wasm/memory64.ts')).forMemory64,
  get threads() {
    return availableParallelism();
  },
  async surroundings(target) {
    if (target === 'interpreter') return (await import('./cpu/interpreting-threads.ts')).threads;
    return (await import('./cpu/threads.ts')).threads;
  },
};

/**
 * Opens a device. Without a name: an NVIDIA GPU if there is one that kernels can be compiled for, else the CPU.
 *
 * @example
 * await using device = await open('cpu', { threads: 2 });
 *
 * @throws WarpstageError WS4003 for a device that does not exist or is not available, WS4007 for an invalid option
 */
export async function open(name?: DeviceName, options: OpenOptions = {}): Promise<Device> {
  if (name === undefined) return (await openGpuIfThere(options)) ?? openCpu(options, inNode);
  if (name === 'cpu') return openCpu(options, inNode);
  if (name === 'cpu-native') return openNative(options);
  const gpu = /^cuda(?::(\d+))?$/.exec(name);
  if (gpu !== null) return openCuda(Number(gpu[1] ?? 0), options);
  if (String(name).startsWith('model:')) {
    const { findModel } = await import('./model/find-model.ts');
    return openModel(findModel(name.slice('model:'.length)), options, inNode);
  }
  throw new WarpstageError({
    code: 'WS4003',
    message: `there is no device '${String(name)}'`,
    hint: "the devices of this version are: 'cpu', 'cpu-native', and 'cuda' or 'cuda:0', 'cuda:1', … for an NVIDIA GPU, and 'model:h200' or 'model:my-device.json' for a virtual device",
  });
}

/**
 * Opens a device for jobs: a CPU loads its compiler when a kernel is not kept, so who launches kernels on it has that
 * loaded before (late-compiler.ts).
 */
export async function openForJobs(name: DeviceName, options: OpenOptions): Promise<Device> {
  // What is kept is for memories of 4 GiB at most.
  if (name !== 'cpu' || (await memory64For(options, inNode)) !== undefined) return open(name, options);
  return openCpuWith(options, inNode, async () => {
    const [{ LateCompiler }, { KeptKernels }] = await Promise.all([
      import('./cpu/late-compiler.ts'),
      import('./cpu/kept-kernels.ts'),
    ]);
    return new LateCompiler(new KeptKernels()).settings;
  });
}

/** The CPU by the system's compiler of C. */
async function openNative(options: OpenOptions): Promise<Device> {
  const { compile = 'aside', target } = options;
  checkOption('compile', compile, compile === 'aside' || compile === 'first', "'aside' or 'first'");
  checkOption('target', target, target === undefined, "left out for the device 'cpu-native'");
  const { nativeTarget } = await import('./cpu/native/target.ts');
  return openCpu(
    options,
    inNode,
    await nativeTarget(compile === 'first', await memory64For(options, inNode)),
  );
}

async function openCuda(
  ordinal: number,
  { defaultStream = 'legacy', checked = false }: OpenOptions,
): Promise<Device> {
  checkDefaultStream(defaultStream);
  checkOption('checked', checked, typeof checked === 'boolean', 'true or false');
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
