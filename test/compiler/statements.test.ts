// A kernel's text means what it means in JavaScript: each of these bodies is run both ways.

import { describe, expect, test } from 'vitest';
import { compile, kernelOf, runCompiled } from './support.ts';

const schema = { y: 'i32[]', f: 'f64[]', k: 'i32', n: 'index' } as const;

/** Bodies over y (i32[32]), f (f64[32]), k and n, in which the thread's rank is always 0. */
const bodies: Readonly<Record<string, string>> = {
  'postfix and prefix': 'let i = 0; y[i++] = i; y[++i] = i; y[5] = i-- - --i; y[6] = i;',
  'operands keep their order':
    'let i = 1; y[0] = i + i++ * 10 + i * 100 + ++i * 1000; y[i] = i = 7; y[9] = i;',
  'an index is evaluated before the value': 'let i = 2; y[i] = (i = 5, 9); y[i] += i++; y[8] = i;',
  'compound assignments':
    'let a = k; a += 3; a -= 1; a *= 5; a %= 7; a <<= 3; a >>= 1; a |= 64; a &= 127; a ^= 3; y[0] = a; let b = f[0]; b /= 3; b **= 2; f[1] = b;',
  'chained assignments': 'let a, b; a = b = k + 1; y[0] = y[1] = a + b; y[2] = y[0] - y[1];',
  'logical assignments': 'let a = 0; a ||= k; let b = 5; b &&= k + 1; y[0] = a; y[1] = b;',
  'commas and ternary statements':
    'let a = 0; a++, a += 2, k > 2 ? y[0] = a : y[1] = a, k > 2 && (y[2] = 4), k > 2 || (y[3] = 5);',
  'short circuits keep effects back':
    'let c = 0; const t = (v) => { c++; return v; }; y[0] = t(false) && t(true) ? 1 : 2; y[1] = t(true) || t(true) ? 1 : 2; y[2] = c;',
  'values of && and ||':
    'y[0] = k && n; y[1] = 0 || k; y[2] = (k > 100) || (n > 0) ? 1 : 0; f[0] = f[5] || 2.5; f[1] = f[6] && 1.5;',
  'early return': 'y[0] = 1; if (k > 0) return; y[0] = 2;',
  'nested loops with labels':
    'let c = 0; outer: for (let i = 0; i < 5; i++) { for (let j = 0; j < 5; j++) { if (j === 3) continue outer; if (i === 3) break outer; c += i * 10 + j; } c += 1000; } y[0] = c;',
  'a labelled block':
    'found: { for (let i = 0; i < 8; i++) if (i * i > k) { y[0] = i; break found; } y[0] = -1; }',
  'while and do':
    'let i = 10, c = 0; while (i-- > 3) { if (i === 5) continue; c += i; } do { c *= 2; if (c > 500) continue; c++; } while (c < 400 && i++ < 100); y[0] = c; y[1] = i;',
  'a do loop whose test has effects':
    'let i = 0, c = 0; do { if (i === 2) continue; c += i; } while (i++ < 5); y[0] = c; y[1] = i;',
  'a for loop without anything': 'let i = 0; for (;;) { if (++i > 6) break; } y[0] = i;',
  'continue runs the update':
    'let c = 0; for (let i = 0, j = 9; i < j; i++, j--) { if (i === 2) continue; c += i * j; } y[0] = c;',
  'a switch':
    'for (let i = 0; i < 6; i++) { switch (i) { case 0: y[i] = 5; break; case 1: case 2: y[i] = 6; break; default: y[i] = 7; break; case 4: y[i] = 8; } }',
  'a switch that falls through':
    'for (let i = 0; i < 7; i++) { let c = 0; switch (i) { case 1: c += 1; case 2: c += 10; default: c += 100; case 3: c += 1000; break; case 4: { c += 5; break; } case 5: c += 7 } y[i] = c; }',
  'a switch with jumps':
    'let c = 0; for (let i = 0; i < 7; i++) { switch (i % 3) { case 0: continue; case 1: if (i > 3) break; c += 1; break; default: c += 10; if (c > 15) return void (y[0] = c); } c += 100; } y[1] = c;',
  'a switch over words':
    "const w = k > 2 ? 'a' : k > 1 ? 'b' : 'c'; switch (w) { case 'a': y[0] = 1; break; case 'b': y[0] = 2; break; default: y[0] = 3; } if (w !== 'c') y[1] = 4;",
  'functions with several returns':
    'const sign = (v) => { if (v < 0) return -1; for (let i = 0; i < 3; i++) if (v === i) return i * 100; return 1; }; y[0] = sign(-k); y[1] = sign(2); y[2] = sign(k) + sign(0);',
  'function declarations are hoisted':
    'y[0] = twice(k) + thrice(k); function twice(v) { return v * 2; } function thrice(v) { return twice(v) + v; }',
  'functions see and change what is around them':
    'let c = 0; const add = (v) => { c += v; }; add(2); add(k); y[0] = c; const next = () => c++; y[1] = next() + next() * 10; y[2] = c;',
  'functions of functions':
    'const apply = (g, v) => g(g(v)); const h = function (v) { return v + k; }; y[0] = apply(h, 1); y[1] = apply((v) => v * 3, 2);',
  'default arguments':
    'const clamp = (v, low = 2, high = low + 3) => Math.min(Math.max(v, low), high); y[0] = clamp(9); y[1] = clamp(0, 1); y[2] = clamp(9, 1, 7); y[3] = clamp(9, undefined, 7);',
  'parameters that change':
    'const count = (v) => { let c = 0; while (v > 0) { v = v >> 1; c++; } return c; }; y[0] = count(200); y[1] = count(k);',
  'objects and lists as results':
    'const both = (v) => ({ low: v - 1, high: v + 1 }); const { low, high: top } = both(k); y[0] = low; y[1] = top; const pair = (v) => [v, v * v]; const [a, b] = pair(4); y[2] = a; y[3] = b;',
  swapping:
    'let a = k, b = 9; [a, b] = [b, a]; y[0] = a; y[1] = b; [y[2], y[3]] = [y[0] + 1, y[1] + 1]; [y[2], y[3]] = [y[3], y[2]];',
  'lists indexed by constants and variables':
    'const t = [3, k, 5, 7]; let c = 0; for (let i = 0; i < t.length; i++) c = c * 10 + t[i]; y[0] = c; y[1] = t[2] + t[1];',
  'lists that are assigned':
    'const t = [0, 0, 0]; for (let i = 0; i < 9; i++) t[i % 3] += i; y[0] = t[0]; y[1] = t[1]; y[2] = t[2]; const s = [0, 0]; s[k > 0 ? 1 : 0] += f[2]; f[10] = s[0]; f[11] = s[1];',
  destructuring:
    'const [a, , b = 4, ...rest] = [1, 2, undefined, 5, 6]; y[0] = a; y[1] = b; y[2] = rest[1]; const { x, z: w = 7 } = { x: 3 }; y[3] = x; y[4] = w; const [p, q] = y; y[5] = p + q;',
  'var as older targets write it':
    'var a = 1, b; if (k > 0) { var c = 5; b = c; } else { b = 2; } for (var i = 0; i < 3; i++) { var d = i * 2; a += d; } var a; y[0] = a; y[1] = b; y[2] = i; y[3] = c;',
  'minified literals': 'let t = !0, u = !1; y[0] = t && !u ? 1 : 0; y[1] = 1e3; f[0] = 1 / 4; f[1] = -1 / 0;',
  'remainders take the sign of the dividend':
    'y[0] = -7 % 3; y[1] = (k - 12) % 5; y[2] = 7 % (k - 8); f[0] = -7.5 % 2; f[1] = f[3] % 1.5;',
  bits: 'y[0] = k & 6 | 8 ^ 3; y[1] = ~k; y[2] = -1 >>> 28; y[3] = -16 >> 2; y[4] = (k - 100) >>> 30; y[5] = 1 << k; y[6] = ~~f[3]; y[7] = f[3] | 0; y[8] = f[4] & 255;',
  'integer quotients':
    'for (let i = -7; i <= 7; i++) { y[i + 7] = Math.trunc(i / 3) + 10 * Math.floor(i / 3) + 100 * Math.ceil(i / 3); y[i + 15] = Math.floor(i / 4) + 100 * (i / 2 | 0); } y[31] = ~~(n / 3);',
  Math: 'f[0] = Math.max(f[1], f[2], 0.5); f[1] = Math.hypot(f[3], f[4]); f[2] = Math.sqrt(f[3]) + Math.cbrt(f[3]); f[5] = Math.atan2(f[3], -1); f[6] = Math.round(-2.5 * k); f[7] = Math.sign(f[4]); f[8] = Math.PI * f[3]; f[9] = f[3] ** 3 - Math.pow(f[3], 0.5); y[0] = Math.abs(k - 9); y[1] = Math.min(k, 2); y[2] = Math.sign(k - 4) + Math.imul(k, 7) + Math.clz32(k); f[12] = Math.fround(0.1) * 2;',
  'NaN is no number':
    'const nan = f[0] - f[0] + NaN; y[0] = nan !== nan ? 1 : 0; y[1] = nan > 0 ? 1 : 2; y[2] = !(nan <= 0) ? 1 : 2; if (nan) y[3] = 1; else y[3] = 2; y[4] = Number.isNaN(nan) && isFinite(f[3]) && !Number.isInteger(f[3]) ? 1 : 0; y[5] = Number.isFinite(1 / 0) ? 1 : 0;',
  subarray:
    'const a = y.subarray(4), b = a.subarray(2, 5); b[0] = b.length; a[0] = a.length; let v = y; for (let i = 0; i < 3; i++) { v = v.subarray(2); v[1] = i; } y[20] = (k > 2 ? y.subarray(1) : y.subarray(2))[5]; y[21] = (k > 2 ? y.subarray(1, 3) : y).length;',
  'booleans are numbers too':
    'let c = 0; for (let i = 0; i < 9; i++) c += i % 3 === 1; y[0] = c; y[1] = +(k > 2); y[2] = (k > 2) + (k > 3);',
  'a view that moves':
    'let a = y.subarray(0), b = y.subarray(8); for (let i = 0; i < 4; i++) { a[i] = i; b[i] = 10 * i; const t = a; a = b; b = t; } y[16] = a[1];',
  'a view with an end that moves':
    'let a = y.subarray(0, 9); for (let i = 0; i < 3; i++) { y[a.length] = i; a = a.subarray(2); } y[20] = a.length; a = a.subarray(1, 2); y[21] = a.length; a = y; y[22] = a.length;',
};

