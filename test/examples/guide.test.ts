// The guide's kernels against plain JavaScript: many sizes, blocks, stages and element types, on
// the interpreter under every delivery and on WebAssembly.

import { describe, expect, test } from 'vitest';
import { deviceFunction, type Kernel } from 'warpstage';
import { hostArrays } from '#warpstage/kernel/types.js';
import { pipelinedPair, pipelinedRoles, pipelinedStaging } from '../../examples/guide/pipelined.ts';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { twoArrays } from '../../examples/guide/two-arrays.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { retyped, runKernel } from '../support/run-kernel.ts';
import type { NumberArray, PlainElement, Target } from '../support/run-program.ts';
import { atLength, someOf } from '../support/thorough.ts';
import { wasm, wasmStates, wasmWithStages } from '../support/wasm.ts';

const deliveries = [interpreter('eager'), interpreter('late'), interpreter(1)];
const [eager, ...interpreters] = deliveries;
const targets = [...(atLength ? [eager!] : []), ...interpreters, wasm, ...cudaTargets];
const allTargets = [...targets, wasmStates, wasmWithStages];
const grid = 2;
/** What `npm test` looks at it does with every target but the eager one. */
const some = <T>(target: Target, all: readonly T[], isInPart: (one: T) => boolean): readonly T[] =>
  target === eager ? all : someOf(all, isInPart);
const blocksOf = (target: Target) => some(target, [1, 32, 96, 256, 1024], (block) => [1, 96].includes(block));
const stagesOf = (target: Target) =>
  some(target, [1, 2, 3, 4, 5, 6, 7, 8], (count) => [1, 2, 8].includes(count));
const elementsOf = (target: Target) =>
  some(target, ['u32', 'f32', 'f64', 'u8', 'i16'] as const, (element) => ['f32', 'u8'].includes(element));

const staging: readonly { kernel: Kernel; staged: boolean }[] = [
  { kernel: withSingleStage as Kernel, staged: false },
  { kernel: withStaging as Kernel, staged: false },
  { kernel: withStagingUnified as Kernel, staged: true },
  { kernel: withStagingScopeThread as Kernel, staged: true },
  { kernel: pipelinedStaging as Kernel, staged: true },
];

/** Reads the element of the thread on the other end of the block, so that a missing wait shows. */
const mirrored = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
  const block = cuda.thisThreadBlock();
  out[block.threadRank()] = staged[block.size() - 1 - block.threadRank()]! * 3 + 1;
});

function counting(element: PlainElement, length: number): NumberArray {
  return new hostArrays[element](Array.from({ length }, (_, i) => (i * 7 + 3) % 50));
}

sayWithoutGpu();

describe.each(allTargets)('$name', (target) => {
  describe.each(staging)('$kernel.name', ({ kernel, staged }) => {
    const run = (block: number, batchCount: number, stagesCount: number, element: PlainElement) => {
      const n = grid * block * batchCount;
      const globalIn = counting(element, n);
      const globalOut = new hostArrays[element](n);
      const compute = retyped(mirrored, element);
      const result = runKernel(target, retyped(kernel, element), {
        grid,
        block,
        arguments: { globalOut, globalIn, batchCount, compute, ...(staged ? { stagesCount } : {}) },
      });
      expect(result.fault).toBeNull();
      // The fast way of WebAssembly really ran.
      if (target === wasm) expect(result.executable).toMatchObject({ mode: 'regions' });
      if (target === wasmStates) expect(result.executable).toMatchObject({ mode: 'states' });
      const partner = (i: number) => i - (i % block) + block - 1 - (i % block);
      expect(globalOut).toEqual(globalIn.map((_, i) => globalIn[partner(i)]! * 3 + 1));
    };

    test.each(blocksOf(target))('blocks of %i threads', (block) => {
      for (const batchCount of [0, 1, 3]) run(block, batchCount, 2, 'i32');
    });

    test.each(stagesOf(target))('%i stages', (stagesCount) => {
      for (const batchCount of [1, 5, 19]) run(32, batchCount, stagesCount, 'i32');
    });

    test.each(elementsOf(target))('elements of %s', (element) => {
      run(96, 5, 3, element);
    });
  });

  describe.each([twoArrays, pipelinedPair])('$name', (pair) => {
    test.each(blocksOf(target))('blocks of %i threads', (block) => {
      for (const subsetCount of [0, 1, 2, 7]) {
        const n = block * subsetCount;
        const global0 = counting('i32', n);
        const global1 = global0.map((x) => x * x);
        const globalOut = new Int32Array(n);
        const { fault } = runKernel(target, pair as Kernel, {
          grid: 1,
          block,
          arguments: { globalOut, global0, global1, subsetCount },
        });
        expect(fault).toBeNull();
        expect(globalOut).toEqual(global0.map((x, i) => x + 2 * global1[i]!));
      }
    });
  });
});

test.each(staging)('$kernel.name as it is: four lanes at a time', ({ kernel }) => {
  for (const element of ['i32', 'u32', 'f32'] as const) {
    const globalIn = counting(element, grid * 256 * 5);
    const globalOut = globalIn.map(() => 0);
    const { fault, executable } = runKernel(wasm, retyped(kernel, element), {
      grid,
      block: 256,
      arguments: { globalOut, globalIn, batchCount: 5 },
    });
    expect(fault).toBeNull();
    expect(executable).toMatchObject({ mode: 'regions', vectorised: true });
    expect(globalOut).toEqual(globalIn.map((x) => x * 3 + 1));
  }
});

const partings = targets.flatMap((target) =>
  [withSpecializedStaging, pipelinedRoles].map((parted) => ({ target, kernel: parted as Kernel })),
);

describe.each(partings)('$target.name: $kernel.name', ({ target, kernel }) => {
  const run = (block: number, batchCount: number, stagesCount: number, element: PlainElement = 'i32') => {
    const n = grid * (block / 2) * batchCount;
    const globalIn = counting(element, n);
    const globalOut = new hostArrays[element](n);
    const { fault, executable } = runKernel(target, retyped(kernel, element), {
      grid,
      block,
      arguments: { globalOut, globalIn, batchCount, stagesCount },
    });
    expect(fault).toBeNull();
    if (executable.target === 'wasm')
      expect(executable.mode).toBe(target.name === 'wasm' ? 'regions' : 'states');
    expect(globalOut).toEqual(globalIn.map((x) => x * 3 + 1));
  };

  test.each(some(target, [2, 32, 96, 256, 1024], (block) => [2, 96].includes(block)))(
    'blocks of %i threads',
    (block) => {
      for (const batchCount of [0, 1, 3]) run(block, batchCount, 2);
    },
  );

  test.each(stagesOf(target))('%i stages', (stagesCount) => {
    for (const batchCount of [1, 5, 19]) run(32, batchCount, stagesCount);
  });

  test.each(elementsOf(target))('elements of %s', (element) => {
    run(96, 5, 3, element);
  });
});
