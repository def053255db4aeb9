// What is wrong with a kernel is said with its place, the values, and how to mend it.
//
// The statements of a code stand in one kernel, each on a line of its own: so these tests promise besides
// that independent mistakes are reported together.

import { expect, test } from 'vitest';
import { deviceFunction } from 'warpstage';
import { schema } from './mistake-schema.ts';
import { mistakesInLanguage } from './mistakes-in-language.ts';
import { mistakesInTypes } from './mistakes-in-types.ts';
import { compile, functionOf, kernelOf, mistakesIn } from './support.ts';

const parameters = `{ ${Object.keys(schema).join(', ')} }, cuda`;

const cases = { ...mistakesInTypes, ...mistakesInLanguage };

test.each(Object.entries(cases))('%s', (code, statements) => {
  const text = `(${parameters}) => {\n${statements.map(([statement]) => `{ ${statement} }`).join('\n')}\n}`;
  const expected = statements.flatMap(([, ...mistakes], line) =>
    mistakes.map((mistake) => {
      const [, other, column, rest] = /^(WS\d+ )?(\d+) (.*)$/s.exec(mistake)!;
      return `${other?.trim() ?? code} ${line + 2}:${column} ${rest}`;
    }),
  );
  expect(mistakesIn(schema, text)).toEqual(expected);
});

test('a coverage tool’s counters are named once', () => {
  expect(mistakesIn(schema, '({ y }) => { cov_1x().f[0]++; cov_1x().s[0]++; y[0] = 1; }')).toEqual([
    "WS1011 1:14 cov_1x: a coverage tool has put its counters (cov_1x) into this function (collect coverage with V8's own (vitest: coverage.provider 'v8'; c8), or leave the file out: /* istanbul ignore file */)",
  ]);
});

test('a name of the schema that is not taken', () => {
  expect(mistakesIn({ y: 'f32[]', a: 'f32' }, '({ y }, cuda) => { y[0] = a; }')).toEqual([
    "WS1002 1:27 a: 'a' is in the schema, but is not taken from the first parameter (take it: ({ y, a }, cuda) => …)",
  ]);
  expect(mistakesIn({ y: 'f32[]' }, '({ y }) => { y[cuda.threadIdx.x] = 1; }')).toEqual([
    "WS1002 1:16 cuda: 'cuda' is captured from outside the function (take the intrinsics as the second parameter: (data, cuda) => …)",
  ]);
  expect(mistakesIn({ y: 'f32[]' }, '({ x }) => { x[0] = 1; }')).toEqual([
    "WS1003 1:4 x: the data of 'kernel' has no 'x' (add it to the schema: x: 'f32', or the type that it has)",
  ]);
});

test.each([
  ['readonly f32[][]', 'x[0][0] = 1;', 'f32[][]'],
  ['readonly f32[][][]', 'x[0][0][0] = 1;', 'f32[][][]'],
  ['readonly f32[]', "x.as('i32')[0] = 1;", 'f32[]'],
  ['readonly f32[]', 'const t = x.subarray(1); t[0] = 1;', 'f32[]'],
] as const)('what is read-only, and written: %s, %s', (declared, statement, wanted) => {
  const text = `({ x }) => { ${statement} }`;
  expect(mistakesIn({ x: declared }, text).join()).toContain(`(declare it without readonly: x: '${wanted}')`);
  expect(mistakesIn({ x: wanted }, text)).toEqual([]);
});

test('mistakes inside a device function are reported at their place, once', () => {
  const half = deviceFunction({ v: 'i32' }, functionOf('({ v }) => {\n  return v / 2;\n}') as () => number);
  const text = '({ h, half }) => { h[0] = half({ v: 1 }); h[1] = half({ v: 2 }); }';
  expect(mistakesIn({ h: 'i32[]', half }, text)).toEqual([
    "WS1005 2:10 v / 2: '/' divides two integers (i32), and their quotient need not be one (write Math.trunc(v / 2) for integer division, or cuda.f32(v) / 2 for a float)",
  ]);
});

test('a constant that is not given, or that its type does not hold', () => {
  const kernel = kernelOf({ y: 'f32[]', count: 'constant u32' }, '({ y, count }) => { y[0] = count; }');
  expect(() => compile(kernel)).toThrow("WS1013: the constant 'count' is not given");
  expect(() => compile(kernel, { constants: { count: -1 } })).toThrow(
    "WS1013: the constant 'count' must be an integer from 0 to 4294967295 (u32), and is -1\n  hint: pass one like count: 1 (in a command: --set count=1)",
  );
  const flag = kernelOf({ y: 'f32[]', flag: 'constant bool' }, '({ y, flag }) => { y[0] = flag ? 1 : 2; }');
  expect(() => compile(flag, { constants: { flag: 1 } })).toThrow(
    "WS1013: the constant 'flag' must be true or false, and is the number 1\n  hint: pass one like flag: true (in a command: --set flag=true)",
  );
  const wide = kernelOf({ n: 'constant index = 3000000000' }, '({ n }) => {}');
  expect(compile(wide, { indexType: 'i64' }).program.body).toEqual([]);
  expect(() => compile(wide)).toThrow('which an index of 32 bits does not hold');
});

test.each([
  [
    'async () => {}',
    "WS1001 1:1 async: 'kernel' is an async function (every thread runs a kernel as a plain function; waiting is done by pipelines and sync())",
  ],
  [
    'function* () {}',
    "WS1001 1:1 function*: 'kernel' is a generator (every thread runs a kernel as a plain function; waiting is done by pipelines and sync())",
  ],
])('%s', (text, mistake) => {
  expect(mistakesIn({}, text)).toEqual([mistake]);
});
