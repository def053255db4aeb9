// The block size with which a device runs most threads of a kernel at once.
//
// Sizes are tried from the nearest to 256 outwards, and the first with the highest occupancy is taken: a larger block that
// fits no more threads only waits longer at its barriers. Code is made for each size that is tried, so the search ends at the
// first that fills a multiprocessor. A size that the kernel or the device refuses is passed over.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel, LaunchArguments, Schema } from '../kernel/kernel.ts';
import type { Device } from './device.ts';
import { kernelInWords } from './launch.ts';
import type { Occupancy } from './occupancy.ts';

/** A shape of launches, and what they take of the device. */
export interface BlockSize {
  /** Threads of a block. */
  readonly block: number;
  /** `occupancy.residentBlocks`: as many as run at the same time. */
  readonly grid: number;
  readonly occupancy: Occupancy;
}

export interface BlockSizeOptions {
  /** Threads of a block, at most. Default: what the device allows, and the kernel's `launchBounds`. */
  readonly maxThreads?: number;
  /** The launch is to be cooperative. Default false. */
  readonly cooperative?: boolean;
}

const sizes = [256, 128, 512, 384, 192, 64, 768, 1024, 32];

/** The best size of a block; throws what `occupancy` does where no size will do. */
export function proposedBlockSize<S extends Schema>(
  device: Pick<Device, 'occupancy'>,
  kernel: Kernel<S>,
  args: LaunchArguments<S>,
  { maxThreads, cooperative = false }: BlockSizeOptions,
): BlockSize {
  if (maxThreads !== undefined && !(Number.isInteger(maxThreads) && maxThreads >= 1))
    throw new WarpstageError({
      code: 'WS4007',
      message: `proposeBlock: maxThreads must be a positive integer, and is ${String(maxThreads)}`,
      hint: '{ maxThreads: 256 }',
    });
  const allowed = sizes.filter((size) => size <= (maxThreads ?? size));
  let best: BlockSize | null = null;
  let refusal: WarpstageError | null = null;
  for (const block of allowed.length > 0 ? allowed : [maxThreads!]) {
    try {
      const occupancy = device.occupancy(kernel, { grid: 1, block, cooperative }, args);
      if (occupancy.blocksPerMultiprocessor === 0) continue;
      if (best === null || occupancy.occupancy > best.occupancy.occupancy)
        best = { block, grid: occupancy.residentBlocks, occupancy };
    } catch (error) {
      if (!(error instanceof WarpstageError)) throw error;
      refusal ??= error;
    }
    if (best?.occupancy.occupancy === 1) break;
  }
  if (best !== null) return best;
  throw (
    refusal ??
    new WarpstageError({
      code: 'WS2003',
      message: `no block of ${kernelInWords(kernel.name)} fits a multiprocessor`,
    })
  );
}
