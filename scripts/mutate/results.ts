// What is known of mutants and of the tests without them, a line each: a sweep that was stopped starts from there.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `caught` by a test; `survived` all of its tests; `equivalent`: it survived, as it must; `undecided`: it survived
 * those of its tests that pass on this machine.
 */
export type Verdict = 'caught' | 'survived' | 'equivalent' | 'undecided';

export interface Result {
  readonly key: string;
  readonly name: string;
  readonly room: string;
  readonly verdict: Verdict;
  /** What caught it, or why it is equivalent. */
  readonly detail: string;
  readonly seconds: number;
}

/** Lines of one file, found by their keys. */
export class Ledger<Line extends { readonly key: string }> {
  readonly #path: string;
  readonly #lines = new Map<string, Line>();

  constructor(folder: string, name: string) {
    mkdirSync(folder, { recursive: true });
    this.#path = join(folder, `${name}.jsonl`);
    if (!existsSync(this.#path)) return;
    for (const text of readFileSync(this.#path, 'utf8').split('\n')) {
      // The last line of a sweep that was killed may be half a line.
      if (!text.endsWith('}')) continue;
      const line = JSON.parse(text) as Line;
      this.#lines.set(line.key, line);
    }
  }

  get(key: string): Line | undefined {
    return this.#lines.get(key);
  }

  add(line: Line): void {
    this.#lines.set(line.key, line);
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}
