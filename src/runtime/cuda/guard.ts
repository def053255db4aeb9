// Calls of the driver, and what they are worth once the GPU has stopped: after an error of the device nothing in its context
// can be used any more, every command fails, and each later call throws the error that says so.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Context } from './context.ts';
import type { Driver } from './driver.ts';
import { lostError } from './lost.ts';

/** What was in flight when the GPU stopped. */
export interface Abandoned {
  readonly launches: Parameters<typeof lostError>[2];
  /** Fails all of it, and what was still to come. */
  fail(error: WarpstageError): void;
}

export class Guard {
  readonly #driver: Driver;
  readonly #context: Context;
  readonly #abandon: () => Abandoned;
  #lost: WarpstageError | null = null;

  /** `abandon` is called when the GPU has stopped: it takes back what is in flight. */
  constructor(driver: Driver, context: Context, abandon: () => Abandoned) {
    this.#driver = driver;
    this.#context = context;
    this.#abandon = abandon;
  }

  /** Why nothing can be done any more, if so. */
  get lost(): WarpstageError | null {
    return this.#lost;
  }

  /** Calls; if the GPU stopped, everything fails and so does this. */
  call<T>(act: () => T): T {
    if (this.#lost !== null) throw this.#lost;
    this.#context.use();
    try {
      return act();
    } catch (error) {
      throw this.blame(error);
    }
  }

  /** Calls, where a GPU that has stopped is nothing new: a wait for its commands throws. */
  attempt(act: () => void): void {
    try {
      this.call(act);
    } catch {
      // Reported already, or reported when the next call fails.
    }
  }

  /** What a call that failed is to throw: whether by itself or because nothing works any more, the context knows. */
  blame(error: unknown): unknown {
    const result = this.#driver.cuStreamQuery(0);
    if (this.#driver.isFatal(result)) this.lose(result);
    return this.#lost ?? error;
  }

  check(result: number): void {
    if (result !== 0) this.lose(result);
    if (this.#lost !== null) throw this.#lost;
  }

  /** The device gave that error. */
  lose(result: number): void {
    const { launches, fail } = this.#abandon();
    this.#lost = lostError(this.#driver, result, launches);
    this.#context.lose();
    fail(this.#lost);
  }
}
