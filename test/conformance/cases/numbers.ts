// Functions of numbers that CUDA has and JavaScript has not.

import { kernel } from 'warpstage';
import { type Cases, integers } from '../case.ts';

const edges = [0, 1, -1, 2, 3, -3, 0x7fffffff, -0x80000000, 0x10000, 0xffff, -0x10000, 123456789, -987654321];
const pairs = edges.flatMap((a) => edges.map((b) => [a, b] as const));

const upperHalves = kernel(
  { signed: 'i32[]', unsigned: 'u32[]', known: 'i32[]', a: 'readonly i32[]', b: 'readonly i32[]' },
  ({ signed, unsigned, known, a, b }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= a.length) return;
    signed[i] = cuda.mulhi(a[i]!, b[i]!);
    unsigned[i] = cuda.umulhi(cuda.u32(a[i]!), cuda.u32(b[i]!));
    known[i] = cuda.mulhi(-5, 0x40000000) + cuda.mulhi(a[i]!, 0x10000);
  },
);

/** Rounded to thousandths, as a GPU's last bits may differ. */
const roots = kernel({ narrow: 'i32[]', wide: 'i32[]', x: 'readonly f64[]' }, ({ narrow, wide, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  narrow[i] = cuda.i32(Math.round(cuda.rsqrt(cuda.f32(x[i]!)) * 1000));
  wide[i] = cuda.i32(Math.round(cuda.rsqrt(x[i]!) * 1000));
});

const saturated = kernel(
  { narrow: 'f32[]', wide: 'f64[]', ratios: 'f32[]', x: 'readonly f64[]' },
  ({ narrow, wide, ratios, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= x.length) return;
    narrow[i] = cuda.saturate(cuda.f32(x[i]!));
    wide[i] = cuda.saturate(x[i]!);
    ratios[i] = cuda.saturate(i / 4);
  },
);

const floats = [0, -0, 1, 0.5, -0.5, 1.5, 1e-40, -1e300, 1e300, Infinity, -Infinity, NaN, 1 - 2 ** -30];
const clamped = (x: number) => (x > 0 ? Math.min(x, 1) : 0);
const high = (a: bigint, b: bigint) => Number(BigInt.asIntN(32, (a * b) >> 32n));
const u32 = (x: number) => BigInt(x >>> 0);

export const numberCases: Cases = [
  {
    name: 'the upper halves of products',
    kernel: upperHalves,
    grid: Math.ceil(pairs.length / 32),
    block: 32,
    data: {
      signed: new Int32Array(pairs.length),
      unsigned: new Uint32Array(pairs.length),
      known: new Int32Array(pairs.length),
      a: integers(pairs.length, (i) => pairs[i]![0]),
      b: integers(pairs.length, (i) => pairs[i]![1]),
    },
    expected: {
      signed: integers(pairs.length, (i) => high(BigInt(pairs[i]![0]), BigInt(pairs[i]![1]))),
      unsigned: Uint32Array.from(pairs, ([a, b]) => high(u32(a), u32(b)) >>> 0),
      known: integers(pairs.length, (i) => -2 + (pairs[i]![0] >> 16)),
    },
  },
  {
    name: 'one divided by square roots',
    kernel: roots,
    grid: 1,
    block: 32,
    data: {
      narrow: new Int32Array(6),
      wide: new Int32Array(6),
      x: Float64Array.of(4, 2, 100, 0.25, 1, 1e12),
    },
    expected: {
      narrow: Int32Array.of(500, 707, 100, 2000, 1000, 0),
      wide: Int32Array.of(500, 707, 100, 2000, 1000, 0),
    },
  },
  {
    name: 'floats from 0 to 1',
    kernel: saturated,
    grid: 1,
    block: 32,
    data: {
      narrow: new Float32Array(floats.length),
      wide: new Float64Array(floats.length),
      ratios: new Float32Array(floats.length),
      x: Float64Array.from(floats),
    },
    expected: {
      narrow: Float32Array.from(floats, (x) => clamped(Math.fround(x))),
      wide: Float64Array.from(floats, clamped),
      ratios: Float32Array.from(floats, (_, i) => clamped(i / 4)),
    },
  },
];
