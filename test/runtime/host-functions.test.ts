// Host functions on every device that is here, virtual ones too.

import { describe } from 'vitest';
import { open } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { promiseHostFunctions } from './host-functions.ts';

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  promiseHostFunctions({ open, kernels: true });
});

describe.each(['c2050'] as const)('model:%s', (model) => {
  promiseHostFunctions({
    open: (options) => open(`model:${model}`, { kernelTime: () => 1, threads: 1, ...options }),
    kernels: true,
  });
});
