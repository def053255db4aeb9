// Vectors: values of two or four numbers, in all kinds of memory.

import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel, open } from 'warpstage';
import { kernelOf, mistakesIn, statementsOf } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets, newAmong } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const checkedTargets = newAmong([interpreter('eager'), wasm, wasmStates, ...nativeTargets]);
const targets = newAmong([...checkedTargets, ...cudaTargets]);

sayWithoutGpu();

describe.each(targets)('$name', (target) => {
  test('are loaded, computed with and stored', () => {
    const rotated = deviceFunction({ v: 'f32x4', by: 'f32' }, ({ v, by }, cuda) =>
      cuda.f32x4(v.y + by, v.z + by, v.w + by, v.x + by),
    );
    const mixing = kernel(
      { out: 'f32x4[]', x: 'readonly f32x4[]', sums: 'f64x2[]', shift: 'i32x4', rotated },
      ({ out, x, sums, shift, rotated }, cuda) => {
        const t = cuda.thisGrid().threadRank();
        let v = x[t]!;
        const w = v;
        v.x += 10;
        v = rotated({ v, by: 0.5 });
        if (t % 2 === 0) v = w;
        out[t] = v;
        out[t]!.w = x.length;
        out[t]!.z *= 2;
        const { x: sx, y: sy } = t < 3 ? shift : cuda.i32x4(t, t + 1, 0, 0);
        sums[t] = cuda.f64x2(sx, sy + out[t]!.z);
        sums[t] = cuda.f64x2(sums[t]!.y, sums[t]!.x);
      },
    );
    const count = 24;
    const x = Float32Array.from({ length: 4 * count }, (_, i) => i / 4);
    const given = { out: new Float32Array(4 * count), x, sums: new Float64Array(2 * count) };
    const { fault } = runKernel(target, mixing, {
      grid: 3,
      block: 8,
      arguments: { ...given, shift: { x: -1, y: -2, z: 0, w: 0 } },
    });
    expect(fault).toBeNull();
    for (let t = 0; t < count; t += 1) {
      const [a, b, c, d] = x.subarray(4 * t) as unknown as [number, number, number, number];
      const v = t % 2 === 0 ? [a, b, c, d] : [b + 0.5, c + 0.5, d + 0.5, a + 10.5];
      expect([...given.out.subarray(4 * t, 4 * t + 4)]).toEqual([v[0], v[1], 2 * v[2]!, count]);
      const [sx, sy] = t < 3 ? [-1, -2] : [t, t + 1];
      expect([...given.sums.subarray(2 * t, 2 * t + 2)]).toEqual([sy + 2 * v[2]!, sx]);
    }
  });

  test('are staged through shared memory, 16 bytes at a time, and kept in local arrays', () => {
    const staging = kernel({ out: 'i32x4[]', x: 'readonly i32x4[]' }, ({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32x4', block.size());
      const own = cuda.localArray('i32x4', 10);
      const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
      const begin = block.groupIndex().x * block.size();
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, shared, x.subarray(begin), block.size(), pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      for (let i = 0; i < 10; i++) own[i]!.y = i;
      own[t % 10] = shared[block.size() - 1 - t]!;
      const sum = cuda.i32x4(0, 0, 0, 0);
      for (let i = 0; i < 10; i++) {
        sum.x += own[i]!.x;
        sum.y += own[i]!.y;
        sum.w += own[i]!.w;
      }
      out.subarray(begin)[t] = sum;
      pipeline.consumerRelease();
    });
    const [grid, block] = [3, 32];
    const x = Int32Array.from({ length: 4 * grid * block }, (_, i) => i * 7 - 5);
    const out = new Int32Array(4 * grid * block);
    expect(runKernel(target, staging, { grid, block, arguments: { out, x } }).fault).toBeNull();
    for (let i = 0; i < grid * block; i += 1) {
      const t = i % block;
      const from = 4 * (i - t + block - 1 - t);
      expect([...out.subarray(4 * i, 4 * i + 4)]).toEqual([
        x[from],
        45 - (t % 10) + x[from + 1]!,
        0,
        x[from + 3],
      ]);
    }
  });
});

test.each(checkedTargets)('$name names a vector outside its array by its own index', (target) => {
  const beyond = kernelOf({ x: 'f32x4[]' }, '({ x }, cuda) => { x[cuda.threadIdx.x + 3].y = 1; }');
  const { fault } = runKernel(target, beyond, {
    grid: 1,
    block: 2,
    arguments: { x: new Float32Array(16) },
  });
  expect(fault).toMatchObject({ kind: 'out-of-range', index: 4, count: 1, length: 4, access: 'write' });
});

test('a program reads whole vectors before it writes them', () => {
  const text = '({ x }, cuda) => { x[1] = cuda.f32x2(x[1].y, x[0].x); }';
  expect(statementsOf({ x: 'f32x2[]' }, text)).toBe(
    'stored = x[1].y\nstored.2 = x[0].x\nx[1].x = stored\nx[1].y = stored.2',
  );
});

describe('mistakes', () => {
  const schema = { x: 'f32x4[]', y: 'f32[]', p: 'i32x2[]', a: 'f32', r: 'readonly f32x2[]' } as const;
  test.each([
    [
      'x[0] = a;',
      "WS1004 1:39 a: an element of 'x' is a vector (f32x4), and is given a number of type f32 (make one: cuda.f32x4(x, y, z, w))",
    ],
    [
      'y[0] = x[0];',
      "WS1004 1:39 x[0]: an element of 'y' must be a number, and is a vector (f32x4) (compute with its components: .x, .y)",
    ],
    [
      'y[0] = x[0] + 1;',
      "WS1004 1:39 x[0]: an operand of '+' must be a number, and is a vector (f32x4) (compute with its components: .x, .y)",
    ],
    ['y[0] = p[0].z;', "WS1003 1:44 z: a vector (i32x2) has no 'z' (it has x, y)"],
    ['p[0].w = 1;', "WS1003 1:37 w: a vector (i32x2) has no 'w' (it has x, y)"],
    ['r[0].x = 1;', "WS1012 1:32 r[0].x: 'r' is read-only (declare it without readonly: r: 'f32x2[]')"],
    [
      'y[0] = x[0][1];',
      'WS1006 1:39 x[0][1]: a vector (f32x4) has no elements (its components have names: .x, .y)',
    ],
    [
      'let v = x[0]; v = cuda.f32x2(1, 2);',
      "WS1004 1:50 cuda.f32x2(1, 2): 'v' is a vector (f32x4), and is assigned a vector (f32x2) (make one: cuda.f32x4(x, y, z, w))",
    ],
    [
      'const v = x[0]; v = x[1];',
      "WS1012 1:48 v: 'v' is a constant, and cannot be assigned (declare it by let: let v)",
    ],
    [
      'p[0] = cuda.i32x2(a, 1);',
      'WS1004 1:50 a: component x of a vector (i32x2) is i32, and is given a number of type f32 (cast it: cuda.i32(a) drops a fraction)',
    ],
    [
      'cuda.atomicAdd(x, 0, 1);',
      'WS1004 1:47 x: cuda.atomicAdd does not work on f32x4 (atomics take arrays of i32, u32, i64 and u64; cuda.atomicAdd, atomicExch and atomicCAS also f32 and f64)',
    ],
    [
      'y[0].x = 1;',
      "WS1012 1:32 y[0].x: 'x' of a number of type f32 cannot be assigned (kernels write to elements of arrays, to variables, and to members of objects and vectors in both)",
    ],
  ])('%s', (text, expected) => {
    expect(mistakesIn(schema, `({ x, y, p, a, r }, cuda) => { ${text} }`)).toEqual([expected]);
  });
});

test('a device takes typed arrays of their components', async () => {
  const double = kernel({ y: 'f32x4[]', a: 'f32x2' }, ({ y, a }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = cuda.f32x4(y[i]!.x * a.x, y[i]!.y * a.y, y[i]!.z, y[i]!.w);
  });
  await using device = await open('cpu', { threads: 1 });
  const stream = device.defaultStream;
  using y = device.alloc('f32x4', 3);
  using pinned = device.allocPinned('f32x4', 3);
  expect([y.length, y.byteLength, pinned.array.length]).toEqual([3, 48, 12]);
  const host = Float32Array.from({ length: 12 }, (_, i) => i);
  stream.memcpyAsync(y, host);
  stream.launch(double, { grid: 1, block: 32 }, { y, a: { x: 2, y: 3 } });
  stream.memcpyAsync(pinned, y);
  await stream.synchronize();
  expect([...pinned.array]).toEqual([0, 3, 2, 3, 8, 15, 6, 7, 16, 27, 10, 11]);
  expect(() => stream.memcpyAsync(y, new Float32Array(10))).toThrow(
    'memcpyAsync: the source has 10 numbers, which are no whole elements (f32x4)',
  );
  expect(() => stream.memcpyAsync(y, new Float32Array(8))).toThrow(
    'memcpyAsync: the destination has 3 elements of f32x4, the source 2\n  hint: 4 numbers of a typed array are one f32x4; copy a part with subarray(begin, end)',
  );
  expect(() =>
    stream.launch(double, { grid: 1, block: 32 }, { y, a: { x: 2 } as { x: number; y: number } }),
  ).toThrow('argument `a.y` is missing');
});
