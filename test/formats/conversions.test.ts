// Values of another type become the kernel's: nearest means nearest, ties to even, and what does not fit is refused.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { hostArrays } from '#warpstage/kernel/types.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { Folder, readNpy, runHere } from '../cli/support.ts';
import { file } from '../overlap/reading.ts';
import { expectFailure, npyFile } from '../overlap/support.ts';

type Element = 'i64' | 'u64' | 'f32' | 'i32' | 'f64' | 'f16' | 'bf16' | 'i16' | 'u8';

async function convert(data: Parameters<OpenInputs['open']>[0], to: Element, how: 'exact' | 'nearest') {
  const inputs = new OpenInputs();
  const source = await inputs.open(data, wantedOf('x', to, { convert: how }));
  const Elements: new (length: number) => Float64Array | BigInt64Array = hostArrays[to] as never;
  const into = new Elements(source.length!);
  await source.read(into as Float64Array);
  await inputs.close();
  return [...into];
}

/** The nearest integer, ties to even, by exact arithmetic on the double's own fraction. */
function nearestInteger(value: number): bigint {
  const floor = BigInt(Math.floor(value));
  const above = value - Math.floor(value);
  if (above === 0.5) return floor % 2n === 0n ? floor : floor + 1n;
  return above < 0.5 ? floor : floor + 1n;
}

describe('to the nearest', () => {
  const edges = [0, 2 ** 51, 2 ** 52, 2 ** 53, 2 ** 62].flatMap((edge) => [edge, -edge]);
  const nearEdges = fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -9, max: 9 }))
    .map(([edge, quarters]) => edge + quarters / 4);
  const doubles = fc.oneof(nearEdges, fc.double({ min: -(2 ** 62), max: 2 ** 62, noNaN: true }));

  test('f64 becomes i64', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(doubles, { minLength: 1, maxLength: 20 }), async (values) => {
        expect(await convert(Float64Array.from(values), 'i64', 'nearest')).toEqual(
          values.map(nearestInteger),
        );
      }),
    );
  });

  test('integers of 64 bits become f32 by one rounding, and others of 64 bits by none', async () => {
    const bits = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), ties());
    await fc.assert(
      fc.asyncProperty(fc.array(bits, { minLength: 1, maxLength: 20 }), async (values) => {
        expect(await convert(BigInt64Array.from(values), 'u64', 'exact')).toEqual(values);
        expect(await convert(BigUint64Array.from(values), 'i64', 'nearest')).toEqual(values);
        expect(
          await convert(
            BigInt64Array.from(values, (one) => -one),
            'f32',
            'nearest',
          ),
        ).toEqual(values.map((one) => -nearestFloat32(one) + 0));
      }),
    );
  });

  test.each([
    ['f32', 1e39],
    ['f32', -3.4028235677973366e38],
    ['f16', 65520],
    ['i64', 2 ** 63],
    ['u64', -1],
    ['i16', 2 ** 15],
    ['i16', -(2 ** 15) - 1],
    ['u8', 256],
    ['i32', Number.NaN],
    ['i64', Number.NaN],
    ['i32', Infinity],
  ] as const)('%s does not take %d', async (to, value) => {
    await expectFailure(convert(Float64Array.of(0, value), to, 'nearest'), 'WS5005', 'element 1 is');
    expect(await convert(Float64Array.of(0), to, 'nearest')).toHaveLength(1);
  });

  test('infinities and NaN stay what they are', async () => {
    const values = [Infinity, -Infinity, Number.NaN];
    expect(await convert(Float64Array.from(values), 'f32', 'nearest')).toEqual(values);
  });
});

