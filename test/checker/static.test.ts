// The kernels of a text, compiled and not run: what is found is what compiling them finds, at the same places.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser } from 'acorn';
import { type TransformOptions, transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { checkText } from '#warpstage/checker/static/check-text.js';
import { typedChildren, withoutTypes } from '#warpstage/checker/static/types-out.js';
import { mistakesInLanguage } from '../compiler/mistakes-in-language.ts';
import { mistakesIn } from '../compiler/support.ts';
import { atLength, everyOf, partOf } from '../support/thorough.ts';

/** What is wrong with the first of some files: `file:line:column code: message`. */
function wrongIn(files: Readonly<Record<string, string>>) {
  const [first] = Object.keys(files);
  const { issues, ...rest } = checkText([resolve(first!)], (path) => {
    const name = Object.keys(files).find((one) => resolve(one) === path);
    return name === undefined ? undefined : files[name];
  });
  const lines = issues.map(({ code, message, location }) => {
    const name = Object.keys(files).find((one) => resolve(one) === location?.file);
    return `${name}:${location?.line}:${location?.column} ${code}: ${message}`;
  });
  return { lines, ...rest };
}

const imports = `import { deviceFunction, kernel } from 'warpstage';\n`;

const schema = {
  y: 'f32[]',
  x: 'readonly f32[]',
  h: 'i32[]',
  n: 'index',
  f: 'bool',
} as const;

describe('the mistakes of the language are found where compiling finds them', () => {
  const statements = Object.values(mistakesInLanguage).flatMap((group) => group.map(([first]) => first!));
  test.each(everyOf(2, statements))('%s', (statement) => {
    const body = `({ y, x, h, n, f }, cuda) => {\n  const i = cuda.thisGrid().threadRank();\n  ${statement}\n}`;
    const compiled = mistakesIn(schema, body, { block: [256, 1, 1] });
    const text = `${imports}export const wrong = kernel(${JSON.stringify(schema)} as const,\n${body});\n`;
    // The text of the kernel begins in the third line.
    const expected = compiled.map((mistake) => {
      const [, code, line, column] = /^(WS\d+) (\d+):(\d+) /.exec(mistake)!;
      return `a.ts:${Number(line) + 2}:${column} ${code}: `;
    });
    const found = wrongIn({ 'a.ts': text }).lines.map((line) => line.slice(0, line.indexOf(': ') + 2));
    expect(found).toEqual([...new Set(expected)]);
  });
});

test('all kernels of the examples are found, and nothing is wrong with them', () => {
  const files = [
    'examples',
    'examples/guide',
    'examples/warps',
    'examples/matrix-product',
    'test/conformance/cases',
  ].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => resolve(folder, name)),
  );
  const { kernels, issues, skipped } = checkText(files, readText);
  expect(issues).toEqual([]);
  expect(kernels).toBeGreaterThan(80);
  expect(skipped.length).toBeLessThan(3);
});

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

test('types are blanked out to what esbuild makes of them', () => {
  const parser = Parser.extend(tsPlugin() as never);
  const options: TransformOptions = { minifyWhitespace: true, target: 'esnext' };
  let compared = 0;
  const folders = ['test/support', 'src/compiler', 'src/cli', 'examples/guide', 'test/conformance/cases'];
  for (const folder of partOf(folders, 0)) {
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.ts'))) {
      const text = readFileSync(join(folder, name), 'utf8');
      const visit = (node: { type: string; start: number; end: number }): void => {
        if (/^(ArrowFunctionExpression|FunctionDeclaration)$/.test(node.type)) {
          const written = `(${text.slice(node.start, node.end)})`;
          // Outside its class a private name is no JavaScript.
          if (/[.]#/.test(written)) return;
          const blanked = withoutTypes(text, node);
          expect(blanked).toHaveLength(node.end - node.start);
          const plain = transformSync(`(${blanked})`, { ...options, loader: 'js' }).code;
          expect(plain, `${name} at ${node.start}`).toBe(
            transformSync(written, { ...options, loader: 'ts' }).code,
          );
          compared++;
          return;
        }
        for (const child of typedChildren(node)) visit(child);
      };
      visit(parser.parse(text, { ecmaVersion: 'latest', sourceType: 'module', locations: true }) as never);
    }
  }
  expect(compared).toBeGreaterThan(atLength ? 1000 : 100);
});

