// The error of a GPU that stopped: a kernel's fault, from which a context does not recover, or a
// GPU that is gone.
//
// The driver says what happened and not where. Kernels that were in flight are named; where
// there was only one, with its place in the file.

import { type Issue, WarpstageError } from '../../diagnostics/error.ts';
import { locationOf } from '../../diagnostics/source.ts';
import type { Work } from '../command.ts';
import { kernelInWords, type LaunchWork } from '../launch.ts';

/** What may have led to it, by the driver's name of the error. */
const hints: readonly (readonly [RegExp, string])[] = [
  [
    /ILLEGAL_ADDRESS|MISALIGNED|INVALID_ADDRESS_SPACE|LAUNCH_FAILED|HARDWARE_STACK|INVALID_PC|ASSERT/,
    "start the process again, and run the kernel with open('cuda', { checked: true }), or `warpstage run --checked`: that tells the line, the thread and the index, and the GPU goes on",
  ],
  [
    /LAUNCH_TIMEOUT/,
    'let each launch do less, or take the display off this GPU; the GPU needs a new process',
  ],
];
const otherHint = 'look at the GPU with nvidia-smi, and start the process again';

/** `what` is the driver's name and sentence of the error, `flights` the launches that were not complete. */
export function lostError(what: string, launches: readonly LaunchWork[]): WarpstageError {
  const kernels = [...new Map(launches.map((work) => [work.name, work])).values()];
  const hint = hints.find(([pattern]) => pattern.test(what))?.[1] ?? otherHint;
  const [first] = kernels;
  const where =
    first === undefined
      ? ''
      : kernels.length === 1
        ? ` in ${kernelInWords(first.name)}`
        : ` in one of ${kernels.map(({ name }) => kernelInWords(name)).join(', ')}`;
  const issue: Issue = { code: 'WS4006', message: `the GPU stopped${where}: ${what}`, hint };
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
