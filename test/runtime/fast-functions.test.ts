// Functions that are fast on GPUs: as exact as their documentation says there, and the exact ones everywhere else.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { isSame } from '#warpstage/targets/analysis/expression-key.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const singles = kernel({ fast: 'f32[]', exact: 'f32[]', x: 'readonly f32[]' }, ({ fast, exact, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  const n = x.length;
  if (i >= n) return;
  const a = x[i]!;
  fast[i] = cuda.fastSin(a);
  exact[i] = Math.sin(a);
  fast[n + i] = cuda.fastCos(a);
  exact[n + i] = Math.cos(a);
  fast[2 * n + i] = cuda.fastTan(a);
  exact[2 * n + i] = Math.tan(a);
  fast[3 * n + i] = cuda.fastExp(a);
  exact[3 * n + i] = Math.exp(a);
  fast[4 * n + i] = cuda.fastExp10(a);
  exact[4 * n + i] = cuda.exp10(a);
  fast[5 * n + i] = cuda.fastLog(a);
  exact[5 * n + i] = Math.log(a);
  fast[6 * n + i] = cuda.fastLog2(a);
  exact[6 * n + i] = Math.log2(a);
  fast[7 * n + i] = cuda.fastLog10(a);
  exact[7 * n + i] = Math.log10(a);
  fast[8 * n + i] = cuda.fastPow(a, 1.5);
  exact[8 * n + i] = a ** 1.5;
  fast[9 * n + i] = cuda.fastDivide(a + 2, a * a);
  exact[9 * n + i] = (a + 2) / (a * a);
});

const doubles = kernel({ fast: 'f64[]', exact: 'f64[]', x: 'readonly f64[]' }, ({ fast, exact, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  fast[i] = cuda.fastSin(x[i]!) + cuda.fastLog(x[i]!) + cuda.fastDivide(1, x[i]!);
  exact[i] = Math.sin(x[i]!) + Math.log(x[i]!) + 1 / x[i]!;
});

/** From 0.5 to 2, where all have a bound. */
const count = 301;
const xs = Float32Array.from({ length: count }, (_, i) => 0.5 + (1.5 * i) / (count - 1));

/** As far as each may be from the exact one: absolute, and in units of 2^-23 of the result. */
const bounds: readonly (readonly [name: string, absolute: number, relative: (x: number) => number])[] = [
  ['Sin', 2 ** -21.4, () => 0],
  ['Cos', 2 ** -21.1, () => 0],
  // The quotient of both: near pi/2 it is as good as the cosine.
  ['Tan', 0, (x) => 8 + 16 / Math.abs(Math.sin(x) * Math.cos(x))],
  ['Exp', 0, (x) => 3 + Math.floor(1.173 * x)],
  ['Exp10', 0, (x) => 3 + Math.floor(2.97 * x)],
  ['Log', 2 ** -21.4, () => 0],
  ['Log2', 2 ** -22, () => 0],
  ['Log10', 2 ** -24, () => 1],
  ['Pow', 0, () => 8],
  ['Divide', 0, () => 2],
];

sayWithoutGpu();

describe.each(devices)('$name', ({ open, kind }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  test('f32 are within their bounds on a GPU, and exact elsewhere', async () => {
    const stream = device.createStream();
    const [x, fast, exact] = [count, bounds.length * count, bounds.length * count].map((length) =>
      device.alloc('f32', length),
    ) as [DeviceArray<'f32'>, DeviceArray<'f32'>, DeviceArray<'f32'>];
    const [got, wanted] = [new Float32Array(fast.length), new Float32Array(fast.length)];
    stream.memcpyAsync(x, xs);
    stream.launch(singles, { grid: 3, block: 128 }, { fast, exact, x });
    stream.memcpyAsync(got, fast);
    stream.memcpyAsync(wanted, exact);
    await stream.synchronize();
    if (kind === 'cpu') expect(got).toEqual(wanted);
    for (const [row, [name, absolute, relative]] of bounds.entries()) {
      for (let i = 0; i < count; i++) {
        const [a, b] = [got[row * count + i]!, wanted[row * count + i]!];
        const most = absolute + relative(xs[i]!) * Math.abs(b) * 2 ** -23 + Math.abs(b) * 2 ** -23;
        expect(Math.abs(a - b), `${name} of ${xs[i]}`).toBeLessThanOrEqual(most);
      }
    }
  });

  test('f64 are the exact ones', async () => {
    const stream = device.createStream();
    const [x, fast, exact] = [0, 1, 2].map(() => device.alloc('f64', count)) as [
      DeviceArray<'f64'>,
      DeviceArray<'f64'>,
      DeviceArray<'f64'>,
    ];
    const [got, wanted] = [new Float64Array(count), new Float64Array(count)];
    stream.memcpyAsync(x, Float64Array.from(xs));
    stream.launch(doubles, { grid: 3, block: 128 }, { fast, exact, x });
    stream.memcpyAsync(got, fast);
    stream.memcpyAsync(wanted, exact);
    await stream.synchronize();
    expect(got).toEqual(wanted);
  });
});

const specialised = (of: unknown) =>
  specialise(of as Kernel, { block: [128, 1, 1], indexType: 'i32', constants: {}, functions: {} }).program;

test('CUDA has them by its own names, beside the exact ones', () => {
  const text = cudaText(specialised(singles), 80);
  const called = bounds.map(([name]) => `__${name === 'Divide' ? 'fdivide' : name.toLowerCase()}f(`);
  expect(called.filter((one) => !text.includes(one))).toEqual([]);
  expect(text).toMatch(/[^_]sinf\(/);
  expect(cudaText(specialised(doubles), 80)).not.toMatch(/__\w+f\(/);
});

test('what is fast is not taken for what is exact', () => {
  const sine = (how: object) =>
    ({ kind: 'math', type: 'f32', function: 'sin', operands: [], ...how }) as never;
  expect(isSame(sine({}), sine({ fast: true }))).toBe(false);
  expect(isSame(sine({ fast: true }), sine({ fast: true }))).toBe(true);
  const one = { kind: 'constant', type: 'f32', value: 1 };
  const quotient = (how: object) =>
    ({ kind: 'binary', type: 'f32', operator: 'divide', left: one, right: one, ...how }) as never;
  expect(isSame(quotient({}), quotient({ fast: true }))).toBe(false);
});
