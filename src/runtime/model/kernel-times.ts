// How long a kernel takes on a virtual device, and what it asks of it, from what its launch has to do.
//
// A block takes a place on a processor for as long as its longest chain of operations lasts; a processor issues so
// many operations a millisecond; memory moves so many bytes; and blocks are handed out one after the other. Whichever is
// slowest decides, and near the bend the others count too (`together`).

import type { EngineModel } from './engines.ts';
import { type KernelLoad, together } from './sharing.ts';

/** Of a device whose kernels only move bytes and carry out operations. */
export const plainKernels = {
  clockRate: Number.POSITIVE_INFINITY,
  memoryLatency: 0,
  cacheBytes: 0,
  cacheRate: Number.POSITIVE_INFINITY,
  cacheLatency: 0,
  firstCacheBytes: 0,
  firstCacheLatency: 0,
  blockTime: 0,
  blockRate: Number.POSITIVE_INFINITY,
  startTime: 0,
  timingTime: 0,
} as const satisfies Partial<EngineModel>;

/** What a launch has to do. */
export interface KernelWork {
  readonly blocks: number;
  /** Threads of a block. */
  readonly threads: number;
  readonly bytes: number;
  readonly operations: number;
  /** Cycles of a block's longest chain of operations. */
  readonly cycles: number;
  /** Whether the cache holds what it moves. */
  readonly cached: boolean;
}

export interface KernelTiming {
  /** Milliseconds if it has the device to itself. */
  readonly duration: number;
  readonly load: KernelLoad;
}

const warpSize = 32;

/** Blocks that a processor holds at most. */
const mostBlocks = 32;

/** Operations that it costs a processor to begin and to end a warp. */
const operationsOfWarp = 38 * warpSize;

/** How much more than its part of the cache's rate one processor can move. */
const ownRate = 1.25;

export function timeOfKernel(model: EngineModel, work: KernelWork): KernelTiming {
  const { multiProcessors } = model;
  const { blocks, bytes, cached } = work;
  const warps = Math.ceil(work.threads / warpSize);
  const perProcessor = placesOf(model, work.threads);
  const places = perProcessor * multiProcessors;
  const there = Math.min(blocks, places);
  const busiest = Math.ceil(blocks / multiProcessors);
  const clock = clockOf(model);
  const chain = clock === 0 ? 0 : work.cycles / clock + model.blockTime;
  const operations = work.operations / blocks + (clock === 0 ? 0 : warps * operationsOfWarp);
  const issue = (busiest * operations * multiProcessors) / model.operationRate;
  const rate = Math.min(
    cached ? model.cacheRate : model.memoryRate,
    ownRate * model.cacheRate * Math.min(1, blocks / multiProcessors),
  );
  const load: KernelLoad = {
    share: there / places,
    blockShare: 1 / places,
    blocks: there,
    waves: blocks / places,
    latency: Math.ceil(busiest / perProcessor) * chain,
    issue: Math.max(issue, blocks / model.blockRate),
    memory: bytes / rate,
  };
  const time = together(load.latency, load.issue, load.memory);
  return { duration: model.kernelOverhead + there / model.blockRate + time, load };
}

/** Blocks of so many threads that a processor holds at the same time. */
function placesOf({ threadsAtOnce, multiProcessors }: EngineModel, threads: number): number {
  const room = Math.max(1, threadsAtOnce / multiProcessors);
  const whole = Math.ceil(threads / warpSize) * warpSize;
  return Math.max(1, Math.min(mostBlocks, Math.floor(room / whole)));
}

/** What a kernel asks that takes a given time: it leaves room if it does not fill the device, and waits for nothing else. */
export function loadOfTime(model: EngineModel, blocks: number, threads: number, time: number): KernelLoad {
  const places = placesOf(model, threads) * model.multiProcessors;
  const there = Math.min(blocks, places);
  const fills = blocks >= places;
  return {
    share: there / places,
    blockShare: 1 / places,
    blocks: there,
    waves: blocks / places,
    latency: fills ? 0 : time,
    issue: 0,
    memory: fills ? time : 0,
  };
}

/** Cycles a millisecond; 0 of a device whose kernels only move bytes and carry out operations. */
export function clockOf({ clockRate }: EngineModel): number {
  return Number.isFinite(clockRate) ? clockRate : 0;
}