describe('what the text says', () => {
  test('schemas of constants, spreads and other modules; device functions of other modules', () => {
    const found = wrongIn({
      'a.ts': `import * as ws from 'warpstage';
import { shared, twice as double } from './b.js';
const own = { y: 'f32[]' } as const;
export const k = ws.kernel({ ...own, ...shared.inputs, double } satisfies object, ({ y, x, double }, cuda) => {
  const i: number = cuda.thisGrid().threadRank();
  (y as unknown as number[])[i] = double({ x: x[i]! });
  x[i] = 1;
});`,
      'b.ts': `${imports}export const shared = { inputs: { x: 'readonly f32[]' } } as const;
const twice = deviceFunction({ x: 'f32' }, ({ x }) => { return x * nothing; });
export { twice };`,
    });
    expect(found.lines).toEqual([
      "a.ts:7:3 WS1012: 'x' is read-only",
      expect.stringMatching(/^b\.ts:3:\d+ WS1002: /),
    ]);
    expect(found).toMatchObject({ kernels: 1, skipped: [] });
  });

  test('a schema entry that cannot be read is reported at the schema', () => {
    expect(wrongIn({ 'a.ts': `${imports}kernel({ y: 'f33[]' }, ({ y }) => {});` }).lines).toEqual([
      expect.stringMatching(/^a\.ts:2:8 WS1010: /),
    ]);
  });

  test('nothing of a module is run, and other functions called kernel are left alone', () => {
    const text = `${imports}throw new Error('run');
const other = { kernel: (...a: unknown[]) => a };
other.kernel({ y: 'f32[]' }, ({ y }) => { y.z = 1; });
export const late = () => kernel({ y: 'i32[]' }, ({ y }) => { y[0] = null; });`;
    expect(wrongIn({ 'a.ts': text }).lines).toEqual([
      expect.stringMatching(/^a\.ts:5:\d+ WS1006: kernels do not have null$/),
    ]);
  });

  test('what is made while the module runs is named, and not guessed', () => {
    const text = `${imports}const schema = JSON.parse('{}');\nkernel(schema, () => {});\nkernel({ y: 'i32[]' }, make());`;
    expect(wrongIn({ 'a.ts': text })).toMatchObject({
      lines: [],
      kernels: 0,
      skipped: [
        { line: 3, column: 1 },
        { line: 4, column: 1 },
      ],
    });
  });

  test('names that stand for each other end', () => {
    const text = `${imports}const a = b;\nconst b = a;\nkernel(a, () => {});`;
    expect(wrongIn({ 'a.ts': text }).skipped).toHaveLength(1);
  });
});

describe('what depends on the launch is not reported', () => {
  const wrong = (statement: string, schema = "{ y: 'i32[]', c: 'constant index' }") =>
    wrongIn({ 'a.ts': `${imports}kernel(${schema}, ({ y, c }, cuda) => { ${statement} });` }).lines;

  test.each([
    ['a tile larger than some blocks', 'cuda.tiledPartition(cuda.thisThreadBlock(), 512); y[0] = 1;'],
    ['a number of stages that is one too many', "cuda.pipelineSharedState('block', c * 100);"],
    ['a grid that meets', 'cuda.thisGrid().sync();'],
  ])('%s', (_, statement) => {
    expect(wrong(statement)).toEqual([]);
  });

  test('what is wrong in each is', () => {
    expect(wrong('cuda.tiledPartition(cuda.thisThreadBlock(), 3);')).toHaveLength(1);
  });
});

test('a file that cannot be parsed is an error only where it may have kernels', () => {
  expect(wrongIn({ 'a.ts': `${imports}const = 1;` }).lines).toEqual([
    expect.stringMatching(/^a\.ts:2:7 WS5002: this file cannot be parsed: /),
  ]);
  expect(wrongIn({ 'a.ts': 'const = 1;' }).lines).toEqual([]);
});
