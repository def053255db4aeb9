// An entry of a mutation's tests, as vitest takes it.

export interface Entry {
  readonly file: string;
  /** The tests of this name alone. */
  readonly name: string | null;
  /** Arguments that choose the projects of vitest.config.ts. */
  readonly projects: readonly string[];
  /** With addresses of 64 bits (scripts/test-wide.mjs). */
  readonly isWide: boolean;
}

const plain = ['--project', 'shared', '--project', 'alone'];

export function parseEntry(entry: string): Entry {
  const isDelayed = entry.startsWith('delayed:');
  const isWide = entry.startsWith('wide:');
  const [file, ...names] = entry.replace(/^(delayed|wide):/, '').split(' > ');
  return {
    file: file!,
    name: names.length === 0 ? null : names.join(' '),
    projects: isDelayed ? ['--project', 'delayed'] : plain,
    isWide,
  };
}
