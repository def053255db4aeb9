// Functions of floats that JavaScript has not: against values of 60 digits, and a fused sum against exact integers.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mathOperation } from '#warpstage/compiler/arithmetic.js';
import { mathFunctions } from '#warpstage/compiler/functions.js';

/** Made with mpmath, of the f64 as they are. */
const exact = {
  erf: [
    [1e-300, 1.1283791670955126e-300],
    [1e-9, 1.1283791670955127e-9],
    [0.1, 0.1124629160182849],
    [0.3, 0.3286267594591274],
    [0.49999, 0.5204910899433182],
    [0.5, 0.5204998778130465],
    [0.50001, 0.5205086655948966],
    [0.7, 0.6778011938374184],
    [1.0, 0.8427007929497149],
    [1.5, 0.9661051464753108],
    [2.0, 0.9953222650189527],
    [3.3, 0.9999969422902035],
    [5.0, 0.9999999999984626],
    [-0.2, -0.22270258921047847],
    [-0.9, -0.7969082124228322],
    [-4.0, -0.9999999845827421],
  ],
  erfc: [
    [-3.0, 1.9999779095030015],
    [-0.6, 1.6038560908479258],
    [-0.5, 1.5204998778130465],
    [-0.1, 1.1124629160182848],
    [1e-9, 0.9999999988716208],
    [0.3, 0.6713732405408726],
    [0.5, 0.4795001221869535],
    [0.50001, 0.47949133440510344],
    [0.9, 0.20309178757716786],
    [1.7, 0.01620954140922544],
    [2.5, 0.0004069520174449589],
    [3.3, 3.0577097964381654e-6],
    [5.1, 5.49382021755532e-13],
    [8.7, 8.65632347541289e-35],
    [12.3, 9.029925149482068e-68],
    [19.9, 2.9313494281519416e-174],
    [25.1, 5.5149401896856385e-276],
    [26.4, 4.4017768588035426e-305],
  ],
  lgamma: [
    [1e-300, 690.7755278982137],
    [1e-5, 11.512919692895826],
    [0.2, 1.5240638224307845],
    [0.5, 0.5723649429247001],
    [0.75, 0.20328095143129538],
    [0.999, 0.0005780385328913802],
    [1.001, -0.0005763935982833062],
    [1.46, -0.12148500100400743],
    [1.999, -0.0004224618006921073],
    [2.001, 0.000423106734800117],
    [2.5, 0.2846828704729192],
    [3.1, 0.7873750832738625],
    [5.7, 4.28396765503158],
    [9.9, 12.57717990421988],
    [11.99, 17.477885575426185],
    [12.01, 17.526738806509965],
    [30.5, 72.9534711841694],
    [171.3, 708.1149470389969],
    [100000.0, 1051287.7089736569],
    [1e20, 4.505170185988091e21],
    [-0.5, 1.2655121234846454],
    [-1.3, 1.2024757863901114],
    [-2.7, -0.07140708531564569],
    [-5.5, -4.517832174007741],
    [-20.1, -40.318823427233035],
  ],
  sinpi: [
    [0.1, 0.30901699437494745],
    [0.25, Math.SQRT1_2],
    [0.3, 0.8090169943749475],
    [0.5, 1.0],
    [0.75, Math.SQRT1_2],
    [0.9, 0.30901699437494734],
    [1.1, -0.3090169943749477],
    [1.7, -0.8090169943749475],
    [-3.3, 0.8090169943749471],
    [1000000.25, Math.SQRT1_2],
    [2251799813685248.5, 1.0],
  ],
  cospi: [
    [0.1, 0.9510565162951535],
    [0.25, Math.SQRT1_2],
    [0.3, 0.5877852522924731],
    [0.49, 0.03141075907812832],
    [0.6, -0.30901699437494734],
    [0.75, -Math.SQRT1_2],
    [0.9, -0.9510565162951536],
    [1.1, -0.9510565162951535],
    [1.7, 0.587785252292473],
    [-3.3, -0.5877852522924736],
  ],
} as const;

/** Units in the last place, for results above 1e-300. */
const bounds = { erf: 4, erfc: 8, sinpi: 4, cospi: 4 } as const;

describe.each(['erf', 'erfc', 'sinpi', 'cospi'] as const)('%s', (name) => {
  test.each(exact[name].map(([x, value]) => [x, value] as const))('of %d', (x, value) => {
    const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 52);
    expect(Math.abs(mathFunctions[name](x) - value) / unit).toBeLessThanOrEqual(bounds[name]);
  });
});

test.each(exact.lgamma.map(([x, value]) => [x, value] as const))('lgamma of %d', (x, value) => {
  const bound = x > 0 ? 1e-15 * Math.abs(value) : 1e-14 * Math.max(1, Math.abs(value));
  expect(Math.abs(mathFunctions.lgamma(x) - value)).toBeLessThanOrEqual(bound);
});

