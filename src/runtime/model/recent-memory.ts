// Which memory a cache still holds: what was touched, less than the cache's size of other memory ago. At first it holds
// what it is asked for, as a program has just made it or has used it in rounds before.

/** Bytes that are remembered together. */
const unit = 256 * 1024;

export class RecentMemory {
  readonly #size: number;
  /** Bytes touched so far. */
  #touched = 0;
  /** Of each unit of memory, how many bytes were touched when it was last. */
  readonly #last = new WeakMap<object, Map<number, number>>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Touches memory of something; what part of it, from 0 to 1, the cache held before. */
  touch(of: object, begin: number, bytes: number): number {
    if (this.#size === 0 || bytes === 0) return 0;
    const last = this.#last.get(of) ?? new Map<number, number>();
    this.#last.set(of, last);
    const now = this.#touched + bytes;
    const [first, end] = [Math.floor(begin / unit), Math.ceil((begin + bytes) / unit)];
    let held = 0;
    for (let at = first; at < end; ++at) {
      const before = last.get(at);
      if (now - (before ?? 0) <= this.#size) held += 1;
      last.set(at, now);
    }
    this.#touched = now;
    return held / (end - first);
  }
}
