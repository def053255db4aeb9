// Work that is done by one at a time, in the order of its numbers.

/** Lets numbers 0, 1, 2, … work one after the other, in whichever order they come. */
export class Turns {
  #next = 0;
  #stopped: { readonly reason: unknown } | undefined;
  readonly #waiting = new Map<number, { resolve: () => void; reject: (reason: unknown) => void }>();

  /** Runs `work` when everything with a lower number has run. */
  async run<T>(position: number, work: () => Promise<T>): Promise<T> {
    await this.reached(position);
    const result = await work();
    this.#next++;
    this.#waiting.get(this.#next)?.resolve();
    this.#waiting.delete(this.#next);
    return result;
  }

  /** Waits until everything with a lower number has run. Only for who has this number. */
  async reached(position: number): Promise<void> {
    if (this.#stopped === undefined && position !== this.#next) {
      await new Promise<void>((resolve, reject) => this.#waiting.set(position, { resolve, reject }));
    }
    if (this.#stopped !== undefined) throw this.#stopped.reason;
  }

  /** Nobody gets a turn any more: those who wait, and those who still come, fail. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
