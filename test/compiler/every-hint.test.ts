// Every hint of the compiler has a case, and the code in it compiles.
//
// The hints are counted in the source: each text that is given to `fail`, as a pattern in which what is filled in may
// be anything. A test, or an example of docs/errors.md, has read each. Code stands behind a few words (`write`,
// `cast it:`); put in place of what was underlined, it mends that. Where the words are others, hint-cases.ts has the
// statement as it is when it is mended.

import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import type { Issue } from '#warpstage/diagnostics/error.js';
import { filesIn, parsed, patternsOf } from '../support/hint-texts.ts';
import { hintCases } from './hint-cases.ts';
import { schema } from './mistake-schema.ts';
import { mistakesInLanguage } from './mistakes-in-language.ts';
import { mistakesInTypes } from './mistakes-in-types.ts';
import { compile, kernelOf } from './support.ts';

/** The hints of `lowering.fail(node, code, message, hint)`. */
function hintsIn(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const [, code, , hint] = node.arguments;
      const isFailure =
        node.expression.name.text === 'fail' && code !== undefined && /WS1/.test(code.getText());
      if (isFailure && hint !== undefined) found.push(...patternsOf(hint));
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed(file));
  return found;
}

const body = (statement: string) => `({ ${Object.keys(schema).join(', ')} }, cuda) => {\n{ ${statement} }\n}`;

function issuesOf(statement: string): readonly Issue[] {
  try {
    compile(kernelOf(schema, body(statement)));
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues;
  }
  return [];
}

/** Statements for hints that no other test reads. */
const more: readonly string[] = [
  'const v = cuda.f32x2(1, 2); y[0] = v[0];',
  'y[0] = n[0];',
  'undefined = 1;',
  'n = 3;',
  'y[0] = "text" == 3;',
  'const t = cuda.localArray("f32", 1 << 28); t[0] = 1;',
  'const t = cuda.sharedArray("f32", [0, 4]); t[0][0] = 1;',
  'const t = x.shaped([2, 4], 3); y[0] = t[0][0];',
  'const o = { a: 1, b: 2 }; const q = [o, o]; const [{ a }] = [{ a: 1 }, 2]; let p = o; p = { ...o }; p.a = 2; o.c = 1;',
  'console.log("%d %d", 1);',
  'console.log("%d", f);',
  'console.log("%y", f);',
  'y.length = 3;',
  'cuda.cg.reduce(cuda.tiledPartition(cuda.thisThreadBlock(), 32), f, "bitAnd");',
  'cuda.shflSync(1.5, f, 0);',
  'cuda.reduceAddSync(0xffffffff, f);',
  'cuda.reduceAddSync(0xffffffff, 1n);',
  'y[0] = Number(BigInt.asIntN(65, 3n));',
  'const bars = cuda.barrierArray(cuda.thisThreadBlock(), 0, 4); bars[0].arrive();',
  'const bar = cuda.barrier(cuda.thisThreadBlock(), 0); bar.arriveAndWait();',
  'const bar = cuda.barrier(cuda.thisThreadBlock()); const other = cuda.barrier(cuda.thisThreadBlock()); bar.wait(other.arrive());',
  'const bar = cuda.barrier(cuda.thisThreadBlock()); const other = cuda.barrier(cuda.thisThreadBlock()); let t = bar.arrive(); t = other.arrive();',
  'cuda.atomicLoad(h, 0, "release");',
  'cuda.atomicStore(h, 0, 1, "acquire");',
  'y[0] = (3).a;',
  'y[0] = n.as("i32")[0];',
  'f();',
  'const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 64); tile.shfl(f, 0);',
  'cuda.tiledPartition(cuda.thisThreadBlock(), c + n);',
  'y[0] = x ** 2;',
  'y[0] = f === "a";',
  'scale({ out: y, by: f, times: -1.5 });',
  'scale({ out: y, by: f, times: n });',
  'scale({ out: y, bya: f });',
  'scale({ out: y.shaped([2, 2]), by: f });',
  'const w = cuda.i32x2(i, i); const q = w / w; y[0] = q.x;',
  'const [a, b] = y;',
  'const { length, ...rest } = y;',
  'const [p, q] = flag ? y : y;',
  'const part = n > 1 ? y.subarray(1) : y.subarray(1, 2); part[0] = 1;',
  'let part = y.subarray(1); part = y.subarray(1, 2); part[0] = 1;',
  'cuda.pipelined(3);',
  'cuda.incAtomic(h, 0);',
  'cuda.atomicInc(h, 0, 3);',
  'y[0] = cuda.dot(1, 2);',
  'y[0] = cuda.cross(cuda.f32x2(1, 2), cuda.f32x2(1, 2)).x;',
  'y[0] = 2n ** 3n;',
  'y[0] = w ** 3n;',
  'if (3n === 36893488147419103232n) y[0] = 1;',
  'cuda.matchAnySync(0.5, i);',
];

