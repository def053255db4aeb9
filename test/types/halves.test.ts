// Floats of 16 bits, and integers of 8 and 16: computed with in 32 bits, and rounded or cut when
// they are stored, passed or cast.

import { describe, expect, test } from 'vitest';
import { decodeBF16, decodeF16, deviceFunction, encodeBF16, encodeF16, kernel, open } from 'warpstage';
import { decodeHalf, encodeHalf } from '#warpstage/kernel/half.js';
import { kernelOf, statementsOf } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets, newAmong } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const count = 8192;
const targets = newAmong([interpreter('eager'), wasm, wasmStates, ...nativeTargets, ...cudaTargets]);

describe('the conversion itself', () => {
  test('makes a NaN of every NaN, whatever its bits', () => {
    for (const word of [0x7fc00000, 0x7fc00001, 0x7fffffff, 0xffc00000, 0xffffffff]) {
      const value = new Float32Array(new Uint32Array([word]).buffer);
      expect([...decodeBF16(encodeBF16(value)), ...decodeF16(encodeF16(value))]).toEqual([
        Number.NaN,
        Number.NaN,
      ]);
    }
  });

  test('gives every value of f16 its bits back', () => {
    for (let bits = 0; bits < 65536; bits += 1) {
      const value = decodeHalf('f16', bits);
      const back = encodeHalf('f16', value);
      if (Number.isNaN(value)) expect(back & 0x7fff).toBe(0x7e00);
      else expect(back).toBe(bits);
    }
  });

  test.each([
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519.996, 0x7bff],
    [65520, 0x7c00],
    [2 ** -24, 1],
    [2 ** -25, 0],
    [1.5 * 2 ** -25, 1],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [-0, 0x8000],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [Number.NaN, 0x7e00],
  ])('f16 of %d', (value, bits) => {
    expect(encodeHalf('f16', value)).toBe(bits);
  });

  test('rounds bf16 to even', () => {
    expect([...encodeBF16([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -3.5])]).toEqual([
      0x3f80, 0x3f80, 0x3f82, 0xc060,
    ]);
    expect([...decodeBF16([0x3f80, 0xc060])]).toEqual([1, -3.5]);
    expect([...decodeF16(encodeF16([0.1, 7]))]).toEqual([decodeHalf('f16', 0x2e66), 7]);
  });
});

sayWithoutGpu();

