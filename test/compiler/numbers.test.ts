// The number rules of docs/language.md: which type an expression and a variable has.

import { describe, expect, test } from 'vitest';
import { mistakesIn, statementsOf, variablesOf } from './support.ts';

const schema = {
  i8: 'i8[]',
  u16: 'u16[]',
  i: 'i32',
  u: 'u32',
  n: 'index',
  f: 'f32',
  d: 'f64',
  flag: 'bool',
  I: 'i32[]',
  U: 'u32[]',
  F: 'f32[]',
  D: 'f64[]',
} as const;
const names = Object.keys(schema).join(', ');
const body = (text: string) => `({ ${names} }, cuda) => { ${text} }`;

/** The type of an expression: that of a variable which starts with it. */
function typeOf(expression: string, indexType: 'i32' | 'i64' = 'i64') {
  return variablesOf(schema, body(`let probe = ${expression}; probe = probe;`), { indexType }).probe;
}

describe('expressions', () => {
  test.each([
    // index is 64 bits wide here, so that it shows.
    ['i + n', 'i64'],
    ['u + n', 'i64'],
    ['n * 2', 'i64'],
    ['i + 1', 'i32'],
    ['u - 1', 'u32'],
    ['i * f', 'f32'],
    ['n + d', 'f64'],
    ['f * d', 'f64'],
    ['i + 0.5', 'f32'],
    ['n * 0.5', 'f32'],
    ['f * 2', 'f32'],
    ['f * 0.5', 'f32'],
    ['d * 0.1', 'f64'],
    ['i / f', 'f32'],
    ['1 / d', 'f64'],
    ['flag + i', 'i32'],
    ['flag + flag', 'i32'],
    ['i < u', 'bool'],
    ['!i', 'bool'],
    ['flag && i < 3', 'bool'],
    ['flag & flag', 'bool'],
    ['-u', 'u32'],
    ['+flag', 'i32'],
    ['~f', 'i32'],
    ['f | 0', 'i32'],
    ['n | 0', 'i32'],
    ['i >>> 0', 'u32'],
    ['n >>> 0', 'u32'],
    ['i >>> 2', 'u32'],
    ['n >>> 2', 'i64'],
    ['u >> 2', 'u32'],
    ['n << 2', 'i64'],
    ['1 << n', 'i32'],
    ['u & 255', 'u32'],
    ['n & 255', 'i64'],
    ['f & 255', 'i32'],
    ['flag ? i : 2', 'i32'],
    ['flag ? f : 2', 'f32'],
    ['flag ? i : 0.5', 'f32'],
    ['flag ? n : i', 'i64'],
    ['i8[0]', 'i32'],
    ['u16[0]', 'i32'],
    ['u16[0] - i', 'i32'],
    ['cuda.u8(f)', 'i32'],
    ['i & u', 'u32'],
    ['u | i8[0]', 'u32'],
    ['f * Math.trunc(i / 2)', 'f32'],
    ['i / 2 * f', 'f32'],
    ['d + i / u16[0]', 'f64'],
    ['i / 2 + 0.5', 'f32'],
    ['flag ? i / 2 : f', 'f32'],
    ['Math.sqrt(n / 2)', 'f32'],
    ['Math.hypot(i / 2, d)', 'f64'],
    ['Math.max(0.5, i / 2)', 'f32'],
    ['i / 2 < 0.5', 'bool'],
    ['cuda.f64(i / 2)', 'f64'],
    ['cuda.u32(i / 2)', 'u32'],
    ['F[0] + I[0]', 'f32'],
    ['F.length', 'i64'],
    ['cuda.threadIdx.x', 'i64'],
    ['cuda.thisGrid().size()', 'i64'],
    ['cuda.f32(d)', 'f32'],
    ['cuda.f64(i)', 'f64'],
    ['cuda.index(i)', 'i64'],
    ['cuda.bool(f)', 'bool'],
    ['Math.fround(d)', 'f32'],
    ['Math.sqrt(i)', 'f32'],
    ['Math.sin(d)', 'f64'],
    ['Math.pow(i, 0.5)', 'f32'],
    ['Math.max(i, 2)', 'i32'],
    ['Math.max(i, n)', 'i64'],
    ['Math.min(i, f)', 'f32'],
    ['Math.abs(n)', 'i64'],
    ['Math.floor(f)', 'f32'],
    ['Math.floor(i)', 'i32'],
    ['Math.trunc(n / 2)', 'i64'],
    ['Math.floor(u / 2)', 'u32'],
    ['Math.ceil(i / 2)', 'i32'],
    ['n / 2 | 0', 'i32'],
    ['n ** 2', 'i64'],
    ['f ** 3', 'f32'],
    ['Math.imul(u, u)', 'i32'],
    ['Math.clz32(n)', 'i32'],
  ])('%s is %s', (expression, type) => {
    expect(typeOf(expression)).toBe(type);
  });

  test('literals among themselves are computed as JavaScript does', () => {
    const text = statementsOf(
      schema,
      body('D[0] = 1 / 3 + 2 ** 0.5; D[1] = 7 / 2; D[2] = (5 / 2 | 0) + -1 % 3; D[3] = 1e3 * Math.PI'),
    );
    expect(text).toBe('D[0] = 1.7475468957064284\nD[1] = 3.5\nD[2] = 1.0\nD[3] = 3141.592653589793');
  });

  test('a literal takes the type that it is combined with', () => {
    expect(statementsOf(schema, body('F[0] = f * 0.1; D[0] = d * 0.1; F[1] = f + 1; U[0] = u + -1;'))).toBe(
      'F[0] = f * 0.10000000149011612f\nD[0] = d * 0.1\nF[1] = f + 1f\nU[0] = u + 4294967295u',
    );
  });

  test('a choice of literals takes the type that it is combined with', () => {
    expect(
      statementsOf(schema, body('const s = f < 0 ? -1 : 1; F[0] = s * f; D[0] = s * d; I[0] = s;')),
    ).toBe('s = f < 0f\nF[0] = (s ? -1f : 1f) * f\nD[0] = (s ? -1.0 : 1.0) * d\nI[0] = s ? -1 : 1');
  });

  test('i32, u32 and index compare exactly', () => {
    expect(
      statementsOf(schema, body('I[0] = i < u ? 1 : 2; I[1] = n >= u ? 1 : 2; I[2] = i < 3e9 ? 1 : 2;')),
    ).toBe(
      'I[0] = i64(i) < i64(u) ? 1 : 2\nI[1] = i64(n) >= i64(u) ? 1 : 2\nI[2] = i64(i) < 3000000000n ? 1 : 2',
    );
  });

  test('a store keeps the low bits of integers and rounds to floats', () => {
    expect(
      statementsOf(
        schema,
        body('i8[0] = n; u16[0] = i; I[0] = u; U[0] = -1; F[0] = d; F[1] = n; D[0] = f; I[1] = flag;'),
        { indexType: 'i64' },
      ),
    ).toBe(
      [
        'i8[0n] = i32(n)',
        'u16[0n] = i',
        'I[0n] = i32(u)',
        'U[0n] = 4294967295u',
        'F[0n] = f32(d)',
        'F[1n] = f32(n)',
        'D[0n] = f64(f)',
        'I[1n] = i32(flag)',
      ].join('\n'),
    );
  });

  test('integer division is written without a branch where nothing is negative', () => {
    expect(
      statementsOf(
        schema,
        body('I[0] = Math.floor(u / 3); I[1] = Math.floor(cuda.threadIdx.x / 3); I[2] = Math.floor(i / 4);'),
      ),
    ).toBe('I[0] = i32(u / 3u)\nI[1] = threadRank / 3\nI[2] = i >> 2');
  });
});

