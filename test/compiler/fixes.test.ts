// A fix is a hint that can be done: the text that it makes no longer has the mistake.
//
// Each mistake of the lists beside this file, and each that random changes of kernels give, is found in a text by
// the static check; each of its fixes is made, and the text is checked again.

import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { transformSync } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkText } from '#warpstage/checker/static/check-text.js';
import type { Issue, WarpstageError } from '#warpstage/diagnostics/error.js';
import { edited, type Fix } from '#warpstage/diagnostics/fix.js';
import { createKernelSource, functionOfText } from '#warpstage/diagnostics/source.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { atLength, everyOf } from '../support/thorough.ts';
import { mistakesInLanguage } from './mistakes-in-language.ts';
import { mistakesInTypes } from './mistakes-in-types.ts';
import { compile, kernelOf } from './support.ts';

const file = resolve('wrong.ts');

function issuesIn(text: string): readonly Issue[] {
  return checkText([file], (path) => (path === file ? text : undefined)).issues;
}

/** Whether what was wrong is there no more. The same at another place may be seen only now. */
function expectMended(text: string, issue: Issue, { title, edits }: Fix): void {
  expect(edits.every((edit) => edit.file === file)).toBe(true);
  const after = edited(text, edits);
  const said = `${issue.message}\n${title}\n${after}`;
  expect(() => transformSync(after, { loader: 'ts' }), said).not.toThrow();
  const { line, column } = issue.location!;
  const columns = edits.map(({ from, to, replacement }) => column + replacement.length - (to - from));
  const left = issuesIn(after).filter(
    ({ code, message, location }) =>
      code === issue.code &&
      message === issue.message &&
      location?.line === line &&
      [column, ...columns].includes(location.column),
  );
  expect(left, said).toEqual([]);
}

/** Makes each fix of each mistake; how many there were. */
function mendEach(text: string): number {
  const issues = issuesIn(text);
  let count = 0;
  for (const issue of issues) {
    for (const fix of issue.fixes ?? []) {
      expectMended(text, issue, fix);
      count++;
    }
  }
  return count;
}

const begin = `import { deviceFunction, kernel } from 'warpstage';
const scale = deviceFunction({ out: 'f32[]', by: 'f32', times: 'constant index = 1' }, ({ out, by, times }) => {
  out[0]! *= by * times;
});
export const wrong = kernel(
  { y: 'f32[]', x: 'readonly f32[]', n: 'index', i: 'i32', u: 'u32', f: 'f32', h: 'i32[]', b: 'u8[]', w: 'i64[]', s: 'u64[]', c: 'constant index = 2', v: 'f32x2[]', o: 'bool', scale },
  ({ y, x, n, i, u, f, h, b, w, s, c, v, o, scale }, cuda) => {
`;
const inKernel = (statement: string) => `${begin}    { ${statement} }\n  },\n);\n`;

/** Mistakes that have a fix, and how many. */
const fixable: Readonly<Record<string, number>> = {
  'y[0] = i + u;': 2,
  'y[0] = (i as number) + (u as number);': 2,
  'y[0] = Math.max(i, u, i);': 2,
  'y[0] = o ? i : u;': 2,
  'w[0] = w[1]! + s[0]!;': 2,
  'w[0] = w[1]! + 1;': 1,
  'w[0] = i;': 1,
  'y[0] = 3n + f;': 1,
  'if (w[0] === 3) y[0] = 1;': 1,
  'if (w[0] === i) y[0] = 1;': 1,
  'if (w[0]! < f) y[0] = 1;': 1,
  'h[0] = f;': 1,
  'h[0] = x[i]! /* all */;': 1,
  'h[0]! += f;': 1,
  'h[f] = (x[i] as number);': 1,
  'y[w[0]!] = 1;': 1,
  'y[(i, f)] = 1;': 1,
  'const half = n / 2; y[0] = half;': 2,
  'const half = (h[i]! - 1) / h[n]!; y[0] = half;': 2,
  'h[0]! /= i - 1;': 1,
  'let v = i; v = f;': 1,
  'const k: number = 1; k = 2;': 1,
  'cuda.makePipline();': 1,
  'y[0] = Math.sine(f);': 1,
  'if (y[i] === undefined) y[0] = 1;': 1,
  'y[0] = y[n] ?? 9;': 1,
  'y[0] = y?.[1]!;': 1,
  'f();': 1,
  'y[0] = +w[0]!;': 1,
  'w[0] = w[1]! >>> 2n;': 1,
  'y[0] = Math.sqrt(w[0]!);': 1,
  'w[0] = BigInt(f);': 1,
  'y[0] = i ** i;': 1,
  'y[0] = cuda.popc(f);': 1,
  'y[0] = cuda.bitcast("f32", s[0]!);': 1,
  'const block = cuda.thisThreadBlock(); y[0] = blok.size();': 1,
  'y[0] = thisGrid().threadRank();': 1,
};

test.each(Object.entries(fixable))('%s', (statement, count) => {
  expect(mendEach(inKernel(statement))).toBe(count);
});

test('every mistake of the lists is mended by each of its fixes', () => {
  const statements = Object.values({ ...mistakesInTypes, ...mistakesInLanguage }).flatMap((group) =>
    group.map(([statement]) => statement!),
  );
  let count = 0;
  for (const statement of everyOf(3, statements)) count += mendEach(inKernel(statement));
  expect(count).toBeGreaterThan(10);
});

