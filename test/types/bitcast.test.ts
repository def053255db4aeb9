// The bits of numbers as other numbers of the same width: on every target, folded, and in lanes.

import { describe, expect, test } from 'vitest';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { compile, kernelOf, mistakesIn, statementsOf } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets, newAmong } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { testCompiling } from '../support/nvcc.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

sayWithoutGpu();

const narrow = kernelOf(
  { x: 'readonly f32[]', i: 'i32[]', u: 'u32[]', back: 'f32[]' },
  `({ x, i, u, back }, cuda) => {
    const t = cuda.thisGrid().threadRank();
    i[t] = cuda.bitcast('i32', x[t]);
    u[t] = cuda.bitcast('u32', x[t]) ^ cuda.bitcast('u32', i[t]);
    back[t] = cuda.bitcast('f32', cuda.bitcast('u32', x[t]) & 0x7fffffff) + cuda.bitcast('f32', 0x3f800000);
  }`,
);
const wide = kernelOf(
  { x: 'readonly f64[]', i: 'i64[]', u: 'u64[]', back: 'f64[]' },
  `({ x, i, u, back }, cuda) => {
    const t = cuda.thisGrid().threadRank();
    i[t] = cuda.bitcast('i64', x[t]);
    u[t] = cuda.bitcast('u64', i[t]) >> 52n;
    back[t] = cuda.bitcast('f64', cuda.bitcast('u64', x[t]) ^ 0x8000000000000000n);
  }`,
);

const some = [0, -0, 1, -1.5, 1e-40, -1e-300, 3e38, 1e300, Infinity, -Infinity, 0.1, 123456.789];

describe.each(newAmong([interpreter('eager'), wasm, wasmStates, ...nativeTargets, ...cudaTargets]))(
  '$name',
  (target) => {
    test('keeps 32 bits', () => {
      const x = Float32Array.from(some);
      const n = x.length;
      const given = { x, i: new Int32Array(n), u: new Uint32Array(n).fill(7), back: new Float32Array(n) };
      expect(runKernel(target, narrow, { grid: 3, block: 4, arguments: given }).fault).toBeNull();
      expect(given.i).toEqual(new Int32Array(x.buffer));
      expect(given.u).toEqual(new Uint32Array(n));
      expect(given.back).toEqual(x.map((one) => Math.abs(one) + 1));
    });

    test('keeps 64 bits', () => {
      const x = Float64Array.from(some);
      const n = x.length;
      const given = { x, i: new BigInt64Array(n), u: new BigUint64Array(n), back: new Float64Array(n) };
      expect(runKernel(target, wide, { grid: 3, block: 4, arguments: given }).fault).toBeNull();
      expect(given.i).toEqual(new BigInt64Array(x.buffer));
      expect(given.u).toEqual(new BigUint64Array(x.buffer).map((bits) => bits >> 52n));
      expect(given.back).toEqual(x.map((one) => -one));
    });
  },
);

test('bits of literals are known when the kernel is compiled', () => {
  const text = `({ i, y }, cuda) => { i[0] = cuda.bitcast('i32', 0.5); y[0] = cuda.bitcast('f32', 0xc0490fdb); }`;
  expect(statementsOf({ i: 'i32[]', y: 'f32[]' }, text)).toBe(
    `i[0] = 1056964608\ny[0] = ${Math.fround(-Math.PI)}f`,
  );
});

test('other widths are refused', () => {
  const schema = { y: 'f32[]', d: 'f64[]', b: 'i64[]' } as const;
  const of = (statement: string) => mistakesIn(schema, `({ y, d, b }, cuda) => { ${statement} }`)[0];
  expect(of("b[0] = cuda.bitcast('i64', y[0]);")).toContain(
    'cuda.bitcast keeps the bits: i64 has 64, and is given a number of type f32 (cast it first: cuda.f64(y[0]))',
  );
  expect(of("y[0] = cuda.bitcast('f32', b[0]);")).toContain('f32 has 32, and is given a bigint of type i64');
  expect(of("y[0] = cuda.bitcast('u8', y[0]);")).toContain('cuda.bitcast makes no u8');
});

testCompiling('bitcasts compile', (architecture) =>
  [narrow, wide].map((one) => {
    const { program } = compile(one);
    const alignments = program.parameters.map(() => 16);
    return generateCuda(program, {
      architecture,
      alignments,
      blockUniform: () => true,
      lineDirective: () => null,
    }).text;
  }),
);
