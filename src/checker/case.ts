// A launch that is worth checking, declared beside its kernel: what `warpstage check` runs.

import type { Kernel, Schema } from '../kernel/kernel.ts';
import type { CheckLaunch } from './launch.ts';
import type { CheckOptions } from './options.ts';

/** A kernel with a launch to be checked. Made by `checkCase()`. */
export interface CheckCase {
  readonly kind: 'check-case';
  readonly kernel: Kernel;
  readonly launch: CheckLaunch<never>;
  /** What this case asks of the checker by itself. */
  readonly options: CheckOptions;
}

/**
 * Declares a launch for `warpstage check`. A small one is best: a few blocks, a few batches, a size that is
 * no multiple of anything.
 *
 * @example
 * export const checks = [
 *   checkCase(scale, { grid: 4, block: 64, arguments: { y: { length: 250 }, a: 2 } }),
 * ];
 */
export function checkCase<const S extends Schema>(
  kernel: Kernel<S>,
  launch: CheckLaunch<S>,
  options: CheckOptions = {},
): CheckCase {
  return Object.freeze({
    kind: 'check-case',
    kernel: kernel as Kernel,
    launch: launch as unknown as CheckLaunch<never>,
    options,
  });
}
