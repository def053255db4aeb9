// A launch, bound: a kernel with everything that running it needs, independent of the device.

import type { Value } from '../compiler/arithmetic.ts';
import type { KernelSource } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import type { Executable } from '../targets/executable.ts';
import type { Allocation, DeviceMemoryArray } from './arrays.ts';
import type { PieceRange } from './cpu/file-pieces.ts';

/** Where an array of the device lies. */
export interface ArrayPlace {
  readonly address: number;
  readonly length: number;
}

/** A shared array's place in the arena. */
export interface SharedPlace {
  readonly offset: number;
  readonly length: number;
}

export interface LaunchWork {
  readonly kind: 'launch';
  readonly name: string;
  /** See `Specialised`. */
  readonly assignedName?: (() => string | null) | undefined;
  readonly sources: readonly KernelSource[];
  readonly executable: Executable;
  readonly grid: Extent3;
  /** In the order of the program's parameters. */
  readonly values: readonly (DeviceMemoryArray | Value)[];
  readonly shared: readonly SharedPlace[];
  /** Bytes of shared memory of a block. */
  readonly sharedBytes: number;
  readonly allocations: readonly Allocation[];
  /** All blocks are resident at once. */
  readonly cooperative: boolean;
  readonly signal: AbortSignal | null;
  /** What carries it out, in words. */
  readonly ranOn: string;
  /** The pieces of files that it runs over, on a CPU device; the grid is that of a piece. */
  readonly files?: PieceRange;
  /** The launch that this one repeats with other scalars and arrays, if it was taken over from one. */
  readonly variantOf: LaunchWork | null;
}

/** What a timeline calls a kernel: where it has no name of its own, that of the variable that it is kept in. */
export function shownName({ name, assignedName }: LaunchWork): string {
  return name === 'kernel' ? (assignedName?.() ?? name) : name;
}

/** A kernel in a message. One that was made of a function without a name has none to tell. */
export function kernelInWords(name: string): string {
  return name === 'kernel' ? 'the kernel' : `kernel \`${name}\``;
}
