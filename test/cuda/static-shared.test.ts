// What the tests of a checked kernel leave of a block's shared memory is what its device says.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { checkSharedBytes } from '#warpstage/targets/cuda/prelude-checks.js';
import { hasNvcc, staticSharedOf } from '../support/nvcc.ts';

const ends = kernel({ out: 'i32[]', room: 'index' }, ({ out, room }, cuda) => {
  const shared = cuda.sharedArray('u8', room);
  shared[cuda.threadIdx.x] = 1;
  cuda.syncthreads();
  out[0] = shared[room - 1]!;
});

describe.skipIf(!hasNvcc)('by ptxas, the code of a kernel', () => {
  test.each([
    ['that tests nothing', false, 0],
    ['that is checked', true, checkSharedBytes],
  ])('%s takes as much shared memory as its device leaves out', async (_, checked, bytes) => {
    const { program } = specialise(ends as never, {
      block: [32, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    expect(await staticSharedOf(cudaText(program, 90, null, checked), '90')).toBe(bytes);
  });
});
