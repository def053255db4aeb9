// Memory that the checker may take for what it remembers. When it is used up, checking stops and
// the verdict is `inconclusive`.

/** Thrown where the checker cannot go on. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
  /** In words, for the report. */
  readonly what: string;

  constructor(what: string) {
    super(what);
    this.what = what;
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
    throw new BudgetExceeded(
      `the checker needs more than its ${Math.floor(this.#limit / 2 ** 20)} MiB of memory`,
    );
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
