// The list of mutations stays true to the sources: each still applies, compiles and names tests that are there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutations } from './all.ts';
import { parseEntry } from './entry.ts';
import { mutatedSource, roomOf, transpiled } from './mutation.ts';

const rooms = [...new Set(mutations.map(roomOf))];

describe('the mutations', () => {
  it('have names of their own', () => {
    const names = mutations.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it.each(rooms)('of %s apply, and compile to something else', async (room) => {
    const originals = new Map<string, string>();
    for (const mutation of mutations.filter((each) => roomOf(each) === room)) {
      const { name, file } = mutation;
      if (!originals.has(file)) originals.set(file, await transpiled(readFileSync(file, 'utf8')));
      const mutant = await transpiled(mutatedSource(mutation));
      expect(mutant === originals.get(file), `mutation '${name}' changes nothing`).toBe(false);
    }
  });

  it('name tests that are there', () => {
    const entries = mutations.flatMap(({ name, tests }) => tests.map((test) => ({ name, test })));
    const missing = entries.filter(({ test }) => !existsSync(parseEntry(test).file));
    expect(missing).toEqual([]);
    expect(mutations.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it('are made in every room', () => {
    expect(mutations.length).toBeGreaterThanOrEqual(150);
    const changed = new Set(mutations.map(({ file }) => file.split('/')[1]));
    const all = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    // What is checked there is found in targets/checker.
    expect(all.map(({ name }) => name).filter((room) => !changed.has(room))).toEqual(['checker']);
  });
});
