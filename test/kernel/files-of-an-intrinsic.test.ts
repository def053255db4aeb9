// In how many files an intrinsic stands by its name, beside kernel/forms-*.ts, which are made of its declaration: what
// somebody who adds one like it has to write.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { intrinsicsOf, receivers } from '../support/intrinsics.ts';

/** The files that a name stands in, as an identifier or as the end of a string such as 'pipeline.quit'. */
const files = new Map<string, Set<string>>();

beforeAll(() => {
  for (const room of ['src/kernel', 'src/compiler', 'src/targets']) {
    for (const entry of readdirSync(room, { withFileTypes: true, recursive: true })) {
      if (entry.isFile() && !entry.name.startsWith('forms-')) read(join(entry.parentPath, entry.name));
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
  test.each([
    'popc',
    'ffs',
    'brev',
    'mulhi',
    'saturate',
    'lgamma',
    'copysign',
    'dp4a',
    'philox',
    'curandNormal2',
    'acosh',
    'cbrt',
    'hypot',
    'tan',
  ])('%s', (name) => {
    const holding = filesOf(name);
    expect(holding.length, holding.join('\n')).toBeLessThanOrEqual(3);
    expect(holding.length).toBeGreaterThan(1);
  });
});

/** The names of some in the IR, where they are not those of the kernel. */
const inProgram: Readonly<Record<string, string>> = Object.fromEntries(
  ['shfl', 'shflUp', 'shflDown', 'shflXor', 'ballot', 'matchAny', 'matchAll']
    .concat(['reduceAdd', 'reduceMin', 'reduceMax', 'reduceAnd', 'reduceOr', 'reduceXor'])
    .map((name) => [`${name}Sync`, name]),
);

/** Words that mean more than the intrinsic in these files: to count them says nothing. */
const words = new Set([
  'barrier',
  'sync',
  'all',
  'any',
  'wait',
  'arrive',
  'reduce',
  'quit',
  'memcpyAsync',
  'makePipeline',
]);

const synchronising = Object.keys(receivers)
  .flatMap((receiver) => intrinsicsOf(receiver))
  .filter(({ doc }) => /(Barrier|Signals|Waits for): /.test(doc))
  .map(({ member }) => member)
  .filter((member) => !words.has(member));

describe('what synchronises, orders or is atomic stands in eight files at most', () => {
  test.each([...new Set([...synchronising, 'activemask', 'threadFence', 'atomicCAS'])])('%s', (name) => {
    const holding = filesOf(name, ...(name in inProgram ? [inProgram[name]!] : []));
    expect(holding.length, holding.join('\n')).toBeLessThanOrEqual(8);
    expect(holding.length).toBeGreaterThan(1);
  });

  test('the declarations name them', () => {
    expect(synchronising).toContain('pipelineConsumerWaitPrior');
    expect(synchronising.length).toBeGreaterThan(30);
  });
});
