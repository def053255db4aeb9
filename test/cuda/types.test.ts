// Bigints, floats of 16 bits and vectors in CUDA C++: they compile, halves are converted by the
// hardware, and whole vectors are loaded and stored by one instruction. Needs nvcc.

import { describe, expect, test } from 'vitest';
import { deviceFunction, type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { kernelOf } from '../compiler/support.ts';
import { turned } from '../support/element-kernels.ts';
import { hasNvcc, ptxOf, testCompiling } from '../support/nvcc.ts';

const rotated = deviceFunction({ v: 'f32x4' }, ({ v }, cuda) => cuda.f32x4(v.y, v.z, v.w, v.x));

const vectors = kernel(
  { out: 'f32x4[]', x: 'readonly f32x4[]', pairs: 'f64x2[]', a: 'f32x2', rotated },
  ({ out, x, pairs, a, rotated }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    const v = x[i]!;
    v.x += a.x;
    out[i] = rotated({ v });
    pairs[i] = cuda.f64x2(pairs[i]!.y, a.y);
  },
);

const staged = kernel({ out: 'i32x4[]', x: 'readonly i32x4[]' }, ({ out, x }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('i32x4', block.size());
  const own = cuda.localArray('u32x2', 4);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, shared, x, block.size(), pipeline);
  pipeline.producerCommit();
  pipeline.consumerWait();
  own[out.length % 4]!.y = 3;
  out[block.threadRank()] = shared[block.size() - 1 - block.threadRank()]!;
  out[0]!.w = cuda.i32(own[1]!.y);
  pipeline.consumerRelease();
});

const bigints = kernel(
  { a: 'i64[]', u: 'u64[]', f: 'f64[]', s: 'i64', v: 'u64', d: 'f64' },
  ({ a, u, f, s, v, d }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    let sum = 0n;
    for (let k = 0n; k < s; k++) sum += a[i]! * k - (a[i]! >> 3n);
    a[i] = sum / 7n + cuda.i64(d) + BigInt.asIntN(20, sum);
    u[i] = (v % 10n) ^ cuda.u64(d) ^ (v > s ? v << 2n : 1n);
    f[i] = Number(sum) + cuda.f64(v);
    cuda.atomicAdd(a, 0, sum);
    cuda.atomicSub(u, 0, v);
    cuda.atomicMin(a, 1, sum);
    cuda.atomicMax(u, 1, v);
    cuda.atomicXor(u, 2, 5n);
    cuda.atomicAdd(f, 0, d);
    u[3] = cuda.atomicCAS(u, 4, 0n, v) + cuda.atomicExch(u, 5, 1n);
    console.log('sum', sum);
  },
);

const halves = kernel({ y: 'f16[]', x: 'readonly bf16[]', a: 'f16', n: 'u8' }, ({ y, x, a, n }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  const shared = cuda.sharedArray('f16', 64);
  shared[cuda.threadIdx.x] = x[i]! * a;
  y[i] = shared[cuda.threadIdx.x]! + cuda.bf16(y[i]!) + cuda.i8(n);
});

function textOf(one: Kernel, architecture: number): string {
  const { program } = specialise(one, { block: [64, 1, 1], indexType: 'i32', constants: {}, functions: {} });
  return generateCuda(program, {
    architecture,
    alignments: program.parameters.map(() => 16),
    blockUniform: blockUniformPipelines(program),
    lineDirective: () => null,
  }).text;
}

test('elements and components are written as C++ has them', () => {
  const text = textOf(vectors as Kernel, 80);
  expect(text).toContain('const float4* g_x');
  expect(text).toContain('float a_x_');
  expect(textOf(halves as Kernel, 80)).toContain('unsigned short* g_y');
  expect(textOf(bigints as Kernel, 80)).toContain('atomicAdd((unsigned long long*)&g_u');
});

/** Those that are no power of two long, or that CUDA has under names that changed. */
const others = (['u8x3', 'i8x4', 'i16x3', 'u16x2', 'f32x3', 'i64x2', 'f64x3', 'u64x4'] as const).map(
  (element) =>
    kernelOf({ out: `${element}[]`, x: `readonly ${element}[]`, more: `${element}[]` }, turned(element)),
);

testCompiling('elements of all sizes compile', (architecture) =>
  others.map((one) => textOf(one, architecture)),
);

testCompiling('the types compile', (architecture) =>
  [vectors, staged, bigints, halves].map((one) => textOf(one as Kernel, architecture)),
);

describe.skipIf(!hasNvcc)('in PTX', () => {
  const compiled = (one: unknown) => ptxOf(textOf(one as Kernel, 80), '80');

  test('a whole vector is one access', async () => {
    const ptx = await compiled(vectors);
    expect(ptx).toMatch(/ld\.global(\.nc)?\.v4\.(f32|u32|b32)/);
    expect(ptx).toMatch(/st\.global\.v4\.(f32|u32|b32)/);
    expect(ptx).toMatch(/st\.global\.v2\.(f64|u64|b64)/);
  });

  test('vectors in shared memory are one access too', async () => {
    const ptx = await compiled(staged);
    expect(ptx).toMatch(/ld\.shared\.v4\.(u32|b32|s32)/);
  });

  test('halves are converted by one instruction', async () => {
    const ptx = await compiled(halves);
    expect(ptx).toContain('cvt.rn.f16.f32');
    expect(ptx).toContain('cvt.f32.f16');
  });
});