test('every hint of the compiler is read by a test or an example', () => {
  const hints = [...new Set(filesIn('src/compiler').flatMap(hintsIn))].filter((one) => /\w/.test(one));
  expect(hints.length).toBeGreaterThan(100);
  const own = more.flatMap((statement) => issuesOf(statement).map(({ hint }) => hint ?? ''));
  const texts = [
    ...filesIn('test').filter((file) => !file.endsWith('every-hint.test.ts')),
    'docs/errors.md',
  ].map((file) => readFileSync(file, 'utf8').replaceAll(/\\(['"`])/g, '$1'));
  const read = [...own, ...texts].join('\n');
  expect(hints.filter((hint) => !new RegExp(hint).test(read)).sort()).toEqual([]);
});

/** The words in front of code, and those behind it. */
const before =
  /^(?:write|it is a value: write|cast (?:it|the base|the value):|compare it:|take one of its elements:|make one:) /;
const behind = / (?:for integer division|for a float|for all of them|drops a fraction)$/;

/** What is to be written is said in words. */
const inWords: readonly string[] = [
  'write a flag to an array, and look at it on the host',
  'write each element',
  'write 4, 8 or 16',
];

/** The ways that a hint gives, as code. */
function waysOf({ hint = '' }: Issue): readonly string[] {
  const words = before.exec(hint)?.[0];
  if (words === undefined || inWords.includes(hint)) return [];
  return hint
    .slice(words.length)
    .split(/, or (?:let|leave) /, 1)[0]!
    .split(', or ')
    .map((way) => way.replace(behind, ''));
}

/** Statements with a mistake whose hint has code. */
const statements = [
  ...Object.values({ ...mistakesInTypes, ...mistakesInLanguage })
    .flat()
    .map(([statement]) => statement!),
  ...more,
].filter((statement) => issuesOf(statement).some((issue) => waysOf(issue).length > 0));

test.each(hintCases)('%s', (statement, hint, mended) => {
  expect(issuesOf(statement).map((issue) => issue.hint)).toEqual([hint]);
  for (const [, code] of mended.matchAll(/«(.*?)»/g)) expect(hint).toContain(code);
  expect(issuesOf(mended.replaceAll(/[«»]/g, ''))).toEqual([]);
});

describe('the code of a hint, in place of what is underlined, mends it', () => {
  test.each(statements)('%s', (statement) => {
    for (const issue of issuesOf(statement)) {
      const { line, column, length, text } = issue.location!;
      const lines = text.split('\n');
      const start = lines.slice(0, line - 1).join('\n').length + Math.min(1, line - 1) + column - 1;
      const at = start - text.indexOf(body(statement)) - body(statement).indexOf(statement);
      for (const way of waysOf(issue)) {
        const mended = statement.slice(0, at) + way + statement.slice(at + length);
        const left = issuesOf(mended).filter(
          ({ code, message }) =>
            /^WS100[13]|^WS1002/.test(code) || (code === issue.code && message === issue.message),
        );
        const former = issuesOf(statement).map(({ message }) => message);
        expect(
          left
            .filter(({ message }) => message === issue.message || !former.includes(message))
            .map(({ message }) => message),
          `${issue.message}\n${issue.hint}\n${mended}`,
        ).toEqual([]);
      }
    }
  });

  test('there are such hints', () => {
    expect(statements.length).toBeGreaterThan(20);
  });
});
