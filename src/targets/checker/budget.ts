// Memory that the checker may take for what it remembers. When it is used up, checking stops and
// the verdict is `inconclusive`.

import { KernelFault } from '../interpreter/fault.ts';

/** Stops the kernel as the interpreter's own budget does. No place of the kernel is to blame. */
class BudgetExceeded extends KernelFault {
  constructor(limit: number) {
    super({
      kind: 'misuse',
      code: 'WS3007',
      message: `the checker needs more than its ${Math.floor(limit / 2 ** 20)} MiB of memory`,
      hint: 'check a smaller launch, or give it more by the option `memory`',
      range: { source: 0, start: 0, end: 0 },
      thread: [0, 0, 0],
      block: [0, 0, 0],
    });
  }
}

export class Budget {
  readonly #limit: number;
  readonly #whole: Budget | null;
  #used = 0;
  #peak = 0;

  constructor(limit: number, whole: Budget | null = null) {
    this.#limit = limit;
    this.#whole = whole;
  }

  /** A part that is given back at once. */
  part(): Budget {
    return new Budget(Number.POSITIVE_INFINITY, this);
  }

  take(bytes: number): void {
    this.#whole?.take(bytes);
    this.#used += bytes;
    this.#peak = Math.max(this.#peak, this.#used);
    if (this.#used <= this.#limit) return;
    throw new BudgetExceeded(this.#limit);
  }

  /** That much is there again; all that was taken, if nothing is said. */
  giveBack(bytes = this.#used): void {
    this.#whole?.giveBack(bytes);
    this.#used -= bytes;
  }

  /** The most bytes that were in use at once. */
  get peak(): number {
    return this.#peak;
  }
}
