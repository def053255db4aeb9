// What is made of integers and of sums that are rounded once: the same bits on every device.

import { kernel } from 'warpstage';
import { type Cases, integers } from '../case.ts';

/** The vectors that the generator's authors publish: counter, key, result. */
const known = [
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
] as const;

const wide = (low: number, high: number) => (BigInt(high) << 32n) | BigInt(low);

const philox = kernel(
  { out: 'u32[]', seeds: 'readonly u64[]', sequences: 'readonly u64[]', counts: 'readonly u64[]' },
  ({ out, seeds, sequences, counts }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= seeds.length) return;
    const bits = cuda.philox(seeds[i]!, sequences[i]!, counts[i]!);
    out[4 * i] = bits.x;
    out[4 * i + 1] = bits.y;
    out[4 * i + 2] = bits.z;
    out[4 * i + 3] = bits.w;
  },
);

/** Draws by one and by four, from any offset, across loops and a function that counts on in the same generator. */
const states = kernel({ out: 'u32[]', offset: 'readonly u64[]' }, ({ out, offset }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  const state = cuda.curandInit(0x1234567890abcdefn, i, offset[0]! + cuda.u64(i));
  let at = 24 * i;
  const put = (from: typeof state) => {
    out[at] = cuda.curand(from);
    at++;
  };
  for (let n = 0; n < 6; n++) {
    if (n === i) continue;
    put(state);
  }
  const four = cuda.curand4(state);
  put(state);
  const more = cuda.curand4(state);
  const rest = out.subarray(at);
  rest[0] = four.x;
  rest[1] = four.y;
  rest[2] = four.z;
  rest[3] = four.w;
  rest[4] = more.x;
  rest[5] = more.y;
  rest[6] = more.z;
  rest[7] = more.w;
  at += 8;
  put(state);
});

/** The words of a subsequence one after the other, as the kernel draws them. */
function drawn(i: number, offset: bigint): number[] {
  const word = (n: bigint) => philoxOnHost(0x1234567890abcdefn, BigInt(i), n >> 2n)[Number(n & 3n)]!;
  const words = Array.from({ length: 16 }, (_, n) => word(offset + BigInt(i) + BigInt(n)));
  const byOne = i < 6 ? 5 : 6;
  const [four, single, more, last] = [
    words.slice(byOne, byOne + 4),
    words[byOne + 4]!,
    words.slice(byOne + 5, byOne + 9),
    words[byOne + 9]!,
  ];
  const all = [...words.slice(0, byOne), single, ...four, ...more, last];
  return [...all, ...new Array<number>(24 - all.length).fill(0)];
}

const uniform = kernel({ out: 'f32[]', bits: 'readonly u32[]' }, ({ out, bits }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < out.length) out[i] = cuda.curandUniform(bits[i]!);
});

const uniformDouble = kernel(
  { out: 'f64[]', lows: 'readonly u32[]', highs: 'readonly u32[]' },
  ({ out, lows, highs }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < out.length) out[i] = cuda.curandUniformDouble(lows[i]!, highs[i]!);
  },
);

/** In steps of 1/10000, to which every device rounds them alike. */
const normal = kernel({ floats: 'i32[]', doubles: 'i32[]', a: 'readonly u32[]' }, (arrays, cuda) => {
  const { floats, doubles, a } = arrays;
  const i = cuda.thisGrid().threadRank();
  if (4 * i >= a.length) return;
  const [x, y] = [a[4 * i]!, a[4 * i + 1]!];
  const pair = cuda.curandNormal2(x, y);
  floats[2 * i] = cuda.i32(cuda.rint(pair.x * 10000));
  floats[2 * i + 1] = cuda.i32(cuda.rint(pair.y * 10000));
  const wide = cuda.curandNormal2Double(x, y, a[4 * i + 2]!, a[4 * i + 3]!);
  doubles[2 * i] = cuda.i32(cuda.rint(wide.x * 10000));
  doubles[2 * i + 1] = cuda.i32(cuda.rint(wide.y * 10000));
});

/** Points of a square that lie in the circle: each thread draws its own, and each block adds up its threads'. */
const inCircle = kernel({ hits: 'u32[]', draws: 'i32' }, ({ hits, draws }, cuda) => {
  const block = cuda.thisThreadBlock();
  const partial = cuda.sharedArray('u32', 64);
  const rank = block.threadRank();
  let own = cuda.u32(0);
  for (let n = 0; n < draws; n++) {
    const bits = cuda.philox(2026, cuda.thisGrid().threadRank(), n);
    const [x, y] = [cuda.curandUniform(bits.x), cuda.curandUniform(bits.y)];
    const [z, w] = [cuda.curandUniform(bits.z), cuda.curandUniform(bits.w)];
    if (x * x + y * y <= 1) own += 1;
    if (z * z + w * w <= 1) own += 1;
  }
  partial[rank] = own;
  for (let half = 32; half > 0; half = half >> 1) {
    block.sync();
    if (rank < half) partial[rank]! += partial[rank + half]!;
  }
  if (rank === 0) cuda.atomicAdd(hits, 0, partial[0]!);
});