describe('names that a kernel does not take', () => {
  test.each([
    ['({ y }, cuda) => { y[0] = a; }', '({ y, a }, cuda) => { y[0] = a; }'],
    ['({ y, }) => { y[0] = a; }', '({ y, a, }) => { y[0] = a; }'],
    ['({}) => { const t = a; }', '({ a }) => { const t = a; }'],
    ['({ y, a }) => { y[cuda.threadIdx.x] = a; }', '({ y, a }, cuda) => { y[cuda.threadIdx.x] = a; }'],
    [
      '({ y, a }: any) => { y[cuda.threadIdx.x] = a; }',
      '({ y, a }: any, cuda) => { y[cuda.threadIdx.x] = a; }',
    ],
    [
      '({ y, a }, c) => { y[thisGrid().threadRank()] = a; }',
      '({ y, a }, c) => { y[c.thisGrid().threadRank()] = a; }',
    ],
    ['({ y, a }, { threadIdx }) => { y[thisGrid().threadRank()] = a; }', null],
    ['({ y, a }, c) => { const h = (y[0] as number) | a; y[h] = 1.5 * c.i32(1); }', null],
  ])('%s', (body, expected) => {
    const text = (fn: string) =>
      `import { kernel } from 'warpstage';\nkernel({ y: 'f32[]', a: 'f32' }, ${fn});\n`;
    const issues = issuesIn(text(body));
    const fixes = issues.flatMap((issue) => issue.fixes ?? []);
    expect(fixes.map(({ edits }) => edited(text(body), edits))).toEqual(
      expected === null ? [] : [text(expected)],
    );
    if (expected !== null) expect(issuesIn(text(expected))).toEqual([]);
  });
});

test('an intrinsic is called as the function names its intrinsics', () => {
  const text = `import { kernel } from 'warpstage';\nkernel({ h: 'i32[]', f: 'f32' }, ({ h, f }, c) => { h[0] = f; });\n`;
  const [issue] = issuesIn(text);
  expect(issue!.hint).toBe('cast it: c.i32(f) drops a fraction');
  expect(mendEach(text)).toBe(1);
});

test('what one of several returns gives is cast, not the statement', () => {
  const text = `import { deviceFunction, kernel } from 'warpstage';
const chosen = deviceFunction({ first: 'bool', x: 'i32' }, ({ first, x }, cuda) => {
  if (first) return x;
  return 0n;
});
kernel({ y: 'i32[]', x: 'i32', chosen }, ({ y, x, chosen }, cuda) => {
  y[cuda.threadIdx.x] = chosen({ first: x > 0, x });
});
`;
  expect(mendEach(text)).toBe(1);
  const [issue] = issuesIn(text);
  expect(issue!.hint).toContain('cuda.i32(0n)');
});

test('a function that runs as it is written has the same fixes, and one that was made of another none', () => {
  const [issue] = issuesOfRunning('({ h, f }, cuda) => { h[0] = f; }');
  const [fix] = issue!.fixes!;
  expect(edited(issue!.location!.text, fix!.edits)).toContain('{ h[0] = cuda.i32(f); }');
  const made = functionOfText(
    '(x) => x',
    () => {},
    () => ({ offset: 0, parts: [] }),
  );
  expect(createKernelSource(made, 'made').standing(0, 3)).toBeNull();
});

function issuesOfRunning(text: string): readonly Issue[] {
  try {
    compile(kernelOf({ h: 'i32[]', f: 'f32' }, text));
  } catch (error) {
    return (error as WarpstageError).issues;
  }
  return [];
}

describe('kernels that were right before one thing in them was changed', () => {
  const files = readdirSync('test/conformance/cases').filter((name) => name.endsWith('.ts'));
  const texts = files.map((name) => readFileSync(`test/conformance/cases/${name}`, 'utf8'));

  /** A text with one operator, name or literal of a kernel exchanged. */
  const broken = (tape: Tape): string => {
    const text = tape.pick(texts);
    const places = [...text.matchAll(/\bMath\.trunc\(|\b(\d+)\b|\b[a-z]\w{3,}\b|[-+*] |\[/g)];
    const { index, 0: found } = tape.pick(places);
    const put = (by: string) => text.slice(0, index) + by + text.slice(index + found.length);
    if (found.startsWith('Math.trunc')) return put('(');
    if (/^\d/.test(found)) return put(tape.pick([`${found}n`, `${found}.5`, `${found} / 2`]));
    if (/^[a-z]/.test(found)) return put(tape.pick([`${found.slice(0, -2)}${found.at(-1)}`, `${found}?.x`]));
    if (found === '[') return put(tape.pick(['[0.5 + ', '[1n + ']));
    return put(tape.pick(['/ ', '>>> ', '** ']));
  };

  test('are mended by each fix', () => {
    let fixes = 0;
    fc.assert(
      fc.property(tapes(30), (tape) => {
        fixes += mendEach(broken(tape));
      }),
      randomRuns(atLength ? 300 : 12),
    );
    if (atLength) expect(fixes).toBeGreaterThan(10);
  });
});
