// What random kernels are given.

import { hostArrays } from '#warpstage/kernel/types.js';
import type { HostArray } from '../support/run-program.ts';
import {
  kernelCounterLength,
  kernelInputLength,
  kernelOwnElements,
  type RandomKernel,
} from './random-kernel.ts';
import { kernelElements } from './random-text.ts';

/** Arguments for a random kernel, in the order of its schema or not. */
export function kernelArguments({ grid, block }: RandomKernel): Record<string, HostArray | number | boolean> {
  const arrays: Record<string, HostArray> = {};
  for (const element of kernelElements) {
    const values = Array.from({ length: kernelInputLength }, (_, i) =>
      element.startsWith('f') ? (i * 37 - 4000) / 8 : (i * 2_654_435_761) | 0,
    );
    arrays[`in_${element}`] = new hostArrays[element](values);
    arrays[`out_${element}`] = new hostArrays[element](grid * block * kernelOwnElements);
  }
  const scalars = { scalar_i32: -7, scalar_u32: 4_000_000_000, scalar_f32: Math.fround(0.7) };
  return {
    count: 3,
    ...scalars,
    scalar_f64: -1e9 / 7,
    scalar_bool: true,
    ...arrays,
    counters: new Uint32Array(kernelCounterLength),
  };
}