/** The generator once more, in bigints. */
function philoxOnHost(seed: bigint, subsequence: bigint, n: bigint): number[] {
  const low = (value: bigint) => value & 0xffffffffn;
  let [a, b, c, d] = [low(n), n >> 32n, low(subsequence), subsequence >> 32n];
  let [first, second] = [low(seed), seed >> 32n];
  for (let round = 0; round < 10; round++) {
    const [p, q] = [a * 0xd2511f53n, c * 0xcd9e8d57n];
    [a, b, c, d] = [(q >> 32n) ^ b ^ first, low(q), (p >> 32n) ^ d ^ second, low(p)];
    first = low(first + 0x9e3779b9n);
    second = low(second + 0xbb67ae85n);
  }
  return [a, b, c, d].map(Number);
}

function pointsInCircle(threads: number, draws: number): number {
  const uniform = (word: number) => Math.fround(Math.fround(word) * 2 ** -32 + 2 ** -33);
  const square = (word: number) => Math.fround(uniform(word) ** 2);
  const isInside = (x: number, y: number) => Math.fround(square(x) + square(y)) <= 1;
  let hits = 0;
  for (let thread = 0; thread < threads; thread++) {
    for (let n = 0; n < draws; n++) {
      const [x, y, z, w] = philoxOnHost(2026n, BigInt(thread), BigInt(n)) as [number, number, number, number];
      hits += Number(isInside(x, y)) + Number(isInside(z, w));
    }
  }
  return hits;
}

const words = [0, 1, 0x7fffffff, 0x80000000, 0xffffff80, 0xffffffff, 123456789, 0xdeadbeef];

const bytes = kernel(
  { out: 'u32[]', products: 'i32[]', a: 'readonly u32[]' },
  ({ out, products, a }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= a.length) return;
    const [x, y] = [a[i]!, a[(i + 3) % a.length]!];
    out[6 * i] = cuda.bytePerm(x, y, 0x5270);
    out[6 * i + 1] = cuda.funnelshiftL(x, y, i + 29);
    out[6 * i + 2] = cuda.funnelshiftR(x, y, i + 29);
    out[6 * i + 3] = cuda.usad(x, y, 7);
    out[6 * i + 4] = cuda.sad(cuda.i32(x), cuda.i32(y), 7);
    out[6 * i + 5] = cuda.udp4a(x, y, 9);
    products[i] = cuda.dp4a(cuda.i32(x), cuda.i32(y), -9);
  },
);

function expectedBytes(i: number): readonly [readonly bigint[], bigint] {
  const [x, y] = [BigInt(words[i]!), BigInt(words[(i + 3) % words.length]!)];
  const all = (y << 32n) | x;
  const byte = (of: bigint, n: number) => (of >> BigInt(8 * n)) & 255n;
  const size = (z: bigint) => (z < 0n ? -z : z);
  const signed = (z: bigint) => BigInt.asIntN(32, z);
  const places = BigInt((i + 29) % 32);
  const dot = (cut: (z: bigint) => bigint) =>
    [0, 1, 2, 3].reduce((sum, n) => sum + cut(byte(x, n)) * cut(byte(y, n)), 0n);
  const unsigned = [
    [0, 7, 2, 5].reduce((sum, n, place) => sum | (byte(all, n) << BigInt(8 * place)), 0n),
    (all << places) >> 32n,
    all >> places,
    size(x - y) + 7n,
    size(signed(x) - signed(y)) + 7n,
    dot((z) => z) + 9n,
  ];
  return [unsigned.map((z) => BigInt.asUintN(32, z)), dot((z) => BigInt.asIntN(8, z)) - 9n];
}

const floats = [0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1 + 2 ** -23, 1e-40, 3e38, Infinity, -Infinity, NaN];
const triples = floats.flatMap((x) =>
  floats.map((y, i) => [x, y, floats[(3 * i) % floats.length]!] as const),
);

const rounded = kernel(
  {
    fused: 'f32[]',
    even: 'f32[]',
    away: 'f32[]',
    signs: 'f32[]',
    differences: 'f32[]',
    xs: 'readonly f32[]',
    ys: 'readonly f32[]',
    zs: 'readonly f32[]',
  },
  ({ fused, even, away, signs, differences, xs, ys, zs }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= xs.length) return;
    const [x, y, z] = [xs[i]!, ys[i]!, zs[i]!];
    fused[i] = cuda.fma(x, y, z);
    even[i] = cuda.rint(x);
    away[i] = cuda.round(x);
    signs[i] = cuda.copysign(x, y);
    differences[i] = cuda.fdim(x, y);
  },
);

