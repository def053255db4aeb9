// Whether this machine has a GPU that tests can run on.

import { gpuCount } from '#warpstage/runtime/cuda/gpu.js';

/** How many GPUs there are; 0 without a driver. */
export const gpus: number = (() => {
  try {
    return gpuCount();
  } catch {
    return 0;
  }
})();
