// What a run of tests is at: for each test file the test that began or ended last, and when.
//
// What is told of a file's last tests may come after it was told that the file ended: that says nothing of it any more.

/** A test file of a project, as vitest tells of it. */
export interface File {
  /** Of the file in its project: several may run the same one. */
  readonly id: string;
  readonly moduleId: string;
}

export class UnderWay {
  readonly #files = new Map<string, { readonly file: string; readonly at: string; readonly since: number }>();
  readonly #ended = new Set<string>();
  /** When anything was told last. */
  last = 0;

  begin({ id, moduleId }: File, now: number): void {
    this.#ended.delete(id);
    this.note({ id, moduleId }, 'its beginning', now);
  }

  note({ id, moduleId }: File, at: string, now: number): void {
    this.last = now;
    if (!this.#ended.has(id)) this.#files.set(id, { file: moduleId, at, since: now });
  }

  end({ id }: File, now: number): void {
    this.last = now;
    this.#ended.add(id);
    this.#files.delete(id);
  }

  /** The files of which nothing was told for longer than `limit`, and what they are at. */
  stuck(now: number, limit: number): readonly { readonly file: string; readonly at: string }[] {
    return [...this.#files.values()].filter(({ since }) => now - since > limit);
  }

  /** Forgets which files run, as they are ended. */
  clear(now: number): void {
    this.last = now;
    this.#files.clear();
  }
}
