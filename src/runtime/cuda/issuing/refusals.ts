// Failures of calls that the issuing thread made, which the program has gone on from: each fails the command whose call
// it was. Where that was not a command's own call, or none succeeds after it, the GPU is lost with it: what comes
// behind has no order any more.

import type { WarpstageError } from '../../../diagnostics/error.ts';
import type { Work } from '../../command.ts';
import type { Driver } from '../driver.ts';
import type { Flight } from '../driver-stream.ts';
import { type IssuingFailure, issuedKinds } from './issuing-thread.ts';

/** Notes why commands are refused, of all that are under way. Returns the error that the GPU is lost with, or null. */
export function noteRefusals(
  failures: readonly IssuingFailure[],
  flights: readonly Flight[],
  { isFatal }: Pick<Driver, 'isFatal'>,
  refusal: (work: Work, result: number) => WarpstageError | null,
): number | null {
  for (const { position, kind, result } of failures) {
    const flight = flights.find((one) => one.firstCall <= position && position < one.endOfCalls);
    // Others may wait for a recording that a command needed.
    const isShared = kind === issuedKinds.record;
    if (flight === undefined || isShared || isFatal(result)) return result;
    flight.refused ??= refusal(flight.work, result);
  }
  return null;
}
