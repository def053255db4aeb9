// docs/porting.md: what stands on the right of each row of a kernel's tables compiles.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { struct } from 'warpstage';
import type { Schema } from '#warpstage/kernel/schema.js';
import { compile, kernelOf } from './support.ts';

const page = readFileSync(new URL('../../docs/porting.md', import.meta.url), 'utf8');

const node = struct({ start: 'i32', count: 'i32' });

const schema = {
  out: 'f32[]',
  x: 'readonly f32[]',
  h: 'i32[]',
  u: 'u32[]',
  v: 'f32x4[]',
  node,
  nodes: node.array,
  n: 'index',
  i: 'i32',
  f: 'f32',
  flag: 'bool',
} as const;

/** What a row may use beside the schema. */
const before = `
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('f32', 256), other = cuda.sharedArray('f32', 256);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  const barrier = cuda.barrier(block);`;

const sections = page.split(/^## /m).filter((section) => !/^(The host|What is left)/.test(section));
const rows = sections.flatMap((section) =>
  [...section.matchAll(/^\|.*\| (`+)(.*?)\1 +\|$/gm)].map((match) => match[2]!),
);

test('the page has its tables', () => {
  expect(rows.length).toBeGreaterThan(45);
});

test.each(rows)('%s', (statements) => {
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => {${before}\n{ ${statements.replaceAll('!', '')} }\n}`;
  expect(() => compile(kernelOf(schema, text), { cooperative: true })).not.toThrow();
});

test('the kernel that the page begins with compiles', () => {
  const [, own, text] = /kernel\((\{.*?\}), (\(\{[\s\S]*?\n\})\);\n```/.exec(page)!;
  const named = new Function(`return ${own}`)() as Schema;
  expect(() => compile(kernelOf(named, text!.replaceAll('!', '')))).not.toThrow();
});
