// An NVIDIA GPU as a target of `runProgram`: the same memory image, copied there and back.
//
// A kernel that does not end cannot be stopped, and nothing runs behind it. So a launch is given a time, and
// when it has passed, this and every later launch of the process fail with the program that hangs.

import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { Allocation, DeviceMemoryArray } from '#warpstage/runtime/arrays.js';
import { type Driver, driverResults } from '#warpstage/runtime/cuda/driver.js';
import { type Gpu, openGpu } from '#warpstage/runtime/cuda/gpu.js';
import { Launcher } from '#warpstage/runtime/cuda/launcher.js';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { openNvrtc } from '#warpstage/runtime/cuda/nvrtc.js';
import { compileCuda } from '#warpstage/targets/cuda/compile.js';
import { synchronisesGrid } from '#warpstage/targets/grid.js';
import { gpus } from './gpu.ts';
import type { Target } from './run-program.ts';

let opened: { readonly gpu: Gpu; readonly launcher: Launcher } | undefined;

function open() {
  if (opened === undefined) {
    const gpu = openGpu(0);
    opened = { gpu, launcher: new Launcher(gpu.driver) };
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

export const cuda: Target = {
  name: 'cuda',
  compile(program) {
    const { architecture } = open().gpu;
    const alignments = program.parameters.map(({ kind }) => (kind === 'array' ? 16 : 1));
    return compileCuda({ program, sources: [] }, alignments, {
      architecture,
      compile: (...operands) => openNvrtc().compile(...operands),
    });
  },
  createRunner(executable, { memory }) {
    return (record, _arena, first, end) => {
      if (hanging !== undefined) throw new Error(hanging);
      const { gpu, launcher } = open();
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
          const length = view.getUint32(slot + 4, true);
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
        return { offset: view.getUint32(slot, true), length: view.getUint32(slot + 4, true) };
      });
      launcher.launch(
        {
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
        },
        0,
      );
      finish(driver, program);
      driver.check(driver.cuMemcpyAsync(host, begin, bytes.length, 0), 'copy out');
      driver.check(driver.cuStreamSynchronize(0), 'the kernel');
      driver.check(driver.cuMemFreeAsync(begin, 0), 'memory');
      return null;
    };
  },
};

/** The GPU, where there is one. */
export const cudaTargets: readonly Target[] = gpus === 0 ? [] : [cuda];
