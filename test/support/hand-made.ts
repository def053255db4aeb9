// A CPU device whose kernels are written by hand (hand-made-runners.mjs), for tests of the
// device itself.

import { availableParallelism } from 'node:os';
import { type Kernel, kernel } from 'warpstage';
import { createKernelSource } from '#warpstage/diagnostics/source.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { CpuDevice, type CpuSettings, type CpuTarget } from '#warpstage/runtime/cpu/device.js';
import { threads } from '#warpstage/runtime/cpu/threads.js';

const body = () => {};

/** The kernels of hand-made-runners.mjs. */
export const handMade = {
  step: kernel({ y: 'i32[]', a: 'i32' }, body, { name: 'step' }),
  gate: kernel({ flag: 'i32[]', out: 'i32[]' }, body, { name: 'gate' }),
  endless: kernel({ running: 'i32[]' }, body, { name: 'endless' }),
  meet: kernel({ out: 'i32[]', arrived: 'i32[]' }, body, { name: 'meet' }),
  arena: kernel({ out: 'i32[]' }, body, { name: 'arena' }),
  fault: kernel({ at: 'i32' }, body, { name: 'fault' }),
  deadlock: kernel({}, body, { name: 'deadlock' }),
  print: kernel({}, body, { name: 'print' }),
  crash: kernel({}, body, { name: 'crash' }),
  leave: kernel({}, body, { name: 'leave' }),
} as const;

/** What compiles them. */
export const handMadeTarget: CpuTarget = {
  compile: (program) => ({
    target: 'interpreter',
    program,
    scratchBytes: 100,
    delivery: 'eager',
    steps: 0,
  }),
  runners: { url: new URL('./hand-made-runners.mjs', import.meta.url).href, name: 'createRunner' },
  parallel: true,
  withStages: (executable) => executable,
};

/** Opens a device that runs them. */
export function openHandMade(settings: Partial<CpuSettings> = {}): CpuDevice {
  return new CpuDevice({
    memory: 64 * 1024 * 1024,
    addressType: 'i32',
    threads: Math.max(2, availableParallelism()),
    defaultStream: 'legacy',
    surroundings: threads,
    specialise: (made: Kernel, { block, indexType }) => ({
      program: {
        name: made.name,
        block,
        indexType,
        parameters: parseSchema(made.schema).map((parameter) => {
          if (parameter.kind === 'array') return parameter;
          if (parameter.kind === 'scalar' && parameter.type === 'i32') return { ...parameter, type: 'i32' };
          throw new TypeError(`hand-made kernels have no ${parameter.kind}`);
        }),
        variables: [],
        sharedArrays: [],
        localArrays: [],
        pipelines: [],
        barriers: [],
        body: [],
      },
      sources: [createKernelSource(made.body, made.name)],
    }),
    target: handMadeTarget,
    ...settings,
  });
}
