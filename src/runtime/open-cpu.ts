// Opening the CPU, and the virtual devices that it stands behind, wherever the program runs.

import type { CpuDevice, CpuSettings, CpuTarget } from './cpu/device.ts';
import type { Surroundings } from './cpu/surroundings.ts';
import type { EngineModel } from './model/engines.ts';
import { checkDefaultStream, checkOption, type OpenOptions } from './open-options.ts';

/** Where the program runs. */
export interface Place {
  /** How many threads run blocks, unless an option says otherwise. */
  readonly threads: number;
  /** What a device finds there that is to have so many threads. */
  surroundings(target: 'wasm' | 'interpreter', threads: number): Promise<Surroundings>;
}

/** `own`: a target that is loaded already. */
export async function openCpu(options: OpenOptions, place: Place, own?: CpuTarget): Promise<CpuDevice> {
  const [settings, { CpuDevice }] = await Promise.all([
    cpuSettings(options, place, own),
    import('./cpu/device.ts'),
  ]);
  return new CpuDevice(settings);
}

export async function openModel(model: EngineModel, options: OpenOptions, place: Place): Promise<CpuDevice> {
  const [{ createModelDevice }, { maximumBytes }] = await Promise.all([
    import('./model/device.ts'),
    import('./cpu/linear-memory.ts'),
  ]);
  const { kernelTime, execute = true } = options;
  const known = kernelTime === undefined || typeof kernelTime === 'function';
  checkOption('kernelTime', kernelTime, known, 'a function of a launch that gives milliseconds');
  checkOption('execute', execute, typeof execute === 'boolean', 'true or false');
  // Kernels and data are real, so they must fit the CPU's memory too.
  const memory = Math.min(options.memory ?? model.memory, maximumBytes);
  return createModelDevice(model, await cpuSettings({ ...options, memory }, place), { kernelTime, execute });
}

async function cpuSettings(options: OpenOptions, place: Place, own?: CpuTarget): Promise<CpuSettings> {
  // They load while the options are looked at.
  const loading = Promise.all([import('./cpu/targets.ts'), import('../compiler/specialise.ts')]);
  const { maximumBytes } = await import('./cpu/linear-memory.ts');
  const { memory = maximumBytes, threads = place.threads, target = 'wasm' } = options;
  const { delivery = 'eager', defaultStream = 'legacy' } = options;
  checkOption(
    'memory',
    memory,
    memory >= 65536 && memory <= maximumBytes,
    `bytes, from 65536 to ${maximumBytes}`,
  );
  checkOption(
    'threads',
    threads,
    Number.isInteger(threads) && threads >= 1 && threads <= 1024,
    'a whole number from 1 to 1024',
  );
  checkOption('target', target, target === 'wasm' || target === 'interpreter', "'wasm' or 'interpreter'");
  const known = delivery === 'eager' || delivery === 'late' || Number.isSafeInteger(delivery);
  checkOption('delivery', delivery, known, "'eager', 'late' or a whole number, the seed of a random order");
  checkDefaultStream(defaultStream);
  const loadingTarget = loading.then(([{ loadTarget }]) => own ?? loadTarget(target, delivery));
  const [[, { specialise }], loaded, surroundings] = await Promise.all([
    loading,
    loadingTarget,
    place.surroundings(target, threads),
  ]);
  return { memory, threads, defaultStream, target: loaded, specialise, surroundings };
}
