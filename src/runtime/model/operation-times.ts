// How long an operation takes on a virtual device, and what it occupies there.
//
// A copy takes its bytes over the rate of its direction. A kernel takes what kernel-times.ts makes of what it has to do,
// unless the program that opened the device knows better.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Program } from '../../compiler/ir.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { type LaunchWorkload, workOfLaunch } from '../../targets/analysis/work.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import { boxBytes } from '../box.ts';
import type { Work } from '../command.ts';
import type { CopyWork, Memory } from '../copies.ts';
import { threadsOf } from '../extents.ts';
import type { LaunchWork } from '../launch.ts';
import type { EngineKind, EngineModel } from './engines.ts';
import { workBehindFirstCache } from './first-cache.ts';
import { clockOf, type KernelTiming, loadOfTime, timeOfKernel } from './kernel-times.ts';
import { RecentMemory } from './recent-memory.ts';
import { type KernelLoad, loadOfWhole } from './sharing.ts';

/** A launch whose time is asked for. */
export interface TimedLaunch {
  /** The kernel's name. */
  readonly name: string;
  readonly grid: Extent3;
  readonly block: Extent3;
  /** Bytes that it moves to and from global memory, and operations that it carries out, as estimated from its text. */
  readonly bytes: number;
  readonly operations: number;
}

/** Milliseconds that a kernel takes on the virtual device when it has the device to itself. */
export type KernelTime = (launch: TimedLaunch) => number;

interface OperationTime {
  readonly kind: EngineKind;
  readonly duration: number;
  /** What issuing it costs the host. */
  readonly issue: number;
  /** What a kernel asks of the device. */
  readonly load?: KernelLoad;
  /** Whether the call returns only when the operation is complete. */
  readonly blocksHost?: boolean;
  /** What the host copies, to page-locked memory when it is issued, or from there when it is complete. */
  readonly staged?: Staged;
}

/** A copy of pageable memory passes page-locked memory, to which or from which the host copies it. */
export interface Staged {
  readonly bytes: number;
  /** Milliseconds that the host takes. */
  readonly time: number;
  readonly when: 'issued' | 'complete';
}

/** What setting memory costs the host, of what a copy costs it: it has one operand. */
const setIssue = 0.6;

export class OperationTimes {
  readonly #model: EngineModel;
  readonly #kernelTime: KernelTime | undefined;
  /** What the device's cache holds, and what that of the host's processor does. */
  readonly #cache: RecentMemory;
  readonly #hostCache: RecentMemory;
  /** What launches had to do, by the program and what they knew: many are alike. */
  readonly #workloads = new WeakMap<Program, Map<string, LaunchWorkload>>();

  constructor(model: EngineModel, kernelTime?: KernelTime) {
    this.#model = model;
    this.#kernelTime = kernelTime;
    this.#cache = new RecentMemory(model.cacheBytes);
    this.#hostCache = new RecentMemory(model.hostCacheBytes / 2);
  }

