// The beginning of a source: its first elements, and then its end.

import type { Source } from '../formats/source.ts';
import type { TypedArray } from './job.ts';

export class Head implements Pick<Source, 'read' | 'skip'> {
  readonly #whole: Source;
  #left: number;

  constructor(whole: Source, elements: number) {
    this.#whole = whole;
    this.#left = elements;
  }

  async read(into: TypedArray): Promise<number> {
    const wanted = into.subarray(0, Math.min(into.length, this.#left)) as TypedArray;
    if (wanted.length === 0) return 0;
    const elements = await this.#whole.read(wanted);
    this.#left -= elements;
    return elements;
  }

  async skip(elements: number): Promise<number> {
    const skipped = await this.#whole.skip!(elements);
    this.#left -= skipped;
    return skipped;
  }
}