describe('exactly', () => {
  test('integers of 64 bits become those of the other sign where they fit', async () => {
    expect(await convert(BigInt64Array.of(0n, 2n ** 63n - 1n), 'u64', 'exact')).toEqual([0n, 2n ** 63n - 1n]);
    await expectFailure(convert(BigInt64Array.of(0n, -1n), 'u64', 'exact'), 'WS5005', 'element 1 is -1');
    await expectFailure(convert(BigUint64Array.of(0n, 2n ** 63n), 'i64', 'exact'), 'WS5005', 'element 1 is');
  });

  test('they become f64 where it holds them, however large they are', async () => {
    const held = [2n ** 60n, 2n ** 62n + 2n ** 10n, -(2n ** 63n)];
    expect(await convert(BigInt64Array.from(held), 'f64', 'exact')).toEqual(held.map(Number));
    await expectFailure(
      convert(BigInt64Array.of(0n, 2n ** 60n + 1n), 'f64', 'exact'),
      'WS5005',
      'element 1 is',
    );
  });

  test('neither of the floats of 16 bits becomes the other', async () => {
    const opened = async (dtype: 'f16' | 'bf16', to: Element) => {
      const inputs = new OpenInputs();
      const data = { file: file('x.bin', new Uint8Array(4)), dtype };
      return await inputs.open(data, wantedOf('x', to, {})).finally(() => inputs.close());
    };
    await expectFailure(opened('f16', 'bf16'), 'WS5005', 'holds f16');
    await expectFailure(opened('bf16', 'f16'), 'WS5005', 'holds bf16');
    for (const dtype of ['f16', 'bf16'] as const) expect((await opened(dtype, 'f32')).length).toBe(2);
  });

  test('every bool that is not 0 is 1', async () => {
    const path = file('x.npy', npyFile({ descr: '|b1', shape: [4], data: Uint8Array.of(0, 1, 2, 255) }));
    expect(await convert(path, 'i32', 'exact')).toEqual([0, 1, 1, 1]);
  });

  test('one request may be of any length', async () => {
    const values = Float32Array.from({ length: 700_001 }, (_, i) => i);
    const path = file('x.npy', npyFile({ shape: [values.length], data: values }));
    expect(await convert(path, 'f64', 'exact')).toEqual([...values]);
  });
});

/** Integers that lie just beside the middle of two neighbours of f32. */
function ties() {
  return fc
    .tuple(
      fc.integer({ min: 54, max: 62 }),
      fc.bigInt({ min: 0n, max: 2n ** 23n - 1n }),
      fc.constantFrom(-1n, 0n, 1n),
    )
    .map(([exponent, fraction, beside]) => {
      const step = 2n ** BigInt(exponent - 23);
      return 2n ** BigInt(exponent) + fraction * step + step / 2n + beside;
    });
}

/** By exact arithmetic: 24 bits, ties to even. */
function nearestFloat32(value: bigint): number {
  const extra = value.toString(2).length - 24;
  if (extra <= 0) return Number(value);
  const step = 1n << BigInt(extra);
  const low = value & (step - 1n);
  let kept = value >> BigInt(extra);
  if (low > step / 2n || (low === step / 2n && kept % 2n === 1n)) kept++;
  return Number(kept << BigInt(extra));
}

describe('the float64 that NumPy saves', () => {
  const path = () =>
    file('x.npy', npyFile({ descr: '<f8', shape: [3], data: Float64Array.of(0.1, 2, -3.5) }));
  const plain = (convert?: 'exact' | 'nearest') =>
    job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = x[i]!;
      }),
      inputs: { x: convert === undefined ? {} : { convert } },
      outputs: { y: {} },
    });

  test('is refused by a kernel of f32 unless the run says how', async () => {
    await expectFailure(run(plain(), { input: path() }), 'WS5005', 'holds f64', '--convert nearest');
    const { outputs } = await run(plain(), { input: path(), convert: 'nearest' });
    expect(outputs.y).toEqual(Float32Array.of(0.1, 2, -3.5));
  });

  test('the run has the last word', async () => {
    await expectFailure(run(plain('nearest'), { input: path(), convert: 'exact' }), 'WS5005', 'holds f64');
    await expectFailure(
      run(plain(), { input: path(), convert: 'up' as 'exact' }),
      'WS4007',
      'convert is "up"',
    );
  });

  test('--convert nearest does it on the command line', async () => {
    const folder = new Folder();
    try {
      const argv = ['run', 'examples/affine.ts', path(), folder.file('y.npy'), '-q'];
      expect((await runHere(...argv)).stderr).toContain('--convert nearest');
      expect((await runHere(...argv, '--convert', 'nearest')).code).toBe(0);
      expect(readNpy(folder.file('y.npy'))).toHaveLength(3);
    } finally {
      folder.remove();
    }
  });
});

describe('settings', () => {
  test.each([
    ['a=1e99', 'which no f32 holds'],
    ['a=-3.5e38', 'which no f32 holds'],
    ['a=1e999', 'No number is as large'],
  ])('--set %s is refused', async (setting, message) => {
    const { code, stderr } = await runHere('run', 'examples/affine.ts', 'x.npy', 'y.npy', '--set', setting);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
