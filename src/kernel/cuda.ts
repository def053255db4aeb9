// The intrinsics as TypeScript sees them: the type of a kernel's second parameter.

import type { KernelArray } from './schema.ts';
import type { ElementType, ScalarType } from './types.ts';

export interface Cuda {
  thisThreadBlock(): { threadRank(): number; size(): number; sync(): void };
  sharedArray(element: ElementType, count: number): KernelArray;
  readonly [name: string]: unknown;
}
export type { ScalarType };