describe.each(targets)('$name', (target) => {
  test.each(['f16', 'bf16'] as const)(
    '%s: values of every exponent, and their rounding',
    (format) => {
      const text = `({ x, y, back, rounded }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      y[i] = x[i];
      back[i] = x[i] * 1.0009765625 + 1e-8;
      rounded[i] = cuda.${format}(x[i] * 3);
    }`;
      const schema = {
        x: `readonly ${format}[]`,
        y: 'f32[]',
        back: `${format}[]`,
        rounded: 'f32[]',
      } as const;
      const x = Uint16Array.from({ length: count }, (_, i) => i * 8 + (i % 8));
      const given = {
        x,
        y: new Float32Array(count),
        back: new Uint16Array(count),
        rounded: new Float32Array(count),
      };
      const { fault, executable } = runKernel(target, kernelOf(schema, text), {
        grid: count / 256,
        block: 256,
        arguments: given,
      });
      expect(fault).toBeNull();
      // Four conversions at a time.
      if (target === wasm) expect(executable).toMatchObject({ mode: 'regions', vectorised: true });
      const { fround } = Math;
      const plain = (bits: number) => (Number.isNaN(decodeHalf(format, bits)) ? 'NaN' : bits);
      const values = [...x].map((bits) => decodeHalf(format, bits));
      expect(given.y).toEqual(Float32Array.from(values));
      const expected = values.map((value) =>
        encodeHalf(format, fround(fround(value * fround(1.0009765625)) + fround(1e-8))),
      );
      expect([...given.back].map(plain)).toEqual(expected.map(plain));
      const rounded = values.map((value) => decodeHalf(format, encodeHalf(format, fround(value * 3))));
      expect(given.rounded).toEqual(Float32Array.from(rounded));
    },
    60_000,
  );

  test('shared and local arrays, copies, parameters and constants', () => {
    const scale = deviceFunction({ x: 'f16' }, ({ x }) => x * 3);
    const halves = kernel(
      { y: 'f16[]', x: 'readonly f16[]', s: 'f32', c: 'constant f16 = 0.1', scale },
      ({ y, x, s, c, scale }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const shared = cuda.sharedArray('f16', block.size());
        const own = cuda.localArray('bf16', 2);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        pipeline.producerAcquire();
        cuda.memcpyAsync(block, shared, x, block.size(), pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        own[1] = shared[block.size() - 1 - t]!;
        y[t] = scale({ x: s }) + c + own[1]!;
        pipeline.consumerRelease();
      },
    );
    const x = encodeF16(Array.from({ length: 32 }, (_, i) => i / 8));
    const y = new Uint16Array(32);
    expect(
      runKernel(target, halves, { grid: 1, block: 32, arguments: { x, y, s: Math.fround(0.7) } }).fault,
    ).toBeNull();
    const f16 = (value: number) => decodeHalf('f16', encodeHalf('f16', value));
    const { fround } = Math;
    const expected = Array.from({ length: 32 }, (_, t) => {
      const own = decodeHalf('bf16', encodeHalf('bf16', (31 - t) / 8));
      return f16(fround(fround(fround(f16(0.7) * 3) + f16(0.1)) + own));
    });
    expect([...decodeF16(y)]).toEqual(expected);
  });

  test('small integers wrap where they are stored, passed or cast', () => {
    const text = `({ out, x, b, w }, cuda) => {
      out[0] = cuda.i8(x); out[1] = cuda.i32(cuda.u8(x)); out[2] = cuda.i16(x * 3);
      out[3] = cuda.i32(cuda.u16(-x)); out[4] = b + 1; out[5] = cuda.i8(-129.7); out[6] = w;
    }`;
    const schema = { out: 'i32[]', x: 'i32', b: 'i8', w: 'constant u8 = 255' } as const;
    const out = new Int32Array(7);
    const { fault } = runKernel(target, kernelOf(schema, text), {
      grid: 1,
      block: 1,
      arguments: { out, x: 40000, b: 127 },
    });
    expect(fault).toBeNull();
    expect([...out]).toEqual([64, 64, -11072, 25536, 128, 127, 255]);
  });
});

test('what a program says of halves', () => {
  const schema = { y: 'f16[]', x: 'readonly bf16[]' } as const;
  expect(statementsOf(schema, '({ y, x }) => { y[0] = x[1] + 1; }')).toBe(
    'y[0] = f16.bits(f32.of.bf16(x[1]) + 1f)',
  );
});

test('a device takes the bits, and refuses what a scalar does not hold', async () => {
  const twice = kernel({ y: 'f16[]', a: 'f16', n: 'u8' }, ({ y, a, n }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < n) y[i] = y[i]! * a;
  });
  await using device = await open('cpu', { threads: 1 });
  using y = device.alloc('f16', 4);
  const host = encodeF16([1, 2, 3, 4]);
  const stream = device.defaultStream;
  stream.memcpyAsync(y, host);
  stream.launch(twice, { grid: 1, block: 4 }, { y, a: 0.1, n: 3 });
  stream.memcpyAsync(host, y);
  await stream.synchronize();
  const tenth = decodeF16(encodeF16([0.1]))[0]!;
  expect([...decodeF16(host)]).toEqual([
    ...decodeF16(encodeF16([tenth, 2 * tenth, Math.fround(3 * tenth), 4])),
  ]);
  const wrong = () => stream.launch(twice, { grid: 1, block: 4 }, { y, a: 1, n: 256 });
  expect(wrong).toThrow('argument `n` must be an integer from 0 to 255 (u8), and is 256');
});
