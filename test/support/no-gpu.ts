// What a test file says where there is no GPU, so that what was not run can be seen.

import { describe, test } from 'vitest';
import { gpus } from './gpu.ts';

/** Declares, without a GPU, a suite that is skipped. */
export function sayWithoutGpu(): void {
  describe.skipIf(gpus > 0)('cuda: no GPU here', () => {
    test.skipIf(gpus === 0)('these tests run on an NVIDIA GPU too', () => {});
  });
}