function arrays() {
  return {
    y: Int32Array.from({ length: 32 }, (_, i) => (i * 7) % 11),
    f: Float64Array.from({ length: 32 }, (_, i) => (i - 3.5) * 1.75),
  };
}

const cuda = {
  thisThreadBlock: () => ({ threadRank: () => 0, size: () => 1 }),
  threadIdx: { x: 0, y: 0, z: 0 },
};

describe.each(Object.entries(bodies))('%s', (_name, text) => {
  test.each([1, 3, 6])('with k = %i', (k) => {
    const kernel = kernelOf(schema, `({ y, f, k, n }, cuda) => { ${text} }`);
    const [expected, actual] = [arrays(), arrays()];
    (kernel.body as (data: object, cuda: object) => void)({ ...expected, k, n: 13 }, cuda);
    runCompiled(kernel, { arguments: { ...actual, k, n: 13 } });
    expect(actual).toEqual(expected);
  });
});

test('what cannot be reached is not compiled', () => {
  const { program } = compile(
    kernelOf(
      { y: 'f32[]', wide: 'constant bool' },
      '({ y, wide }) => { if (wide) y[0] = 1; else y.absent(); return; y[1] = 2; }',
    ),
    { constants: { wide: true } },
  );
  expect(program.body.map(({ kind }) => kind)).toEqual(['store', 'return']);
});
