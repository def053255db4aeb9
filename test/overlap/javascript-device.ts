// A CPU device that runs the text of kernels as JavaScript: the real memory, streams and copies,
// with the plainest of all targets.

import type { Parameter } from '#warpstage/compiler/ir.js';
import { createKernelSource } from '#warpstage/diagnostics/source.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { CpuDevice } from '#warpstage/runtime/cpu/device.js';

export function openJavaScriptDevice({ memory = 256 * 1024 * 1024, threads = 1 } = {}): CpuDevice {
  return new CpuDevice({
    memory,
    threads,
    defaultStream: 'legacy',
    specialise: (kernel, { block, indexType, constants }) => ({
      program: {
        name: JSON.stringify({ text: kernel.body.toString(), constants }),
        block,
        indexType,
        parameters: parseSchema(kernel.schema).flatMap((parameter): Parameter[] => {
          if (parameter.kind === 'array') return [parameter];
          if (parameter.kind !== 'scalar') return [];
          const type = parameter.type === 'index' ? indexType : parameter.type;
          return [{ ...parameter, type }];
        }),
        variables: [],
        sharedArrays: [],
        localArrays: [],
        pipelines: [],
        body: [],
      },
      sources: [createKernelSource(kernel.body, kernel.name)],
    }),
    target: {
      compile: (program) => ({
        target: 'interpreter',
        program,
        scratchBytes: 0,
        delivery: 'eager',
        steps: 0,
      }),
      runners: { url: new URL('./javascript-runner.mjs', import.meta.url).href, name: 'createRunner' },
      parallel: false,
    },
  });
}
