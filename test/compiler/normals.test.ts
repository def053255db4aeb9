// Normals of random words, on every device that is here: against exact functions, and against cuRAND.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel } from 'warpstage';
import { mathFunctions } from '#warpstage/compiler/functions.js';
import { devices } from '../support/devices.ts';

const { sinpi, cospi } = mathFunctions;

const normals = kernel(
  { floats: 'f32[]', doubles: 'f64[]', words: 'readonly u32[]' },
  ({ floats, doubles, words }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (4 * i >= words.length) return;
    const [x, y] = [words[4 * i]!, words[4 * i + 1]!];
    const pair = cuda.curandNormal2(x, y);
    const wide = cuda.curandNormal2Double(x, y, words[4 * i + 2]!, words[4 * i + 3]!);
    floats[2 * i] = pair.x;
    floats[2 * i + 1] = pair.y;
    doubles[2 * i] = wide.x;
    doubles[2 * i + 1] = wide.y;
  },
);

const draws = kernel(
  { words: 'u32[]', seed: 'u64', subsequence: 'u64' },
  ({ words, seed, subsequence }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (4 * i >= words.length) return;
    const bits = cuda.philox(seed, subsequence, i);
    words[4 * i] = bits.x;
    words[4 * i + 1] = bits.y;
    words[4 * i + 2] = bits.z;
    words[4 * i + 3] = bits.w;
  },
);

const given = [
  [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  [1, 0x80000000, 0x7fffffff, 0xfffff000],
  [0, 0, 0, 0],
  [0xfffffe00, 0x12345678, 0xffffffff, 0x3fffffff],
  [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
];
/** Made with mpmath, of the uniforms as they are rounded. */
const exactFloats = [
  -0.9246624091664177, 0.991137821438538, 1.6582888070319748, -0.07258075570738179, -0.3122491318981282,
  -0.5514678948568372, 0, -6.599279456093686, 4.947373628142719e-9, 6.763705635001895, 0.0002109793805840582,
  0.000440347924124533, 0, 0,
];
const exactDoubles = [
  -0.3103957360003765, -0.3976671363150353, 0.7292691643594006, -1.47845366031533, 0.8054588721225111,
  0.6586456820214969, -5.2913799433495845e-6, 1.1774100225035844, 3.0177600906340114e-15, 8.652161319605298,
  2.2993546140141388, 6.885631941265777e-6, -2.923693822097533e-9, 0.0009763241686356798,
];
/** What the functions of cuRAND's header give for the first four, compiled for the host. */
const curandFloats = [
  -0.924662411, 0.991137743, 1.65828872, -0.0725807622, -0.312249243, -0.551467836, -5.76927334e-7,
  -6.5992794,
];
const curandDoubles = [
  -0.31039573600037634, -0.39766713631503542, 0.72926916435940081, -1.47845366031533, 0.80545887212251099,
  0.65864568202149687, -5.291379943353244e-6, 1.1774100225035844,
];

/** How many units in its last place a result is off, of a significand of so many bits. */
function unitsOff(result: number, exact: number, bits: number): number {
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(exact))) - bits + 1);
  return result === exact ? 0 : Math.abs(result - exact) / unit;
}
const worst = (results: ArrayLike<number>, exact: ArrayLike<number>, bits: number) =>
  Math.max(...Array.from(results, (result, i) => unitsOff(result, exact[i]!, bits)));
const farthest = (results: ArrayLike<number>, others: readonly number[]) =>
  Math.max(...others.map((other, i) => Math.abs(results[i]! - other)));

/** Of the uniforms that are rounded to f32, in f64. */
function ofWords(x: number, y: number): [number, number] {
  const uniform = (word: number, most: number) =>
    Math.fround(most * (Math.fround(word) * 2 ** -32 + 2 ** -33));
  const radius = Math.sqrt(-2 * Math.log(uniform(x, 1)));
  const angle = uniform(y, 2);
  return [radius * sinpi(angle), radius * cospi(angle)];
}

describe.each(devices)('$name', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  async function normalsOf(given: Uint32Array) {
    const stream = device.createStream();
    const results = {
      floats: new Float32Array(given.length / 2),
      doubles: new Float64Array(given.length / 2),
    };
    const words = device.alloc('u32', given.length);
    const floats = device.alloc('f32', results.floats.length);
    const doubles = device.alloc('f64', results.doubles.length);
    stream.memcpyAsync(words, given);
    stream.launch(normals, { grid: Math.ceil(given.length / 512), block: 128 }, { floats, doubles, words });
    stream.memcpyAsync(results.floats, floats);
    stream.memcpyAsync(results.doubles, doubles);
    await stream.synchronize();
    return results;
  }

  test('are as exact as is said, and as near to those of cuRAND as an f32 of an angle allows', async () => {
    const { floats, doubles } = await normalsOf(Uint32Array.from(given.flat()));
    expect(worst(floats, exactFloats, 24)).toBeLessThanOrEqual(6);
    expect(worst(doubles, exactDoubles, 53)).toBeLessThanOrEqual(12);
    expect(farthest(floats, curandFloats)).toBeLessThan(2e-6);
    expect(farthest(doubles, curandDoubles)).toBeLessThan(1e-14);
  });

  test('of the words of Philox are exact, and have the mean and the moments of the distribution', async () => {
    const count = 16384;
    const stream = device.createStream();
    const words = new Uint32Array(count);
    const array = device.alloc('u32', count);
    stream.launch(draws, { grid: count / 512, block: 128 }, { words: array, seed: 7n, subsequence: 3n });
    stream.memcpyAsync(words, array);
    await stream.synchronize();
    const { floats, doubles } = await normalsOf(words);
    const exact = Array.from({ length: count / 4 }, (_, i) =>
      ofWords(words[4 * i]!, words[4 * i + 1]!),
    ).flat();
    expect(worst(floats, exact, 24)).toBeLessThanOrEqual(6);
    for (const values of [[...floats], [...doubles]]) {
      const moment = (power: number) =>
        values.reduce((sum, value) => sum + value ** power, 0) / values.length;
      // Of 8192 values: five times the deviation of each, which the seed decides.
      expect(Math.abs(moment(1))).toBeLessThan(0.055);
      expect(Math.abs(moment(2) - 1)).toBeLessThan(0.08);
      expect(Math.abs(moment(3))).toBeLessThan(0.22);
      expect(Math.abs(moment(4) - 3)).toBeLessThan(0.55);
    }
  });
});