  of(work: Work): OperationTime {
    const { issueTime, setRate } = this.#model;
    switch (work.kind) {
      case 'copy':
        return this.#ofCopy(work);
      case 'set':
        this.#cache.touch(deviceMemory, work.address, work.bytes);
        return this.#inMemory(work.bytes / setRate, setIssue * issueTime);
      case 'launch':
        return { ...this.#ofLaunch(work), kind: 'kernel', issue: this.#model.launchTime };
      case 'host':
      case 'wait':
        // The host's own time, of which the device knows nothing.
        return { kind: 'none', duration: 0, issue: issueTime };
      case 'graph':
        throw new TypeError('a graph of a virtual device is launched as single commands');
    }
  }

  /** What the device's processors do to its memory. */
  #inMemory(time: number, issue: number): OperationTime {
    const duration = this.#model.kernelOverhead + time;
    return { kind: 'kernel', duration, issue, load: loadOfWhole(this.#model, time) };
  }

  #ofCopy({ direction, box, source, destination }: CopyWork): OperationTime {
    const model = this.#model;
    const bytes = boxBytes(box);
    for (const { memory } of [source, destination])
      if (memory.kind === 'device') this.#cache.touch(deviceMemory, memory.address, bytes);
    const pageable = source.memory.kind === 'pageable' || destination.memory.kind === 'pageable';
    const copy = (kind: EngineKind, overhead: number, rate: number, whole: number) => {
      const when = kind === 'host to device' ? 'issued' : 'complete';
      const held = pageable ? this.#held(source.memory) + this.#held(destination.memory) : 0;
      const cold = Math.max(0, bytes / whole - bytes / rate);
      const time = held * Math.min(cold, bytes / model.hostCacheRate) + (1 - held) * cold;
      const staged: { staged?: Staged } = pageable ? { staged: { bytes, time, when } } : {};
      return { kind, duration: overhead + bytes / rate, issue: model.issueTime, ...staged };
    };
    switch (direction) {
      case 'host to device':
        return copy(direction, model.hostToDeviceOverhead, model.hostToDevice, model.pageableHostToDevice);
      case 'device to host':
        return copy(direction, model.deviceToHostOverhead, model.deviceToHost, model.pageableDeviceToHost);
      case 'device to device': {
        const rate = 2 * bytes <= model.cacheBytes ? model.cacheRate : model.copyRate;
        return this.#inMemory((2 * bytes) / rate, model.launchTime);
      }
      case 'host to host': {
        const duration = bytes / model.pageableHostToDevice;
        return { kind: 'none', duration, issue: model.issueTime, blocksHost: pageable };
      }
    }
  }

  /** The part of pageable memory that the host's cache holds: as much again is that of what it is copied from or to. */
  #held(memory: Memory): number {
    if (memory.kind !== 'pageable') return 0;
    const { buffer, byteOffset, byteLength } = memory.bytes;
    return this.#hostCache.touch(buffer, byteOffset, byteLength);
  }

  #ofLaunch({ name, grid, executable: { program }, values }: LaunchWork): KernelTiming {
    const model = this.#model;
    const arrays = values.filter((value) => value instanceof DeviceMemoryArray);
    const scalars = values.map((value) => (value instanceof DeviceMemoryArray ? undefined : value));
    const lengths = values.map((value) => (value instanceof DeviceMemoryArray ? value.length : 0));
    const [blocks, threads] = [threadsOf(grid), threadsOf(program.block)];
    const readable = values.reduce<number>((sum, value, i) => {
      const parameter = program.parameters[i];
      const isRead = parameter?.kind === 'array' && parameter.readonly && value instanceof DeviceMemoryArray;
      return isRead ? sum + value.byteLength : sum;
    }, 0);
    const follow = (latency: number, readLatency: number) =>
      this.#workload(program, grid, scalars, lengths, latency * clockOf(model), readLatency * clockOf(model));
    const workFor = (latency: number) => workBehindFirstCache(model, { blocks, readable, follow }, latency);
    const near = workFor(model.cacheLatency);
    const reach = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const held = arrays.reduce((sum, array) => sum + this.#touch(array, near.bytes) * array.byteLength, 0);
    const cached = Math.min(near.bytes, reach) <= model.cacheBytes && 2 * held > reach;
    const work = cached ? near : workFor(model.memoryLatency);
    if (this.#kernelTime === undefined) return timeOfKernel(model, { blocks, threads, ...work, cached });
    const { bytes, operations } = work;
    const launch = { name, grid, block: program.block, bytes, operations };
    const time = Math.max(0, Number(this.#kernelTime(launch)) || 0);
    return { duration: model.kernelOverhead + time, load: loadOfTime(model, blocks, threads, time) };
  }

  /** A kernel touches an array, of which it moves no more than so many bytes; the part that the cache held before. */
  #touch({ address, byteLength }: DeviceMemoryArray, bytes: number): number {
    return this.#cache.touch(deviceMemory, address, Math.min(byteLength, bytes));
  }

  /** What a launch has to do; many are alike. */
  #workload(
    program: Program,
    grid: Extent3,
    scalars: readonly (Value | undefined)[],
    lengths: readonly number[],
    latency: number,
    readLatency: number,
  ): LaunchWorkload {
    const known = this.#workloads.get(program) ?? new Map<string, LaunchWorkload>();
    this.#workloads.set(program, known);
    const key = `${grid.join()};${scalars.join()};${lengths.join()};${latency};${readLatency}`;
    let work = known.get(key);
    if (work === undefined) {
      work = workOfLaunch(program, grid, scalars, lengths, latency, readLatency);
      if (known.size >= mostKnown) known.clear();
      known.set(key, work);
    }
    return work;
  }
}

/** What addresses of the device's memory are of. */
const deviceMemory = {};

/** Launches that are remembered of a program. */
const mostKnown = 1000;
