// expectClean(): a check as an assertion, for any test runner.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel, Schema } from '../kernel/kernel.ts';
import { check } from './check.ts';
import type { CheckLaunch } from './launch.ts';
import type { CheckOptions } from './options.ts';

/**
 * Throws unless a check is clean. The error's message has all findings with their code frames.
 *
 * @example
 * test('scale is clean', () => {
 *   expectClean(scale, { grid: 4, block: 64, arguments: { y: new Float32Array(256), a: 2 } });
 * });
 *
 * @throws WarpstageError with an issue for each finding, and for each budget that was used up
 */
export function expectClean<const S extends Schema>(
  kernel: Kernel<S>,
  launch: CheckLaunch<S>,
  options: CheckOptions = {},
): void {
  const { verdict, findings, inconclusive } = check(kernel, launch, options);
  if (verdict === 'clean') return;
  const errors = findings.filter(({ severity }) => severity === 'error');
  throw new WarpstageError([...errors, ...inconclusive], { caller: expectClean });
}
