// In how many files an intrinsic stands by its name, beside kernel/forms.ts, which is made of its declaration: what
// somebody who adds one like it has to write.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';

/** The files that a name stands in, as an identifier or as the end of a string such as 'pipeline.quit'. */
const files = new Map<string, Set<string>>();

beforeAll(() => {
  for (const room of ['src/kernel', 'src/compiler', 'src/targets']) {
    for (const entry of readdirSync(room, { withFileTypes: true, recursive: true })) {
      if (entry.isFile() && entry.name !== 'forms.ts') read(join(entry.parentPath, entry.name));
    }
  }
});

function read(file: string): void {
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isStringLiteral(node)) {
      const name = node.text.split('.').at(-1)!;
      if (!files.has(name)) files.set(name, new Set());
      files.get(name)!.add(file);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
}

/** The files of an intrinsic, by the names that it has in kernels and in the IR. */
function filesOf(...names: string[]): string[] {
  return [...new Set(names.flatMap((name) => [...(files.get(name) ?? [])]))].sort();
}

describe('an expression stands in three files at most', () => {
  test.each(['popc', 'ffs', 'brev', 'mulhi', 'saturate', 'acosh', 'cbrt', 'hypot', 'tan'])('%s', (name) => {
    const holding = filesOf(name);
    expect(holding.length, holding.join('\n')).toBeLessThanOrEqual(3);
    expect(holding.length).toBeGreaterThan(1);
  });
});

describe('what synchronises stands in eight files at most', () => {
  test.each([
    ['consumerWait'],
    ['shfl', 'shflSync'],
    ['shflUp', 'shflUpSync'],
    ['shflDown', 'shflDownSync'],
    ['shflXor', 'shflXorSync'],
    ['ballot', 'ballotSync'],
    ['matchAll', 'matchAllSync'],
    ['reduceAdd', 'reduceAddSync'],
    ['activemask'],
    ['threadFence'],
    ['atomicCAS'],
  ])('%s', (...names) => {
    const holding = filesOf(...names);
    expect(holding.length, holding.join('\n')).toBeLessThanOrEqual(8);
    expect(holding.length).toBeGreaterThan(1);
  });
});
