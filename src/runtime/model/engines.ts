// What a virtual device is made of: its engines, and the rules by which they take work.
//
// The rules are those of the post "How to Overlap Data Transfers in CUDA C/C++" (2012) and of the
// devices that it measures, as a discrete-event model.

import type { KernelLoad } from './sharing.ts';

/** The engines and rates of a virtual device. Rates are bytes a millisecond, times milliseconds. */
export interface EngineModel {
  readonly name: string;
  readonly computeCapability: string;
  /** 1: both directions of copies share it. 2 and more: one a direction. */
  readonly copyEngines: number;
  /** Kernels that may run at the same time, if together they do not fill the device. */
  readonly kernelsAtOnce: number;
  /**
   * Queues before the compute engine, and before each copy engine. In a queue, an operation that is not ready
   * holds up those behind it. With 1 an engine takes its work in the order in which the host issued it. A
   * driver opens 8 queues for kernels and 4 for copies of a direction on devices with Hyper-Q, unless
   * CUDA_DEVICE_MAX_CONNECTIONS says otherwise, and gives them to streams as these issue work.
   */
  readonly hardwareQueues: number;
  readonly copyQueues: number;
  /**
   * Whether a kernel's completion reaches the copy engines only when the kernels of other streams
   * that were issued right behind it are complete too.
   */
  readonly delayedSignal: boolean;
  /**
   * How many times slower a copy to the device is while one from it runs, as they share the bus, and one from it while
   * one to it runs; 1 if they do not.
   */
  readonly bothWays: number;
  readonly bothWaysOut: number;
  /** How many times slower copies are while kernels run. */
  readonly besideKernels: number;
  /** What a copy takes more, before it is slowed down, if it begins while one in the other direction runs. */
  readonly bothWaysOverhead: number;
  readonly hostToDevice: number;
  readonly deviceToHost: number;
  /**
   * A large copy from or to pageable memory, alone. The host copies it from or to page-locked memory, which is most of
   * its time; the rest is that of a copy of page-locked memory, and does not hold the host up.
   */
  readonly pageableHostToDevice: number;
  readonly pageableDeviceToHost: number;
  /** Bytes that the cache of the host's processor holds, and the rate of a copy there. */
  readonly hostCacheBytes: number;
  readonly hostCacheRate: number;
  /**
   * Bytes a millisecond that a kernel reads and writes, its operations a millisecond (additions of f32; what takes
   * the schedulers longer counts as several), and cycles of its clock: infinite where chains of operations take no time.
   */
  readonly memoryRate: number;
  readonly operationRate: number;
  readonly clockRate: number;
  /** Milliseconds until a value from memory is there. */
  readonly memoryLatency: number;
  /** What moves fewer bytes than this finds them in the cache, whose rate and latency then count. */
  readonly cacheBytes: number;
  readonly cacheRate: number;
  readonly cacheLatency: number;
  /** Bytes that a processor's own cache holds, and milliseconds until a value from there is there. */
  readonly firstCacheBytes: number;
  readonly firstCacheLatency: number;
  /** What a block takes beside its chain of operations, and how many are handed out a millisecond. */
  readonly blockTime: number;
  readonly blockRate: number;
  /** Bytes a millisecond that a copy within the device reads and writes, beyond the cache, and that a set writes. */
  readonly copyRate: number;
  readonly setRate: number;
  /** What a copy of either direction and a kernel take on their engine beside their work. */
  readonly hostToDeviceOverhead: number;
  readonly deviceToHostOverhead: number;
  readonly kernelOverhead: number;
  /** What passes between the starts of two kernels, also of different streams. */
  readonly startTime: number;
  /** What it takes the device to write down the time of an event, before what comes behind it in its stream. */
  readonly timingTime: number;
  /** What a copy engine takes to go over from one stream to another. */
  readonly switchTime: number;
  /** What it takes until another engine, or an event of another stream, has heard that an operation is complete. */
  readonly signalTime: number;
  /** What issuing a copy or a set, launching a kernel, and recording or waiting for an event costs the host. */
  readonly issueTime: number;
  readonly launchTime: number;
  readonly eventTime: number;
  /** How many times as long that takes in the millisecond after the host has waited for one or longer: its caches are cold then. */
  readonly issueAfterWait: number;
  /** How many threads run at the same time: a kernel of fewer leaves room for another. */
  readonly threadsAtOnce: number;
  readonly multiProcessors: number;
  /** Bytes. */
  readonly memory: number;
}

/** What an operation needs. `none`: nothing (an event, a wait). */
export type EngineKind = 'host to device' | 'device to host' | 'kernel' | 'none';

/** One operation on a stream of a virtual device. */
export interface Operation {
  readonly id: number;
  readonly kind: EngineKind;
  readonly stream: number;
  /** Milliseconds that it takes where nothing slows it down. */
  readonly duration: number;
  /** Operations that must be complete before it starts; all issued before it. */
  readonly dependencies: readonly number[];
  /** What a kernel asks of the device; without it, all of it. */
  readonly load?: KernelLoad;
  /** That of its stream: the lower the sooner. Default 0. */
  readonly priority?: number;
}

/** When an operation ran, in virtual milliseconds. */
export interface Stay {
  readonly operation: Operation;
  readonly issued: number;
  readonly started: number;
  readonly ended: number;
  /** When copies that wait for it learnt of it; later than `ended` where the signal is delayed. */
  readonly signalled: number;
}

/** The engine that an operation runs on. */
export function engineOf(model: EngineModel, kind: EngineKind): string {
  if (kind === 'kernel') return 'compute';
  if (kind === 'none') return 'none';
  if (model.copyEngines === 1) return 'copy';
  return kind === 'host to device' ? 'copy in' : 'copy out';
}
