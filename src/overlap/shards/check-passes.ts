// Which sequences can be dealt in pieces, pass by pass: before the first pass is computed, so that what a later one would be
// refused for is known then.

import { WarpstageError } from '../../diagnostics/error.ts';
import { checkCombinable } from '../accumulate.ts';
import type { Job } from '../job.ts';
import type { OutputData } from '../options.ts';
import { checkSharded } from './cut.ts';
import { isReduction } from './reductions.ts';

/**
 * Refuses passes of which no pieces can be put together. `outputs`: where those of the last pass go.
 *
 * @throws WarpstageError WS5007 that names the pass, WS5006 where an output goes to no file
 */
export function checkPasses(jobs: readonly Job[], outputs: readonly OutputData[]): void {
  for (const [position, { name, definition }] of jobs.entries()) {
    try {
      if (isReduction(definition)) checkCombinable(definition, 'pieces');
      else checkSharded(definition, outputs);
    } catch (error) {
      if (!(error instanceof WarpstageError)) throw error;
      const [first, ...others] = error.issues;
      const message = `pass ${position + 1} of the sequence, '${name}': ${first!.message}`;
      throw new WarpstageError([{ ...first!, message }, ...others], { cause: error.cause });
    }
  }
}
