// A small seeded generator (a counter whose value is mixed): the same seed and block give the
// same schedule and delivery, on whichever worker the block runs.

/** Pseudorandom numbers of a seed and a stream number. */
export class Random {
  #state: number;

  constructor(seed: number, stream: number) {
    this.#state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
  }

  /** An integer from 0 to `end` (exclusive). */
  below(end: number): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return Math.floor((((z ^ (z >>> 15)) >>> 0) / 2 ** 32) * end);
  }

  /** True once in `n` times. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  /** Puts the elements of an array in a random order. */
  shuffle<T>(array: T[]): void {
    for (let i = array.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1);
      [array[i], array[j]] = [array[j]!, array[i]!];
    }
  }
}
