// Every type of elements, in all kinds of memory: what is loaded, stored and copied of it, number by number.

import { describe, expect, test } from 'vitest';
import { open } from 'warpstage';
import { layoutOf } from '#warpstage/kernel/layout.js';
import {
  type ElementType,
  hostArrays,
  type NumberElement,
  numberBytes,
  type TypedArray,
  vectorTypes,
} from '#warpstage/kernel/types.js';
import { kernelOf } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { turned } from '../support/element-kernels.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { isFirst } from '../support/thorough.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const targets = [
  ...(isFirst ? [interpreter('eager'), wasm, wasmStates, ...cudaTargets] : []),
  ...nativeTargets,
];

sayWithoutGpu();

const all = [...Object.keys(numberBytes), ...Object.keys(vectorTypes)] as ElementType[];
const [grid, block] = [2, 10];

/** Numbers that are all different, and for each element type all representable. */
function filled(element: NumberElement, values: TypedArray): TypedArray {
  for (let i = 0; i < values.length; i += 1) {
    const wide = values instanceof BigInt64Array || values instanceof BigUint64Array;
    (values as Record<number, unknown>)[i] = wide
      ? BigInt(i + 1) * 0x0102_0304_0506_0708n
      : element.startsWith('f') && element !== 'f16'
        ? i / 8 - 3
        : 5 * i + 3;
  }
  return values;
}

function arrayOf(element: ElementType, count: number): TypedArray {
  const { bytes, parts } = layoutOf(element);
  return new hostArrays[parts[0]!.element](new ArrayBuffer(count * bytes));
}

describe.each(targets)('$name', (target) => {
  // Those that need the system's compiler share the types.
  const turn = nativeTargets.indexOf(target);
  const own = turn < 0 ? all : all.filter((_, at) => at % nativeTargets.length === turn);
  test.each(own)('%s is copied and assigned as a whole', (element) => {
    const count = grid * block;
    const { parts } = layoutOf(element);
    const [x, out, more] = [0, 0, 0].map(() => arrayOf(element, count)) as [
      TypedArray,
      TypedArray,
      TypedArray,
    ];
    filled(parts[0]!.element, x);
    const schema = { out: `${element}[]`, x: `readonly ${element}[]`, more: `${element}[]` } as const;
    const { fault } = runKernel(target, kernelOf(schema, turned(element)), {
      grid,
      block,
      arguments: { out, x, more },
    });
    expect(fault).toBeNull();
    const order = Array.from({ length: count }, (_, i) => i - (i % block) + block - 1 - (i % block));
    const numbers = order.flatMap(
      (i) => [...x.subarray(i * parts.length, (i + 1) * parts.length)] as unknown[],
    );
    expect([...out]).toEqual(numbers);
    expect([...more]).toEqual([...x]);
  });

  test('components keep their width, their sign and their bigints', () => {
    const schema = { b: 'u8x4[]', s: 'i16x2[]', c: 'i8x3[]', w: 'u64x2[]', sums: 'i32[]' } as const;
    const text = `({ b, s, c, w, sums }, cuda) => {
      const t = cuda.threadIdx.x;
      const v = cuda.u8x4(300 + t, -1, 2.5 + t > 3 ? 7 : 8, 9);
      b[t] = v;
      b[t].w += 250;
      s[t] = cuda.i16x2(40000, -5 - t);
      c[t].z = 200;
      const wide = w[t];
      w[t] = cuda.u64x2(wide.y + 1n, wide.x);
      sums[t] = 2 * v.x + v.y + s[t].x + c[t].z;
    }`;
    const given = {
      b: new Uint8Array(8),
      s: new Int16Array(4),
      c: new Int8Array(6),
      w: BigUint64Array.of(1n, 2n ** 64n - 1n, 3n, 4n),
      sums: new Int32Array(2),
    };
    expect(
      runKernel(target, kernelOf(schema, text), { grid: 1, block: 2, arguments: given }).fault,
    ).toBeNull();
    expect([...given.b]).toEqual([44, 255, 8, 3, 45, 255, 7, 3]);
    expect([...given.s]).toEqual([-25536, -5, -25536, -6]);
    expect([...given.c]).toEqual([0, 0, -56, 0, 0, -56]);
    expect([...given.w]).toEqual([0n, 1n, 5n, 3n]);
    expect([...given.sums]).toEqual([88 + 255 - 25536 - 56, 90 + 255 - 25536 - 56]);
  });

  test('vectors are combined as helper_math.h does', () => {
    const schema = {
      out: 'f32x3[]',
      a: 'readonly f32x3[]',
      b: 'readonly f32x3[]',
      k: 'i32x4[]',
      s: 'f32[]',
    } as const;
    const text = `({ out, a, b, k, s }, cuda) => {
      const t = cuda.threadIdx.x;
      const sum = cuda.add(a[t], cuda.multiply(b[t], 0.5));
      out[2 * t] = cuda.subtract(sum, cuda.divide(a[t], b[t]));
      out[2 * t + 1] = cuda.cross(a[t], b[t]);
      s[2 * t] = cuda.dot(a[t], b[t]);
      s[2 * t + 1] = cuda.length(a[t]);
      k[t] = cuda.add(cuda.multiply(k[t], k[t]), -1);
    }`;
    const given = {
      out: new Float32Array(12),
      a: Float32Array.of(1, 2, 2, 0, 3, 4),
      b: Float32Array.of(2, 4, 8, 1, 0.5, 2),
      k: Int32Array.of(1, 2, 3, 65536, -1, -2, -3, -4),
      s: new Float32Array(4),
    };
    expect(
      runKernel(target, kernelOf(schema, text), { grid: 1, block: 2, arguments: given }).fault,
    ).toBeNull();
    expect([...given.out]).toEqual([1.5, 3.5, 5.75, 8, -4, 0, 0.5, -2.75, 3, 4, 4, -3]);
    expect([...given.s]).toEqual([26, 3, 9.5, 5]);
    expect([...given.k]).toEqual([0, 3, 8, -1, 0, 3, 8, 15]);
  });
});

test('a device has room for elements of three and of three times eight bytes', async () => {
  await using device = await open('cpu');
  const x = device.alloc('u8x3', 5);
  const y = device.alloc('f64x3', 2);
  expect([x.byteLength, y.byteLength]).toEqual([15, 48]);
  const stream = device.createStream();
  stream.memcpyAsync(
    x,
    Uint8Array.from({ length: 15 }, (_, i) => i),
  );
  const twice = kernelOf(
    { x: 'u8x3[]', y: 'f64x3[]' },
    '({ x, y }, cuda) => { const i = cuda.threadIdx.x; x[i].y *= 2; if (i < 2) y[i].z = x[i].x; }',
  );
  stream.launch(twice, { grid: 1, block: 5 }, { x, y } as never);
  const [bytes, doubles] = [new Uint8Array(15), new Float64Array(6)];
  stream.memcpyAsync(bytes, x);
  stream.memcpyAsync(doubles, y);
  await stream.synchronize();
  expect([...bytes]).toEqual([0, 2, 2, 3, 8, 5, 6, 14, 8, 9, 20, 11, 12, 26, 14]);
  expect([...doubles]).toEqual([0, 0, 0, 0, 0, 3]);
});
