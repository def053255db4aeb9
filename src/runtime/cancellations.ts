// Cancelled launches, and the abort signals that cancel them: one listener a signal, however many launches it is to
// cancel. (Node warns of a leak where one signal has more than ten.)
//
// What one abort cancels of one kernel is one failure: a stream of launches that are all cancelled is reported once.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Work } from './command.ts';
import { kernelInWords, type LaunchWork } from './launch.ts';

interface Cancellation {
  readonly work: LaunchWork;
  readonly cancel: (failure: WarpstageError) => void;
}

/** The error of a launch that was cancelled. */
export function cancelled({ name }: LaunchWork, { reason }: AbortSignal): WarpstageError {
  const why = reason instanceof Error && reason.name !== 'AbortError' ? `: ${reason.message}` : '';
  return new WarpstageError(
    { code: 'WS3004', message: `${kernelInWords(name)} was cancelled${why}` },
    { cause: reason },
  );
}

/** The error of a launch whose signal was aborted, if it was. */
export function aborted(work: Work): WarpstageError | null {
  return work.kind === 'launch' && work.signal?.aborted ? cancelled(work, work.signal) : null;
}

export class Cancellations {
  readonly #listening = new Map<AbortSignal, Set<Cancellation>>();

  /** Calls back when the signal of a launch is aborted, with the failure. Returns how to call that off. */
  add(work: LaunchWork, signal: AbortSignal, cancel: Cancellation['cancel']): () => void {
    const cancellations = this.#listening.get(signal) ?? this.#listen(signal);
    const own = { work, cancel };
    cancellations.add(own);
    return () => {
      if (cancellations.delete(own) && cancellations.size === 0) this.#stop(signal);
    };
  }

  #listen(signal: AbortSignal): Set<Cancellation> {
    const cancellations = new Set<Cancellation>();
    this.#listening.set(signal, cancellations);
    signal.addEventListener('abort', this.#abort, { once: true });
    return cancellations;
  }

  #stop(signal: AbortSignal): void {
    this.#listening.delete(signal);
    signal.removeEventListener('abort', this.#abort);
  }

  readonly #abort = ({ target }: globalThis.Event): void => {
    const signal = target as AbortSignal;
    const cancellations = this.#listening.get(signal);
    this.#listening.delete(signal);
    const failures = new Map<string, WarpstageError>();
    // Latest first: what waits is dropped before what runs is stopped.
    for (const { work, cancel } of [...(cancellations ?? [])].reverse()) {
      const failure = failures.get(work.name) ?? cancelled(work, signal);
      failures.set(work.name, failure);
      cancel(failure);
    }
  };
}
