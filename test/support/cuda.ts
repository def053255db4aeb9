// An NVIDIA GPU as a target of `runProgram`: the same memory image, copied there and back.
//
// Kernels run as they are, and with every access, copy and division tested. A kernel that does not end cannot be
// stopped, and nothing runs behind it. So a launch is given a time, and when it has passed, this and every later
// launch of the process fail with the program that hangs.

import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { Allocation, DeviceMemoryArray } from '#warpstage/runtime/arrays.js';
import { Channels } from '#warpstage/runtime/cuda/channels.js';
import { type Driver, driverResults } from '#warpstage/runtime/cuda/driver.js';
import { DriverStream, EventPool } from '#warpstage/runtime/cuda/driver-stream.js';
import { type Gpu, openGpu } from '#warpstage/runtime/cuda/gpu.js';
import { Launcher } from '#warpstage/runtime/cuda/launcher.js';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { DeviceMemory, PinnedMemory } from '#warpstage/runtime/cuda/memory.js';
import { openNvrtc } from '#warpstage/runtime/cuda/nvrtc.js';
import type { LaunchWork } from '#warpstage/runtime/launch.js';
import { compileCuda } from '#warpstage/targets/cuda/compile.js';
import { sitesOf } from '#warpstage/targets/cuda/faults.js';
import { synchronisesGrid } from '#warpstage/targets/grid.js';
import { gpus } from './gpu.ts';
import type { Target } from './run-program.ts';

interface Opened {
  readonly gpu: Gpu;
  readonly launcher: Launcher;
  readonly channels: Channels;
  /** The default stream. */
  readonly stream: DriverStream;
}

let opened: Opened | undefined;

function open(): Opened {
  if (opened === undefined) {
    const gpu = openGpu(0);
    const { driver, context } = gpu;
    const spans = { isReached: () => true };
    const name = { name: 'default', priority: 0, handle: 0 };
    opened = {
      gpu,
      launcher: new Launcher(driver, context, gpu.properties.sharedMemoryPerBlock),
      channels: new Channels(
        driver,
        new DeviceMemory(driver, context),
        new PinnedMemory(driver, context),
        () => {},
      ),
      stream: new DriverStream(driver, new EventPool(driver, 'untimed'), spans, name),
    };
  }
  return opened;
}

/** What a program of a test may take, and is far from taking. */
const mostMilliseconds = 10_000;
let hanging: string | undefined;

/** Waits for the default stream, where a program is. */
function finish(driver: Driver, program: Program): void {
  const end = performance.now() + mostMilliseconds;
  while (true) {
    const result = driver.cuStreamQuery(0);
    if (result !== driverResults.notReady) {
      driver.check(result, 'the kernel');
      return;
    }
    if (performance.now() < end) continue;
    hanging = `a kernel does not end on the GPU:\n${printProgram(program)}`;
    throw new Error(hanging);
  }
}

const reach = { kind: 'everywhere', admit: () => {} } as const;

const target = (checked: boolean): Target => ({
  name: checked ? 'cuda, checked' : 'cuda',
  compile(program) {
    const { architecture } = open().gpu;
    const alignments = program.parameters.map(({ kind }) => (kind === 'array' ? 16 : 1));
    return compileCuda({ program, sources: [] }, alignments, {
      architecture,
      checked,
      compile: (...operands) => openNvrtc().compile(...operands),
    });
  },
  createRunner(executable, { memory }) {
    return (record, _arena, first, end) => {
      if (hanging !== undefined) throw new Error(hanging);
      const { gpu, launcher, channels, stream } = open();
      const { driver } = gpu;
      gpu.context.use();
      const bytes = new Uint8Array(memory.buffer);
      const view = new DataView(memory.buffer);
      const grid = [0, 4, 8].map((axis) => view.getUint32(record + axis, true)) as [number, number, number];
      if (first !== 0 || end !== grid[0] * grid[1] * grid[2]) throw new Error('a GPU runs all blocks');
      const base = [0];
      driver.check(driver.cuMemAllocAsync(base, bytes.length, 0), 'memory');
      const begin = Number(base[0]);
      const host = addressOf(bytes);
      driver.check(driver.cuMemcpyAsync(begin, host, bytes.length, 0), 'copy in');
      const { program } = executable;
      const values = program.parameters.map((parameter, id) => {
        const slot = record + 16 * (1 + id);
        if (parameter.kind === 'array') {
          const length = view.getUint32(slot + 8, true);
          const address = begin + view.getUint32(slot, true);
          const allocation = new Allocation(address, 0, reach, () => {});
          return new DeviceMemoryArray(null as never, parameter.element, length, allocation);
        }
        switch (parameter.type) {
          case 'i64':
          case 'u64':
            return view.getBigInt64(slot, true);
          case 'f32':
            return view.getFloat32(slot, true);
          case 'f64':
            return view.getFloat64(slot, true);
          case 'u32':
            return view.getUint32(slot, true);
          default:
            return view.getInt32(slot, true);
        }
      });
      const shared = program.sharedArrays.map((_, id) => {
        const slot = record + 16 * (1 + program.parameters.length + id);
        return { offset: view.getUint32(slot, true), length: view.getUint32(slot + 8, true) };
      });
      const work: LaunchWork = {
        kind: 'launch',
        name: program.name,
        sources: [],
        executable,
        grid,
        values,
        shared,
        sharedBytes: 0,
        allocations: [],
        signal: null,
        cooperative: synchronisesGrid(program),
        variantOf: null,
        ranOn: 'cuda',
      };
      const reporting = sitesOf(executable) === undefined ? null : channels.begin(stream, work);
      launcher.launch(work, 0, reporting);
      finish(driver, program);
      const error = reporting && channels.end(reporting);
      if (error !== null) throw error;
      driver.check(driver.cuMemcpyAsync(host, begin, bytes.length, 0), 'copy out');
      driver.check(driver.cuStreamSynchronize(0), 'the kernel');
      driver.check(driver.cuMemFreeAsync(begin, 0), 'memory');
      return null;
    };
  },
});

/** The GPU, where there is one, without and with checks. */
export const cudaTargets: readonly Target[] = gpus === 0 ? [] : [target(false), target(true)];