const of = (make: (x: number, y: number, z: number) => number) =>
  Float32Array.from(triples, ([x, y, z]) => make(Math.fround(x), Math.fround(y), Math.fround(z)));
const even = (x: number) => {
  const down = Math.floor(x);
  if (!Number.isFinite(x) || x === down) return x;
  const up = x - down > 0.5 || (x - down === 0.5 && down % 2 !== 0);
  return up ? down + 1 || (x < 0 ? -0 : 0) : down;
};
const negative = (y: number) => y < 0 || Object.is(y, -0);

export const randomCases: Cases = [
  {
    name: 'random numbers of Philox',
    kernel: philox,
    grid: 1,
    block: 32,
    data: {
      out: new Uint32Array(12),
      seeds: BigUint64Array.from(known, ([, [low, high]]) => wide(low, high)),
      sequences: BigUint64Array.from(known, ([counter]) => wide(counter[2], counter[3])),
      counts: BigUint64Array.from(known, ([counter]) => wide(counter[0], counter[1])),
    },
    expected: { out: Uint32Array.from(known.flatMap(([, , result]) => [...result])) },
  },
  ...[0n, 2n ** 34n - 3n, 2n ** 63n + 5n].map((offset) => ({
    name: `generators that count their draws, from word ${offset}`,
    kernel: states,
    grid: 1,
    block: 32,
    data: { out: new Uint32Array(24 * 32), offset: BigUint64Array.of(offset) },
    expected: { out: Uint32Array.from(Array.from({ length: 32 }, (_, i) => drawn(i, offset)).flat()) },
  })),
  {
    name: 'uniform random numbers',
    kernel: uniform,
    grid: 1,
    block: 32,
    data: { out: new Float32Array(words.length), bits: Uint32Array.from(words) },
    expected: {
      out: Float32Array.from(words, (x) => Math.fround(Math.fround(x) * 2 ** -32) + 2 ** -33),
    },
  },
  {
    name: 'uniform random numbers of 53 bits',
    kernel: uniformDouble,
    grid: 1,
    block: 32,
    data: {
      out: new Float64Array(words.length),
      lows: Uint32Array.from(words),
      highs: Uint32Array.from(words.toReversed()),
    },
    expected: {
      out: Float64Array.from(
        words,
        (low, i) => Number(BigInt(low) ^ (BigInt(words.at(-1 - i)!) << 21n)) * 2 ** -53 + 2 ** -54,
      ),
    },
  },
  {
    name: 'normal random numbers',
    kernel: normal,
    grid: 1,
    block: 32,
    data: {
      floats: new Int32Array(8),
      doubles: new Int32Array(8),
      a: Uint32Array.from([...known.flatMap(([, , bits]) => bits), 1, 0x80000000, 0x7fffffff, 0xfffff000]),
    },
    // Of the exact functions, with 90 digits.
    expected: {
      floats: Int32Array.of(-9247, 9911, 16583, -726, -3122, -5515, 0, -65993),
      doubles: Int32Array.of(-3104, -3977, 7293, -14785, 8055, 6586, 0, 11774),
    },
  },
  {
    name: 'Monte Carlo: points in a circle',
    kernel: inCircle,
    grid: 3,
    block: 64,
    data: { hits: new Uint32Array(1), draws: 4 },
    expected: { hits: Uint32Array.of(pointsInCircle(3 * 64, 4)) },
  },
  {
    name: 'bytes and shifts of two words',
    kernel: bytes,
    grid: 1,
    block: 32,
    data: {
      out: new Uint32Array(6 * words.length),
      products: new Int32Array(words.length),
      a: Uint32Array.from(words),
    },
    expected: {
      out: Uint32Array.from(words.flatMap((_, i) => expectedBytes(i)[0].map(Number))),
      products: integers(words.length, (i) => Number(expectedBytes(i)[1])),
    },
  },
  {
    name: 'floats that are rounded once',
    kernel: rounded,
    grid: Math.ceil(triples.length / 32),
    block: 32,
    data: {
      fused: of(() => 0),
      even: of(() => 0),
      away: of(() => 0),
      signs: of(() => 0),
      differences: of(() => 0),
      xs: of((x) => x),
      ys: of((_, y) => y),
      zs: of((_, _y, z) => z),
    },
    expected: {
      // None of these sums lies close to the middle of two f32.
      fused: of((x, y, z) => x * y + z),
      even: of(even),
      away: of((x) => (negative(x) ? -Math.floor(0.5 - x) : Math.floor(x + 0.5))),
      signs: of((x, y) => (negative(y) ? -Math.abs(x) : Math.abs(x))),
      differences: of((x, y) => (x <= y ? 0 : x - y)),
    },
  },
];
