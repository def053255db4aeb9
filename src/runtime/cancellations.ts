// Abort signals: one listener a signal, however many launches it is to cancel. (Node warns of
// a leak where one signal has more than ten.)

export class Cancellations {
  readonly #listening = new Map<AbortSignal, Set<() => void>>();

  /** Calls back when the signal is aborted. Returns how to call that off. */
  add(signal: AbortSignal, cancel: () => void): () => void {
    const cancels = this.#listening.get(signal) ?? this.#listen(signal);
    cancels.add(cancel);
    return () => {
      if (cancels.delete(cancel) && cancels.size === 0) this.#stop(signal);
    };
  }

  #listen(signal: AbortSignal): Set<() => void> {
    const cancels = new Set<() => void>();
    this.#listening.set(signal, cancels);
    signal.addEventListener('abort', this.#abort, { once: true });
    return cancels;
  }

  #stop(signal: AbortSignal): void {
    this.#listening.delete(signal);
    signal.removeEventListener('abort', this.#abort);
  }

  readonly #abort = ({ target }: globalThis.Event): void => {
    const signal = target as AbortSignal;
    const cancels = this.#listening.get(signal);
    this.#listening.delete(signal);
    // Latest first: what waits is dropped before what runs is stopped.
    for (const cancel of [...(cancels ?? [])].reverse()) cancel();
  };
}
