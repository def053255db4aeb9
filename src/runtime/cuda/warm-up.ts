// The compilers are warmed up while the driver makes a context: JavaScript that runs for the first time is ten
// times as slow, and NVRTC's first compilation in a process takes twice as long. Nothing of a warm-up
// stays, and what is missing for it is reported when a kernel is launched that needs it.

import { specialise } from '../../compiler/specialise.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { deviceFunction, kernel } from '../../kernel/kernel.ts';
import { compileCuda } from '../../targets/cuda/compile.ts';
import { CodeCache } from './code-cache.ts';
import { isCompilerKnown } from './compiler.ts';
import { openNvrtc } from './nvrtc.ts';

let isWarm = false;

const triple = deviceFunction({ x: 'f32' }, ({ x }) => x * 3);

/** Has a little of all that kernels have. */
const warmUpKernel = kernel(
  { y: 'f32[]', x: 'readonly f32[]', a: 'f32', count: 'index', stages: 'constant index = 2', triple },
  ({ y, x, a, count, stages, triple }, cuda) => {
    const block = cuda.thisThreadBlock();
    const i = cuda.thisGrid().threadRank();
    const shared = cuda.sharedArray('f32', stages * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stages));
    for (let used = 0, fetched = 0; used < count; ++used) {
      for (; fetched < count && fetched < used + stages; ++fetched) {
        pipeline.producerAcquire();
        const stage = shared.subarray((fetched % stages) * block.size());
        cuda.memcpyAsync(block, stage, x.subarray(fetched * block.size()), block.size(), pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      if (i < y.length)
        y[i] = triple({ x: a * shared[(used % stages) * block.size() + block.threadRank()]! });
      pipeline.consumerRelease();
    }
  },
  { name: 'warmUp' },
);

/** Compiles next to nothing, once in a process. */
export function warmUp(architecture: number): void {
  if (isWarm) return;
  isWarm = true;
  const cache = new CodeCache();
  const specialisation = { block: [256, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;
  compileCuda(specialise(warmUpKernel, specialisation), [16, 16], {
    architecture,
    compile: (text, _, options) => {
      cache.find({ text, options }, 'cubin', null);
      return new Uint8Array();
    },
  });
  // Where it is known without opening it, what is to be run is likely in the cache.
  if (isCompilerKnown()) return;
  try {
    void openNvrtc().warmUp(architecture);
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
  }
}