test('edges', () => {
  const { erf, erfc, lgamma, sinpi, rint, roundAway } = mathFunctions;
  const given = [erf(0), erf(-0), erf(Infinity), erf(-Infinity), erf(NaN), erfc(Infinity), erfc(-Infinity)];
  expect(given).toEqual([0, -0, 1, -1, NaN, 0, 2]);
  expect([lgamma(0), lgamma(-3), lgamma(1), lgamma(2), lgamma(Infinity)]).toEqual([
    Infinity,
    Infinity,
    0,
    0,
    Infinity,
  ]);
  expect([sinpi(3), sinpi(-4), sinpi(0.5), sinpi(Infinity)]).toEqual([0, -0, 1, NaN]);
  expect([0.5, 1.5, 2.5, -0.5, -1.5, 2 ** 53 + 2, -0].map(rint)).toEqual([0, 2, 2, -0, -2, 2 ** 53 + 2, -0]);
  expect([0.5, 2.5, -0.5, 0.49999999999999994, -0.2].map(roundAway)).toEqual([1, 3, -1, 0, -0]);
});

const bits = new BigInt64Array(1);
const float = new Float64Array(bits.buffer);
function next(x: number, steps: bigint): number {
  float[0] = x;
  bits[0]! += steps;
  return float[0]!;
}

/** A finite f64 in units of 2^-2200, which all products of two have. */
function integerOf(x: number): bigint {
  const scaled = (value: number, places: number): bigint =>
    Number.isInteger(value) ? BigInt(value) << BigInt(2200 - places) : scaled(value * 2, places + 1);
  return x === 0 ? 0n : scaled(x, 0);
}
const product = (x: number, y: number) => (integerOf(x) * integerOf(y)) >> 2200n;
const size = (x: bigint) => (x < 0n ? -x : x);

/** No neighbour is nearer, and of two that are as near the even one is taken. */
function expectNearest(result: number, sum: bigint, isSingle: boolean): void {
  const step = isSingle ? 1n << 29n : 1n;
  const away = size(integerOf(result) - sum);
  if (result === 0) {
    expect(away <= integerOf(isSingle ? 2 ** -149 : 2 ** -1074) / 2n).toBe(true);
    return;
  }
  for (const each of [next(result, step), next(result, -step)]) {
    if (!Number.isFinite(each)) continue;
    const other = size(integerOf(each) - sum);
    expect(away <= other, `${result} or ${each}`).toBe(true);
    float[0] = result;
    if (away === other) expect(((bits[0]! / step) & 1n) === 0n, `${result} is odd`).toBe(true);
  }
}

const significand = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const plain = (exponents: number) =>
  fc
    .tuple(significand, significand, fc.integer({ min: -exponents, max: exponents }))
    .map(([a, b, e]) => (a + b / 2 ** 21) * 2 ** e);

test('a fused sum of f64 is rounded once', () => {
  const sum = mathOperation('fma', 'f64');
  fc.assert(
    fc.property(plain(40), plain(40), plain(100), fc.boolean(), (x, y, z, cancels) => {
      const third = cancels ? next(-(x * y), BigInt(Math.trunc(z % 4))) : z;
      if (!Number.isFinite(third)) return;
      expectNearest(sum(x, y, third), product(x, y) + integerOf(third), false);
    }),
    { numRuns: 500 },
  );
});

test('a fused sum of f32 is rounded once', () => {
  const sum = mathOperation('fmaf', 'f32');
  fc.assert(
    fc.property(plain(20), plain(20), plain(50), (a, b, c) => {
      const [x, y, z] = [a, b, c].map(Math.fround) as [number, number, number];
      expectNearest(sum(x, y, z), product(x, y) + integerOf(z), true);
    }),
    { numRuns: 500 },
  );
  // Rounded to f64 first, this lies half way and goes to the even one.
  expect(sum(1 + 2 ** -23, 1 + 2 ** -23, 2 ** -60)).toBe(Math.fround(1 + 2 ** -22));
  expect(sum(1, 1 + 2 ** -23, 2 ** -24 + 2 ** -40)).toBe(1 + 2 ** -22);
  expect(sum(2 ** -24, 1 + 2 ** -23, 1)).toBe(1 + 2 ** -23);
  expect(sum(2 ** -60, 1, Math.fround(2 ** -24))).toBe(Math.fround(2 ** -24));
});

test('a fused sum at the ends of the range', () => {
  const sum = mathOperation('fma', 'f64');
  expect(sum(1e300, 1e300, -Infinity)).toBe(-Infinity);
  expect(sum(2 ** 600, 2 ** 600, -1)).toBe(Infinity);
  expect(sum(2 ** 1023, 2, -(2 ** 1023))).toBe(2 ** 1023);
  expect(sum(2 ** -1074, 0.5, 2 ** -1074)).toBe(2 * 2 ** -1074);
  expect(sum(2 ** -1074, 0.25, 2 ** -1074)).toBe(2 ** -1074);
  expect(sum(-1, 0, -0)).toBe(-0);
  expect(sum(Infinity, 0, 1)).toBe(Number.NaN);
  expect(sum(1, 1, next(1, 0n) * -1)).toBe(0);
  expect(sum(1e200, 1e-200, 1e-300)).toBe(1e200 * 1e-200);
});