describe('variables that start as a literal', () => {
  test.each([
    ['takes the type of what it is assigned', 'let v = 0; v += F[0];', 'f32'],
    ['through another variable', 'let w = 0; let v = 0; v = w + 1; w = D[0];', 'f64'],
    ['in a loop, before it is known', 'let v = 0; for (let k = 0; k < 3; k++) { I[k] = v; v = n; }', 'i64'],
    ['joins several', 'let v = 0; v = I[0]; v = F[0];', 'f32'],
    ['joins with a fraction', 'let v = 0.5; v = I[0];', 'f32'],
    ['takes the type of what it is compared with', 'let v = 0; while (v < n) v++;', 'i64'],
    ['takes the type of what it is combined with', 'let v = 1; v += 1; D[0] = v * d;', 'f64'],
    ['prefers an integer use', 'let v = 0; v += 1; F[0] = v * f; I[0] = v & i;', 'i32'],
    ['counts as an integer', 'let v = 0; v++; F[0] = v;', 'i32'],
    ['is an index where it is one', 'let v = 0; v += 1; F[v] = f;', 'i64'],
    ['is i32 by itself', 'let v = 3; v += 2;', 'i32'],
    ['is f32 with a fraction', 'let v = 0.5; v *= 2;', 'f32'],
    ['is i32 however the literal is spelt', 'let v = 1e3; v += 1.0;', 'i32'],
    ['is f32 if it is infinite', 'let v = -Infinity; v += 1;', 'f32'],
    ['takes floats after all', 'let v = -Infinity; v = Math.max(v, D[0]);', 'f64'],
    ['may start with nothing', 'let v; if (flag) v = 1; else v = f;', 'f32'],
    ['may be a bool', 'let v; v = i > 3;', 'bool'],
    ['takes bits as integers', 'let v = 1; v <<= 3;', 'i32'],
    ['takes u32 from bits', 'let v = 2166136261; v = (v ^ u) * 16777619;', 'u32'],
    ['through functions', 'let v = 0; const add = (x) => { v += x; }; add(f);', 'f32'],
    [
      'a result of several returns',
      'const g = (x) => { if (x > 1) return 0; return x; }; let v = g(d); v = v;',
      'f64',
    ],
  ])('%s', (_name, text, type) => {
    expect(variablesOf(schema, body(text), { indexType: 'i64' }).v).toBe(type);
  });

  test('a list that becomes an array too', () => {
    expect(statementsOf(schema, body('const t = [0, 0]; t[i] += F[0]; F[1] = t[u];'))).toBe(
      't[0] = 0f\nt[1] = 0f\nt[i] = t[i] + F[0]\nF[1] = t[i32(u)]',
    );
  });
});

describe('variables that start with a type', () => {
  test.each([
    ['i32 widens to index', 'let v = i; v += n;', 'i64'],
    ['u32 widens to index', 'let v = u; v = n;', 'i64'],
    ['f32 widens to f64', 'let v = f; v *= d;', 'f64'],
    ['floats take integers', 'let v = f; v += n;', 'f32'],
    ['index stays', 'let v = n; v -= 1;', 'i64'],
  ])('%s', (_name, text, type) => {
    expect(variablesOf(schema, body(text), { indexType: 'i64' }).v).toBe(type);
  });

  test.each([
    ['let v = i; v = f;', "'v' is i32, and is assigned a number of type f32"],
    ['let v = i; v = u;', "'v' is i32, and is assigned a number of type u32"],
    ['let v = flag; v = i;', "'v' is bool, and is assigned a number of type i32"],
  ])('%s is a mistake', (text, message) => {
    expect(mistakesIn(schema, body(text))).toEqual([expect.stringContaining(`WS1004`)]);
    expect(mistakesIn(schema, body(text))[0]).toContain(message);
  });
});
