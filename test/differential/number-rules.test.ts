// The paragraph on numbers of docs/language.md, a sentence at a time, on every target.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel, WarpstageError } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { interpreter } from '../support/interpreter.ts';
import { isForCompiler } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import { atLength } from '../support/thorough.ts';
import { randomLimit, randomRuns } from './tape.ts';

const schema = {
  d: 'f64[]',
  f: 'f32[]',
  h: 'i32[]',
  b: 'u8[]',
  n: 'index',
  i: 'i32',
  u: 'u32',
  x: 'f32',
  w: 'f64',
  size: 'constant index = 12',
} as const;

const given = { n: 2 ** 31 - 1, i: -7, u: 4_000_000_000, x: 0.5, w: 0.1 };

/** What a thread leaves in d[0], or the error of a kernel that is none. */
function outcome(statements: string, indexType: 'i32' | 'i64' = 'i32', native = true): number | string {
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => { ${statements} }`;
  const made = kernel(schema, new Function(`return ${text}`)(), { name: 'rule' });
  const arrays = {
    d: Float64Array.of(0, 0),
    f: Float32Array.of(0.1, 3),
    h: Int32Array.of(7, 2),
    b: Uint8Array.of(10, 15),
  };
  try {
    const { arguments: results } = runEverywhere(
      made,
      { grid: 1, block: 1, indexType, arguments: { ...given, ...arrays } },
      { native },
    );
    return (results.d as Float64Array)[0]!;
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues[0]!.code;
  }
}

const rules: Readonly<Record<string, readonly (readonly [statements: string, outcome: number | string])[]>> =
  {
    '`index` is what .length, .size() and .threadRank() give': [
      ['let v = h.length; v = n; d[0] = v;', 2 ** 31 - 1],
      ['d[0] = cuda.thisThreadBlock().size() + cuda.thisGrid().threadRank() + n;', -(2 ** 31)],
    ],
    'it is signed': [['d[0] = cuda.thisGrid().threadRank() - 1;', -1]],
    'a literal takes its type from what it is combined with': [
      ['d[0] = 0.1 * w;', 0.1 * 0.1],
      ['d[0] = 0.1 + x;', Math.fround(Math.fround(0.1) + 0.5)],
      ['d[0] = 1 + u;', 4_000_000_001],
    ],
    'and so does a variable that starts as one': [
      ['let s = 0; s += f[0]; d[0] = s;', Math.fround(0.1)],
      ['let s = 0; s += w; d[0] = s;', 0.1],
      ['let s = 0; s = u; d[0] = s;', 4_000_000_000],
    ],
    'unconstrained it is i32, or f32 if its value has a fraction': [
      ['let c = 65536; c *= 65536; d[0] = c + i - i;', 0],
      ['let c = 0.5; c += 0; h[0] = cuda.i32(c * 4); d[0] = h[0];', 2],
    ],
    '`index` with i32 or u32 gives `index`': [
      ['d[0] = n + i;', 2 ** 31 - 8],
      ['d[0] = n + u;', (2 ** 31 - 1 + 4_000_000_000) | 0],
    ],
    'i32 with u32 needs a cast in arithmetic': [
      ['d[0] = i + u;', 'WS1004'],
      ['d[0] = u % i;', 'WS1004'],
      ['d[0] = Math.max(i, u);', 'WS1004'],
      ['d[0] = cuda.u32(i) + u;', (4_000_000_000 - 7) % 2 ** 32],
    ],
    'and compares exactly': [
      ['d[0] = i < u ? 1 : 2;', 1],
      ['d[0] = cuda.i32(u) === u ? 1 : 2;', 2],
      ['d[0] = n < u ? 1 : 2;', 1],
      ['d[0] = i > -8 && i < 3e9 ? 1 : 2;', 1],
    ],
    'an integer with f32 gives f32': [
      ['d[0] = i * x;', -3.5],
      ['d[0] = n + x;', 2 ** 31],
    ],
    'integers of 8 and 16 bits compute as i32': [
      ['d[0] = b[0] - b[1];', -5],
      ['d[0] = Math.abs(b[0] - b[1]);', 5],
      ['d[0] = b[0] - 128 < 0 ? 1 : 2;', 1],
      ['f[0] = b[0] - b[1]; d[0] = f[0];', -5],
      ['d[0] = cuda.u16(-1) * cuda.i8(255);', -65_535],
    ],
    'i32 with u32 is allowed where no result depends on the sign': [
      ['d[0] = i & u;', (-7 & 4_000_000_000) >>> 0],
      ['d[0] = u | i;', (-7 | 4_000_000_000) >>> 0],
      ['d[0] = (i ^ u) | 0;', -7 ^ 4_000_000_000],
    ],
    'i32, u32 and index wrap': [
      ['d[0] = i * 1000000000;', Math.imul(-7, 1_000_000_000)],
      ['d[0] = u + u;', 8_000_000_000 % 2 ** 32],
      ['d[0] = u - 4000000001;', 2 ** 32 - 1],
      ['d[0] = n + 1;', -(2 ** 31)],
      ['d[0] = n * 2;', -2],
    ],
    'comparing with undefined is an error': [
      ['if (i === undefined) d[0] = 1;', 'WS1006'],
      ['let v; if (v != null) d[0] = 1;', 'WS1006'],
      ['d[0] = h[0] ?? 1;', 'WS1006'],
    ],
    '/ on two integers is an error': [
      ['const q = i / h[1]; d[0] = q;', 'WS1005'],
      ['h[0] = i / h[1];', 'WS1005'],
      ['d[0] = i / h[1] + 1;', 'WS1005'],
    ],
    'that offers Math.trunc or a cast': [
      ['d[0] = Math.trunc(i / h[1]) + 0.25;', -2.75],
      ['const q = cuda.f32(i) / h[1]; d[0] = q;', -3.5],
    ],
    'or of constants whose quotient is whole': [
      ['const q = size / 2; d[0] = q * x;', 3],
      ['let q = n; q = size / -3; q += 1; d[0] = q;', -3],
      ['let q = 0; q = size / 8; d[0] = q + w;', 1.5 + 0.1],
      ['let q = 0; q = size / 4; q *= 1000000000; q += w; d[0] = q;', 3e9 + 0.1],
      ['d[0] = h[size / 12];', 2],
      [
        'const s = cuda.sharedArray("i32", size / 4); d[0] = s.length + cuda.thisThreadBlock().size() / 1;',
        4,
      ],
      ['h[0] = size / 8; d[0] = h[0];', 'WS1005'],
      ['const q = size / 0; d[0] = q;', 'WS1005'],
      ['const q = cuda.i32(-2147483648) / (size - 13); d[0] = q;', 'WS1005'],
      ['f[0] = size / 8; d[0] = f[0];', 1.5],
      ['d[0] = cuda.i32(0) / cuda.i32(-1);', -0],
    ],
    'except where its value goes directly to a float: then it divides as f32': [
      ['f[0] = i / 3; d[0] = f[0];', Math.fround(-7 / 3)],
      ['d[0] = i / 3 * x;', Math.fround(Math.fround(-7 / 3) * 0.5)],
      ['f[0] = n / 1; d[0] = f[0];', 2 ** 31],
    ],
    'or as f64 if that is the target': [
      ['d[0] = i / 3;', -7 / 3],
      ['d[0] = n / 2;', (2 ** 31 - 1) / 2],
      ['d[0] = i / 3 + w;', -7 / 3 + 0.1],
    ],
    'casts drop the fraction and wrap': [
      ['d[0] = cuda.i32(w * 1e11);', (0.1 * 1e11) | 0],
      ['d[0] = u | 0;', 4_000_000_000 | 0],
      ['d[0] = i >>> 0;', -7 >>> 0],
    ],
  };

describe.each(Object.entries(rules))('%s', (_, cases) => {
  // One of each sentence for the system's compiler, whose code is made of WebAssembly's.
  test.each(cases.map((one, at) => [...one, at === 0] as const))('%s', (statements, expected, native) => {
    expect(outcome(statements, 'i32', native)).toBe(expected);
  });
});

test('an index is as wide as the launch needs', () => {
  expect(outcome('d[0] = n + 1;', 'i64')).toBe(2 ** 31);
  expect(outcome('d[0] = n * n;', 'i64')).toBe((2 ** 31 - 1) ** 2);
});

test(
  'a quotient of constants is what JavaScript has where it is whole, and an error elsewhere',
  () => {
    const types = ['i32', 'u32', 'index'] as const;
    const integer = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.integer());
    const divisor = fc.oneof(fc.integer({ min: -6, max: 6 }), integer);
    const forms = ['const q = a / b; y[0] = q;', 'y[0] = [a / b][0];', 'h[0] = a / b; y[0] = h[0];'];
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        integer,
        divisor,
        fc.constantFrom(...forms),
        (type, x, by, form) => {
          const [a, b] = type === 'u32' ? [x >>> 0, by >>> 0] : [x, by];
          const schema = { y: 'f64[]', h: 'u32[]', a: `constant ${type}`, b: `constant ${type}` } as const;
          const made = kernel(schema, new Function(`return ({ y, h, a, b }) => { ${form} }`)());
          const y = new Float64Array(1);
          const launch = { grid: 1, block: 1, arguments: { y, h: new Uint32Array(1), a, b } };
          const most = type === 'u32' ? 2 ** 32 : 2 ** 31;
          if (!Number.isInteger(a / b) || a / b >= most) {
            expect(() => runKernel(interpreter('eager'), made, launch)).toThrow("'/' divides two integers");
            return;
          }
          const { arguments: results } = runEverywhere(made, launch, {
            native: isForCompiler(`${a} / ${b}`),
          });
          const stored = form.startsWith('h') ? (a / b) >>> 0 : a / b;
          expect((results.y as Float64Array)[0]).toBe(stored + 0);
        },
      ),
      randomRuns(atLength ? 100 : 20),
    );
  },
  randomLimit(100),
);
