// The pause between two questions to the server. A message on a subject ends it, so that nobody waits for what is there.
// Such a message may be lost, or come before the server can answer with what it says: so the next questions follow soon
// after one, and then more and more seldom.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@nats-io/transport-node';
import type { Connection } from './connection.ts';

export class Pause implements Disposable {
  readonly #subscription: Subscription;
  readonly #milliseconds: { readonly least: number; readonly most: number };
  #next: number;
  #isHeard = false;
  #end: AbortController | undefined;

  constructor(
    connection: Connection,
    subject: string,
    milliseconds: { readonly least: number; readonly most: number },
  ) {
    this.#milliseconds = milliseconds;
    this.#next = milliseconds.least;
    this.#subscription = connection.listen(subject, () => {
      this.#isHeard = true;
      this.#end?.abort();
    });
  }

  /** Waits, or not where there was a message since the last time. Returns at once when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#isHeard) {
      this.#end = new AbortController();
      const ended = AbortSignal.any([signal, this.#end.signal]);
      await sleep(this.#next, undefined, { signal: ended }).catch(() => {});
      this.#next = Math.min(2 * this.#next, this.#milliseconds.most);
    }
    if (this.#isHeard) this.#next = this.#milliseconds.least;
    this.#isHeard = false;
  }

  [Symbol.dispose](): void {
    this.#subscription.unsubscribe();
  }
}
