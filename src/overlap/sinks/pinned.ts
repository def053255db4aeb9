// Page-locked arrays of the caller as outputs: the device copies straight into them, so that nothing
// is left to write.

import { count } from '../../diagnostics/count.ts';
import { problem } from '../../diagnostics/problem.ts';
import type { PinnedArray } from '../../runtime/device.ts';
import type { MemorySink } from './memory.ts';

/** An output whose chunks are where they belong as soon as they have left the device. */
export class PinnedSink implements MemorySink {
  readonly name: string;
  readonly #pinned: PinnedArray;
  #filled = 0;

  constructor(parameter: string, element: string, pinned: PinnedArray) {
    this.name = `the page-locked array given for '${parameter}'`;
    this.#pinned = pinned;
    if (pinned.element !== element) {
      throw problem('WS5006', `${this.name} holds ${pinned.element}, and the kernel writes ${element}`);
    }
  }

  /** Where the next chunk belongs; chunks come in their order. */
  part(begin: number, length: number): PinnedArray {
    if (begin + length > this.#pinned.length) {
      const hint = 'leave the output away to have an array made';
      const message = `${this.name} has ${count(this.#pinned.length)} elements, and the output has more`;
      throw problem('WS5006', message, hint);
    }
    this.#filled = Math.max(this.#filled, begin + length);
    return this.#pinned.subarray(begin, begin + length);
  }

  async write(): Promise<void> {}

  result() {
    return this.#pinned.subarray(0, this.#filled).array;
  }

  async finish(): Promise<void> {}
  publish(): void {}
  async abandon(): Promise<void> {}
}
