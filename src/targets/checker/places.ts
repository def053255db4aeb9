// Places of a program as small numbers: what shadows remember.

import type { Range } from '../../diagnostics/source.ts';

export class Sites {
  readonly #numbers = new Map<Range, number>();
  readonly #byKey = new Map<string, number>();
  readonly #ranges: Range[] = [];

  /** The same number for the same place, also where several nodes of the program stand there. */
  of(range: Range): number {
    return this.#numbers.get(range) ?? this.#add(range);
  }

  range(site: number): Range {
    return this.#ranges[site]!;
  }

  #add(range: Range): number {
    const key = `${range.source}:${range.start}:${range.end}`;
    let number = this.#byKey.get(key);
    if (number === undefined) {
      number = this.#ranges.push(range) - 1;
      this.#byKey.set(key, number);
    }
    this.#numbers.set(range, number);
    return number;
  }
}
