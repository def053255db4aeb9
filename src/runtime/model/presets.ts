// The virtual devices that come with warpstage.
//
// The three of the post take one measured number each, the time of its sequential schedule:
// 16 MiB in, a kernel over them, 16 MiB out, each taken as a third. What the other schedules take
// is predicted, not fitted. The H200's rates were measured on one, each operation by itself.

import type { EngineModel } from './engines.ts';
import { plainKernels } from './kernel-times.ts';

/** The post's problem: 4 * 1024 * 256 * 4 floats. */
export const postBytes = 4 * 1024 * 256 * 4 * 4;

/** The milliseconds that the post published, by the presets' names. */
export const published: Readonly<
  Record<string, { readonly sequential: number; readonly V1: number; readonly V2: number }>
> = {
  c1060: { sequential: 12.92381, V1: 13.6369, V2: 8.84588 },
  c2050: { sequential: 9.984512, V1: 5.735584, V2: 7.597984 },
  k20c: { sequential: 7.10176, V1: 3.974144, V2: 3.967616 },
};

/** A device of the post, from the milliseconds of its sequential schedule. */
function ofPost(
  name: string,
  { sequential }: { readonly sequential: number },
  rules: Pick<
    EngineModel,
    | 'computeCapability'
    | 'copyEngines'
    | 'kernelsAtOnce'
    | 'hardwareQueues'
    | 'copyQueues'
    | 'delayedSignal'
    | 'multiProcessors'
    | 'threadsAtOnce'
    | 'memory'
  >,
): EngineModel {
  const rate = postBytes / (sequential / 3);
  return {
    name,
    ...rules,
    bothWays: 1,
    bothWaysOut: 1,
    besideKernels: 1,
    bothWaysOverhead: 0,
    hostToDevice: rate,
    deviceToHost: rate,
    pageableHostToDevice: rate / 2,
    pageableDeviceToHost: rate / 2,
    hostCacheBytes: 0,
    hostCacheRate: rate,
    // The post's kernel reads and writes each element once, in a third of the time.
    memoryRate: 2 * rate,
    operationRate: Number.POSITIVE_INFINITY,
    ...plainKernels,
    copyRate: 2 * rate,
    setRate: 2 * rate,
    hostToDeviceOverhead: 0,
    deviceToHostOverhead: 0,
    kernelOverhead: 0,
    switchTime: 0,
    signalTime: 0,
    issueTime: 0,
    launchTime: 0,
    eventTime: 0,
    issueAfterWait: 1,
  };
}

/** The virtual devices that need no file. */
export type PresetName = 'c1060' | 'c2050' | 'k20c' | 'h100' | 'h200';

/** An NVIDIA H200, as it was calibrated and as random graphs of work showed it. */
const h200: EngineModel = {
  name: 'NVIDIA H200',
  computeCapability: '9.0',
  copyEngines: 3,
  kernelsAtOnce: 128,
  hardwareQueues: 8,
  copyQueues: 4,
  delayedSignal: false,
  multiProcessors: 132,
  threadsAtOnce: 132 * 2048,
  memory: 141e9,
  bothWays: 1.085,
  bothWaysOut: 1.115,
  besideKernels: 1.03,
  bothWaysOverhead: 0.0018,
  hostToDevice: 54.55e6,
  deviceToHost: 54.4e6,
  pageableHostToDevice: 4.9e6,
  pageableDeviceToHost: 4.8e6,
  hostCacheBytes: 28e6,
  hostCacheRate: 10.5e6,
  memoryRate: 3.4e9,
  operationRate: 3.31e10,
  clockRate: 1.98e6,
  memoryLatency: 0.0005,
  cacheBytes: 47e6,
  cacheRate: 6.9e9,
  cacheLatency: 0.000173,
  firstCacheBytes: 256 * 1024,
  firstCacheLatency: 0.0000285,
  blockTime: 0.00031,
  blockRate: 2.3e6,
  copyRate: 4.1e9,
  setRate: 4.3e9,
  startTime: 0.0006,
  timingTime: 0.0014,
  hostToDeviceOverhead: 0.0027,
  deviceToHostOverhead: 0.0022,
  kernelOverhead: 0.0015,
  switchTime: 0.0004,
  signalTime: 0.003,
  issueTime: 0.0025,
  launchTime: 0.0046,
  eventTime: 0.0007,
  issueAfterWait: 1.25,
};

export const presets: Readonly<Record<PresetName, EngineModel>> = {
  c1060: ofPost('Tesla C1060', published.c1060!, {
    computeCapability: '1.3',
    copyEngines: 1,
    kernelsAtOnce: 1,
    hardwareQueues: 1,
    copyQueues: 1,
    delayedSignal: false,
    multiProcessors: 30,
    threadsAtOnce: 30 * 1024,
    memory: 4 * 2 ** 30,
  }),
  c2050: ofPost('Tesla C2050', published.c2050!, {
    computeCapability: '2.0',
    copyEngines: 2,
    kernelsAtOnce: 16,
    hardwareQueues: 1,
    copyQueues: 1,
    delayedSignal: true,
    multiProcessors: 14,
    threadsAtOnce: 14 * 1536,
    memory: 3 * 2 ** 30,
  }),
  k20c: ofPost('Tesla K20c', published.k20c!, {
    computeCapability: '3.5',
    copyEngines: 2,
    kernelsAtOnce: 32,
    hardwareQueues: 8,
    copyQueues: 4,
    delayedSignal: false,
    multiProcessors: 13,
    threadsAtOnce: 13 * 2048,
    memory: 5 * 2 ** 30,
  }),
  h200,
  // As an H200, but for its memory.
  h100: {
    ...h200,
    name: 'NVIDIA H100 80GB HBM3',
    memory: 80e9,
    hostToDevice: 53e6,
    deviceToHost: 53.5e6,
    memoryRate: 2.85e9,
    cacheRate: 6e9,
    copyRate: 3.01e9,
    setRate: 3.2e9,
    issueTime: 0.0043,
    launchTime: 0.0058,
    eventTime: 0.0011,
  },
};

/** The preset of a name, if there is one. */
export function presetNamed(name: unknown): EngineModel | undefined {
  return typeof name === 'string' && Object.hasOwn(presets, name) ? presets[name as PresetName] : undefined;
}
