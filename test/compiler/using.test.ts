// `using`, as it is written and as tools lower it: the same program as with `const`.

import { transformSync } from 'esbuild';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parseFunction } from '#warpstage/compiler/parse.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { createKernelSource } from '#warpstage/diagnostics/source.js';
import { type Body, compile, functionOf, kernelOf, mistakesIn } from './support.ts';

const schema = { out: 'i32[]' } as const;

const written = (keyword: 'using' | 'const') => `({ out }, cuda) => {
  const block = cuda.thisThreadBlock();
  const state = cuda.pipelineSharedState('block', 1);
  ${keyword} outer = cuda.makePipeline(block, state);
  outer.producerAcquire();
  for (let i = 0; i < out.length; i++) {
    if (i === 1) {
      ${keyword} inner = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      inner.producerAcquire();
      continue;
    }
    ${keyword} first = cuda.makePipeline(block, cuda.pipelineSharedState('block', 3)),
      second = cuda.makePipeline(block, cuda.pipelineSharedState('block', 4));
    if (out[i] === 7) break;
    first.producerAcquire();
    second.producerAcquire();
  }
  out[0] = 1;
}`;

/** The program of a text; names of variables are no part of it, as minifiers choose them. */
function printed(body: Body): string {
  const { program } = compile(kernelOf(schema, body, 'uses'));
  const pipelines = program.pipelines.map((one, id) => ({ ...one, name: `pipeline${id}` }));
  const variables = program.variables.map((one, id) => ({ ...one, name: `variable${id}` }));
  return printProgram({ ...program, pipelines, variables });
}

/** A function of the text that a tool gives. Helpers that it calls are those of a module, and never run. */
const lowered = (text: string) => functionOf(/kernel\s*=([\s\S]*);\s*$/.exec(text)![1]!);

const source = `kernel = ${written('using')};`;

const tools: Readonly<Record<string, () => string>> = {
  esbuild: () => transformSync(source, { target: 'es2022' }).code,
  'esbuild, minified': () => transformSync(source, { target: 'es2022', minify: true }).code,
  tsc: () => ts.transpileModule(source, { compilerOptions: { target: ts.ScriptTarget.ES2022 } }).outputText,
  // The shape of Babel's helper, which oxc has too.
  'a context with methods': () =>
    `kernel = ${written('using')
      .replace('({ out }, cuda) => {', '({ out }, cuda) => { try { var c = make();')
      .replace(/using (outer|inner) = (.*);/g, 'const $1 = c.u($2);')
      .replace(/using first = (.*),\n(.*second) = (.*);/, 'const first = c.u($1), $2 = c.u($3);')
      .replace(/\}$/, '} catch (e) { c.e = e; } finally { c.d(); } }')};`,
};

describe('it is the program with const', () => {
  test.each(Object.entries(tools))('%s', (_, lower) => {
    const text = lower();
    expect(text).toContain('try');
    expect(text).not.toMatch(/using (outer|first)/);
    expect(printed(lowered(text))).toBe(printed(functionOf(written('const'))));
  });

  test('as written, where the engine knows it', () => {
    // What an engine knows is not for this test: the text is parsed as if the function had it.
    const fn = () => {};
    parseFunction(fn, { ...createKernelSource(fn, 'uses'), text: written('using') });
    expect(printed(fn)).toBe(printed(functionOf(written('const'))));
  });
});

test('it declares pipelines alone', () => {
  const fn = () => {};
  const text = '({ out }, cuda) => { using block = cuda.thisThreadBlock(); out[0] = block.size(); }';
  parseFunction(fn, { ...createKernelSource(fn, 'uses'), text });
  expect(() => compile(kernelOf(schema, fn))).toThrow(
    /WS1006: 'using' declares a pipeline, which quits at the end of the block, and 'block' is the block group/,
  );
});

test('other forms of it are refused, with what to write', () => {
  const text = `({ out }, cuda) => {
  const use = __using({}, cuda.makePipeline(cuda.thisThreadBlock(), cuda.pipelineSharedState('block', 1)));
}`;
  expect(mistakesIn(schema, text)).toEqual([
    "WS1006 2:15 __using: a tool has made calls of '__using' out of 'using' (write const in place of using: a pipeline quits at the end of its block)",
  ]);
});
