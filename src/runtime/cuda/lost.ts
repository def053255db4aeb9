// The error of a GPU that stopped: a kernel's fault, from which a context does not recover, or a
// GPU that is gone.
//
// The driver says what happened and not where. Kernels that were in flight are named; where
// there was only one, with its place in the file.

import { type Issue, WarpstageError } from '../../diagnostics/error.ts';
import { locationOf } from '../../diagnostics/source.ts';
import type { Work } from '../command.ts';
import { kernelInWords, type LaunchWork } from '../launch.ts';
import type { Driver } from './driver.ts';
import { hintOf } from './driver-errors.ts';

/** `result` is what the driver answered, `launches` those that were not complete. */
export function lostError(
  driver: Pick<Driver, 'describe'>,
  result: number,
  launches: readonly LaunchWork[],
): WarpstageError {
  const kernels = [...new Map(launches.map((work) => [work.name, work])).values()];
  const [first] = kernels;
  const where =
    first === undefined
      ? ''
      : kernels.length === 1
        ? ` in ${kernelInWords(first.name)}`
        : ` in one of ${kernels.map(({ name }) => kernelInWords(name)).join(', ')}`;
  const issue: Issue = {
    code: 'WS4006',
    message: `the GPU stopped${where}: ${driver.describe(result)}`,
    hint: hintOf(result),
  };
  if (first === undefined || kernels.length > 1 || first.sources.length === 0)
    return new WarpstageError(issue);
  const location = locationOf(first.sources, { source: 0, start: 0, end: first.sources[0]!.text.length });
  return new WarpstageError({ ...issue, location });
}

/** The launches that a piece of work is made of. */
export function launchesOf(work: Work): readonly LaunchWork[] {
  if (work.kind === 'launch') return [work];
  return work.kind === 'graph' ? work.nodes.flatMap((node) => launchesOf(node.work)) : [];
}
