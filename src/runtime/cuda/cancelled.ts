// The errors of launches whose signal was aborted.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Work } from '../command.ts';

/** The error of a launch whose signal was aborted before it was known to be complete. */
export function aborted(work: Work): WarpstageError | null {
  return work.kind === 'launch' && work.signal?.aborted ? cancelled(work, work.signal) : null;
}

/** The error of a launch that was cancelled. */
export function cancelled(work: Work, { reason }: AbortSignal): WarpstageError {
  const why = reason instanceof Error && reason.name !== 'AbortError' ? `: ${reason.message}` : '';
  const name = work.kind === 'launch' ? work.name : work.kind;
  return new WarpstageError(
    { code: 'WS3004', message: `kernel \`${name}\` was cancelled${why}` },
    { cause: reason },
  );
}
