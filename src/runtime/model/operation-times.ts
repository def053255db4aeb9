// How long an operation takes on a virtual device, and what it occupies there.
//
// A copy takes its bytes over the rate of its direction. A kernel takes what it has to do over
// the device's rates, whichever of memory and arithmetic is slower, unless whoever opened the
// device knows better.

import type { Extent3 } from '../../kernel/types.ts';
import { workOfLaunch } from '../../targets/analysis/work.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import { boxBytes } from '../box.ts';
import type { Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import { threadsOf } from '../extents.ts';
import type { LaunchWork } from '../launch.ts';
import type { EngineKind, EngineModel } from './engines.ts';

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
  /** Which part of the device a kernel fills. */
  readonly share: number;
  /** Whether the call returns only when the operation is complete, as a copy of pageable memory does. */
  readonly blocksHost: boolean;
}

export class OperationTimes {
  readonly #model: EngineModel;
  readonly #kernelTime: KernelTime;

  constructor(model: EngineModel, kernelTime?: KernelTime) {
    this.#model = model;
    this.#kernelTime = kernelTime ?? ((launch) => this.#byRates(launch));
  }

  of(work: Work): OperationTime {
    switch (work.kind) {
      case 'copy':
        return this.#ofCopy(work);
      case 'set':
        return this.#onCompute(work.bytes / this.#model.memoryRate, 1);
      case 'launch':
        return this.#ofLaunch(work);
      case 'host':
        // The host's own time, of which the device knows nothing.
        return { kind: 'none', duration: 0, issue: this.#model.issueTime, share: 1, blocksHost: false };
      case 'graph':
        throw new TypeError('a graph of a virtual device is launched as single commands');
    }
  }

  #onCompute(duration: number, share: number): OperationTime {
    const { kernelOverhead, issueTime } = this.#model;
    return {
      kind: 'kernel',
      duration: kernelOverhead + duration,
      issue: issueTime,
      share,
      blocksHost: false,
    };
  }

  #ofCopy({ direction, box, source, destination }: CopyWork): OperationTime {
    const model = this.#model;
    const bytes = boxBytes(box);
    const pageable = source.memory.kind === 'pageable' || destination.memory.kind === 'pageable';
    const copy = (kind: EngineKind, rate: number, overhead = 0) => {
      const duration = overhead + bytes / rate;
      return { kind, duration, issue: model.issueTime, share: 1, blocksHost: pageable };
    };
    switch (direction) {
      case 'host to device': {
        const rate = pageable ? model.pageableHostToDevice : model.hostToDevice;
        return copy('host to device', rate, model.hostToDeviceOverhead);
      }
      case 'device to host': {
        const rate = pageable ? model.pageableDeviceToHost : model.deviceToHost;
        return copy('device to host', rate, model.deviceToHostOverhead);
      }
      case 'device to device':
        // Read and written in the device's memory, by its processors.
        return this.#onCompute((2 * bytes) / model.memoryRate, 1);
      case 'host to host':
        return copy('none', model.pageableHostToDevice);
    }
  }

  #ofLaunch({ name, grid, executable, values }: LaunchWork): OperationTime {
    const { program } = executable;
    const workload = workOfLaunch(
      program,
      grid,
      values.map((value) => (value instanceof DeviceMemoryArray ? undefined : value)),
      values.map((value) => (value instanceof DeviceMemoryArray ? value.length : 0)),
    );
    const threads = threadsOf(grid) * threadsOf(program.block);
    const share = Math.min(1, threads / this.#model.threadsAtOnce);
    const duration = this.#kernelTime({ name, grid, block: program.block, ...workload });
    return {
      ...this.#onCompute(Math.max(0, Number(duration) || 0), share),
      issue: this.#model.launchTime,
    };
  }

  #byRates({ bytes, operations }: TimedLaunch): number {
    return Math.max(bytes / this.#model.memoryRate, operations / this.#model.operationRate);
  }
}
