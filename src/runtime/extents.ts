// Grids and blocks: what a launch may ask for.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Extent, Extent3 } from '../kernel/types.ts';
import { mostCooperativeThreads } from '../targets/grid.ts';
import type { DeviceProperties } from './device.ts';
import { kernelInWords } from './launch.ts';

/** Blocks are numbered in 32 bits. */
const blockLimit = 2 ** 31;

/** Whether all blocks of a grid lie along x. */
export function isFlat([, height, depth]: Extent3): boolean {
  return height === 1 && depth === 1;
}

/** Elements of an extent: threads of a block, blocks of a grid. */
export function threadsOf([x, y, z]: Extent3): number {
  return x * y * z;
}

function wrong(kernel: string, message: string, hint: string): WarpstageError {
  return new WarpstageError({
    code: 'WS2003',
    message: `launch of ${kernelInWords(kernel)}: ${message}`,
    hint,
  });
}

function check(
  kernel: string,
  what: 'grid' | 'block',
  extent: Extent,
  most: readonly [number, number, number],
): Extent3 {
  const given: readonly unknown[] = Array.isArray(extent) ? extent : [extent];
  const [x, y = 1, z = 1] = given as number[];
  const words = `(${given.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ')})`;
  if (given.length < 1 || given.length > 3 || ![x, y, z].every((size) => Number.isInteger(size))) {
    throw wrong(
      kernel,
      `the ${what} must be a whole number or one to three of them, and is ${words}`,
      `write for example ${what}: ${what === 'grid' ? 'Math.ceil(n / 256)' : '256'}, or [x, y, z]`,
    );
  }
  const full: Extent3 = [x!, y, z];
  if (full.some((size) => size < 1)) {
    throw wrong(kernel, `the ${what} is empty: ${words}`, `every extent of a ${what} is at least 1`);
  }
  if (full.some((size, axis) => size > most[axis]!)) {
    throw wrong(
      kernel,
      `the ${what} ${words} is larger than (${most.join(', ')})`,
      what === 'grid'
        ? 'let each thread do more, in a loop over the grid'
        : 'use smaller blocks and a larger grid',
    );
  }
  return full;
}

/** What limits a launch. */
export type LaunchLimits = Pick<DeviceProperties, 'maxThreadsPerBlock' | 'maxBlockDim' | 'maxGridDim'>;

/** The block of a launch, all extents given. Throws WS2003. */
export function checkBlock(
  { name: kernel, launchBounds: { maxThreads = Number.POSITIVE_INFINITY } = {} }: Kernel,
  block: Extent,
  properties: LaunchLimits,
): Extent3 {
  const full = check(kernel, 'block', block, properties.maxBlockDim);
  if (threadsOf(full) > maxThreads) {
    throw wrong(
      kernel,
      `the block (${full.join(', ')}) has ${threadsOf(full)} threads; its launch bounds allow ${maxThreads}`,
      `use smaller blocks and a larger grid, or give it launchBounds: { maxThreads: ${threadsOf(full)} }`,
    );
  }
  if (threadsOf(full) <= properties.maxThreadsPerBlock) return full;
  throw wrong(
    kernel,
    `the block (${full.join(', ')}) has ${threadsOf(full)} threads; the device runs at most ${properties.maxThreadsPerBlock}`,
    'use smaller blocks and a larger grid',
  );
}

/** The grid of a launch, all extents given. Throws WS2003. */
export function checkGrid(kernel: string, grid: Extent, properties: LaunchLimits): Extent3 {
  const full = check(kernel, 'grid', grid, properties.maxGridDim);
  if (threadsOf(full) < blockLimit) return full;
  throw wrong(
    kernel,
    `the grid (${full.join(', ')}) has ${threadsOf(full)} blocks; the device runs fewer than ${blockLimit}`,
    'let each thread do more, in a loop over the grid',
  );
}

/** Refuses the grid of a cooperative launch on a CPU that cannot be kept at once. Throws WS2006. */
export function checkResident(kernel: string, grid: Extent3, block: Extent3): void {
  const blocks = threadsOf(grid);
  const most = Math.floor(mostCooperativeThreads / threadsOf(block));
  if (blocks > most) throw gridTooLarge(kernel, blocks, threadsOf(block), most);
}

/** The error of a cooperative launch with more blocks than the device keeps at once. */
export function gridTooLarge(kernel: string, blocks: number, threads: number, most: number): WarpstageError {
  return new WarpstageError({
    code: 'WS2006',
    message: `launch of ${kernelInWords(kernel)}: a cooperative grid of ${blocks} blocks of ${threads} threads is larger than the ${most} that the device keeps at once`,
    hint: `launch at most ${most} blocks, and let each thread do more, in a loop over the grid`,
  });
}
