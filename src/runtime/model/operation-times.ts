// How long an operation takes on a virtual device, and what it occupies there.
//
// A copy takes its bytes over the rate of its direction. A kernel takes what kernel-times.ts makes of what it has to do,
// unless the program that opened the device knows better.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Parameter, Program } from '../../compiler/ir.ts';
import { type Extent3, elementBytes } from '../../kernel/types.ts';
import { workOfLaunch } from '../../targets/analysis/work.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import { boxBytes } from '../box.ts';
import type { Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import { threadsOf } from '../extents.ts';
import type { LaunchWork } from '../launch.ts';
import type { EngineKind, EngineModel } from './engines.ts';
import { clockOf, type KernelTiming, loadOfTime, timeOfKernel } from './kernel-times.ts';
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
  /** What launches had to do, by the program and what they knew: many are alike. */
  readonly #workloads = new WeakMap<Program, Map<string, KernelTiming>>();

  constructor(model: EngineModel, kernelTime?: KernelTime) {
    this.#model = model;
    this.#kernelTime = kernelTime;
  }

  of(work: Work): OperationTime {
    const { issueTime, setRate } = this.#model;
    switch (work.kind) {
      case 'copy':
        return this.#ofCopy(work);
      case 'set':
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
    const pageable = source.memory.kind === 'pageable' || destination.memory.kind === 'pageable';
    const copy = (kind: EngineKind, overhead: number, rate: number, whole: number) => {
      const when = kind === 'host to device' ? 'issued' : 'complete';
      const time = Math.max(0, bytes / whole - bytes / rate);
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

  #ofLaunch({ name, grid, executable: { program }, values }: LaunchWork): KernelTiming {
    const scalars = values.map((value) => (value instanceof DeviceMemoryArray ? undefined : value));
    const lengths = values.map((value) => (value instanceof DeviceMemoryArray ? value.length : 0));
    const known = this.#workloads.get(program) ?? new Map<string, KernelTiming>();
    this.#workloads.set(program, known);
    const key = `${grid.join()};${scalars.join()};${lengths.join()}`;
    let timing = known.get(key);
    if (timing === undefined) {
      timing = this.#timingOf(name, program, grid, scalars, lengths);
      if (known.size >= mostKnown) known.clear();
      if (this.#kernelTime === undefined) known.set(key, timing);
    }
    return timing;
  }

  #timingOf(
    name: string,
    program: Program,
    grid: Extent3,
    scalars: readonly (Value | undefined)[],
    lengths: readonly number[],
  ): KernelTiming {
    const model = this.#model;
    const workFor = (latency: number) => workOfLaunch(program, grid, scalars, lengths, latency);
    const [blocks, threads] = [threadsOf(grid), threadsOf(program.block)];
    const cached = workFor(model.cacheLatency * clockOf(model));
    const reach = lengths.reduce((sum, length, i) => sum + length * bytesOf(program.parameters[i]!), 0);
    const finds = Math.min(cached.bytes, reach) <= model.cacheBytes;
    const work = finds ? cached : workFor(model.memoryLatency * clockOf(model));
    const timing = timeOfKernel(model, { blocks, threads, ...work, cached: finds });
    if (this.#kernelTime === undefined) return timing;
    const { bytes, operations } = work;
    const launch = { name, grid, block: program.block, bytes, operations };
    const time = Math.max(0, Number(this.#kernelTime(launch)) || 0);
    return { duration: model.kernelOverhead + time, load: loadOfTime(model, blocks, threads, time) };
  }
}

/** Launches that are remembered of a program. */
const mostKnown = 1000;

function bytesOf(parameter: Parameter): number {
  return parameter.kind === 'array' ? elementBytes[parameter.element] : 0;
}
