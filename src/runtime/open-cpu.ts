// Opening the CPU, and the virtual devices that it stands behind, wherever the program runs.

import type { WasmOptions } from '../targets/wasm/compile.ts';
import type { CpuDevice, CpuSettings, CpuTarget } from './cpu/device.ts';
import type { Surroundings } from './cpu/surroundings.ts';
import type { EngineModel } from './model/engines.ts';
import { checkDefaultStream, checkOption, type OpenOptions } from './open-options.ts';

type ForMemory64 = NonNullable<WasmOptions['memory64']>;

/** Where the program runs. */
export interface Place {
  /** How many threads run blocks, unless an option says otherwise. */
  readonly threads: number;
  /** Loads what finishes modules for a memory of more than 4 GiB; null where no device may have as much. */
  readonly loadMemory64: (() => Promise<ForMemory64>) | null;
  /** What a device finds there that is to have so many threads. */
  surroundings(target: 'wasm' | 'interpreter', threads: number): Promise<Surroundings>;
}

/** What a device compiles with. */
export type Compiling = Pick<CpuSettings, 'target' | 'specialise' | 'loadCompiler'>;

/** `own`: a target that is loaded already. */
export async function openCpu(options: OpenOptions, place: Place, own?: CpuTarget): Promise<CpuDevice> {
  return openCpuWith(options, place, () => compilingFor(options, place, own));
}

/** `load`: gives what the device compiles with, once the options are known to be right. */
export async function openCpuWith(
  options: OpenOptions,
  place: Place,
  load: () => Promise<Compiling>,
): Promise<CpuDevice> {
  const [settings, { CpuDevice }] = await Promise.all([
    cpuSettings(options, place, load),
    import('./cpu/device.ts'),
  ]);
  return new CpuDevice(settings);
}

export async function openModel(model: EngineModel, options: OpenOptions, place: Place): Promise<CpuDevice> {
  const [{ createModelDevice }, { hasMemory64, maximumBytes, widestBytes }] = await Promise.all([
    import('./model/device.ts'),
    import('./cpu/linear-memory.ts'),
  ]);
  const { kernelTime, execute = true } = options;
  const known = kernelTime === undefined || typeof kernelTime === 'function';
  checkOption('kernelTime', kernelTime, known, 'a function of a launch that gives milliseconds');
  checkOption('execute', execute, typeof execute === 'boolean', 'true or false');
  // Kernels and data are real, so they must fit the CPU's memory too; more than 4 GiB of it are asked for.
  const asked = options.memory ?? maximumBytes;
  const isWide = asked > maximumBytes && place.loadMemory64 !== null && hasMemory64();
  const memory = Math.min(options.memory ?? model.memory, isWide ? widestBytes : maximumBytes);
  const given = { ...options, memory };
  const settings = await cpuSettings(given, place, () => compilingFor(given, place));
  return createModelDevice(model, settings, { kernelTime, execute });
}

async function compilingFor(options: OpenOptions, place: Place, own?: CpuTarget) {
  const { target = 'wasm', delivery = 'eager' } = options;
  const [{ loadTarget }, { specialise }, memory64] = await Promise.all([
    import('./cpu/targets.ts'),
    import('../compiler/specialise.ts'),
    memory64For(options, place),
  ]);
  return { specialise, target: own ?? (await loadTarget(target, delivery, memory64)) };
}

/** What finishes modules for a memory of more than 4 GiB; absent where it is smaller. */
export async function memory64For(
  { memory = 0 }: OpenOptions,
  { loadMemory64 }: Place,
): Promise<WasmOptions['memory64']> {
  const { addressTypeFor } = await import('./cpu/linear-memory.ts');
  return addressTypeFor(memory) === 'i64' ? loadMemory64?.() : undefined;
}

async function cpuSettings(
  options: OpenOptions,
  place: Place,
  load: () => Promise<Compiling>,
): Promise<CpuSettings> {
  const { addressTypeFor, hasMemory64, maximumBytes, widestBytes } = await import('./cpu/linear-memory.ts');
  const { memory = maximumBytes, threads = place.threads, target = 'wasm' } = options;
  const { delivery = 'eager', defaultStream = 'legacy' } = options;
  const addressType = addressTypeFor(memory);
  // To ask takes an engine some of its address space.
  const asksForMore = addressType === 'i64' && place.loadMemory64 !== null;
  const isWide = asksForMore && hasMemory64();
  const most = isWide ? widestBytes : maximumBytes;
  checkOption(
    'memory',
    memory,
    memory >= 65536 && memory <= most,
    `bytes, from 65536 to ${most}`,
    asksForMore && !isWide
      ? `with Node 24 or later it may be up to ${widestBytes}: memories have addresses of 64 bits there`
      : undefined,
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
  const [compiling, surroundings] = await Promise.all([load(), place.surroundings(target, threads)]);
  return { memory, addressType, threads, defaultStream, surroundings, ...compiling };
}
