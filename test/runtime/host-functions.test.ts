// Host functions on every device that is here.

import { describe } from 'vitest';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { promiseHostFunctions } from './host-functions.ts';

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  promiseHostFunctions({ open, kernels: true, cancelsAtOnce: true });
});
