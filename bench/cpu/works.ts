// The works of the suite `cpu`: what goes in, which kernel is launched how, and which plain loop does the same.

import type { DeviceArray, ElementType, Kernel } from 'warpstage';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { NativeVariant, OpenClWork } from '../native.ts';
import * as kernels from './kernels.ts';
import * as loops from './loops.ts';

export type Numbers = Int32Array | Uint32Array | Float32Array | Float64Array | Uint8Array;
type Numbered = 'i32' | 'u32' | 'f32' | 'f64' | 'u8';

export interface Work {
  readonly input: { readonly element: Numbered; readonly length: number };
  readonly output: { readonly element: Numbered; readonly length: number };
  /** Element `index` of the input. */
  readonly fill: (index: number) => number;
  readonly kernels: Readonly<Record<string, Kernel>>;
  readonly grid: number | readonly [number, number];
  readonly block: number | readonly [number, number];
  readonly args: (input: Operand, output: Operand) => Record<string, number | Operand>;
  readonly loop: (input: never, output: never, count: number) => void;
  /** Their counterparts in OpenCL, where there are any. */
  readonly opencl: Readonly<Record<string, OpenClWork>>;
  /** The name of the native work. */
  readonly native: string;
  /** Where that one is tuned by hand, a plain loop, and how it is built. */
  readonly plain?: readonly [name: string, variant: NativeVariant];
  /** What native code and loop take as their third argument. */
  readonly count: number;
  /** Launches, or calls, of one measurement: some 20 ms of native code, as a thread that slept takes up to one to come. */
  readonly times: number;
  /** By how much results may differ, as a part of the greatest; those of integers must be equal. */
  readonly tolerance: number;
  /** What is compared, if not each element. */
  readonly compared: (output: Numbers) => Numbers;
}

type Operand = DeviceArray<ElementType>;

const mebi = 2 ** 20;

function sum(values: Numbers): Numbers {
  let total = 0;
  for (const value of values) total += value;
  return Float64Array.of(total);
}

type Partial<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]?: T[P] };
const standard = {
  block: 256,
  args: (input: Operand, output: Operand) => ({ input, output }),
  opencl: {},
  times: 1,
  tolerance: 0,
  compared: (output: Numbers) => output,
} as const;

function work(given: Partial<Work, keyof typeof standard>): Work {
  return { ...standard, ...given };
}

function same(element: Numbered, length: number): Pick<Work, 'input' | 'output' | 'count'> {
  return { input: { element, length }, output: { element, length }, count: length };
}

/** 3x + 1 of `length` integers: `grid` blocks, each of which stages `batchCount` batches of `batch` elements. */
function linear(
  length: number,
  grid: number,
  { batch = 256, times = 1, kernel = withStagingUnified as Kernel } = {},
): Work {
  const batchCount = length / (grid * batch);
  return work({
    ...same('i32', length),
    fill: (index) => Math.imul(index, 2654435761),
    kernels: { warpstage: kernel },
    grid,
    args: (input, output) =>
      kernel === (kernels.partitioned as Kernel)
        ? { input, output, batchCount }
        : { globalIn: input, globalOut: output, batchCount },
    loop: loops.w1,
    opencl:
      batch === 256
        ? {
            OpenCL: { name: 'w1', argument: batchCount, shape: [grid * 256, 1, 256, 1] },
            'OpenCL, not staged': { name: 'w1_direct', argument: 0, shape: [length, 1, 256, 1] },
          }
        : {},
    native: 'w1',
    times,
  });
}

export const works = {
  w1lin: linear(64 * mebi, (64 * mebi) / 256, { times: 2 }),
  w1big: linear(64 * mebi, 1024, { times: 2 }),
  w1small: linear(mebi, 1024, { times: 256 }),
  w2: work({
    ...same('f32', 4 * mebi),
    fill: (index) => (index % 1000) / 1000,
    kernels: { warpstage: kernels.chain as Kernel, 'warpstage, fma': kernels.fusedChain as Kernel },
    grid: 1024,
    args: (input, output) => ({ input, output, batchCount: 16 }),
    loop: loops.w2,
    opencl: { OpenCL: { name: 'w2', argument: 16, shape: [1024 * 256, 1, 256, 1] } },
    native: 'w2',
    times: 4,
    tolerance: 1e-5,
  }),
  w3: work({
    ...same('f32', 16 * mebi),
    input: { element: 'f32', length: 16 * mebi + 16 },
    fill: (index) => ((index * 7) & 1023) / 1024,
    kernels: { warpstage: kernels.stencil as Kernel },
    grid: (16 * mebi) / 256,
    loop: loops.w3,
    opencl: { OpenCL: { name: 'w3', argument: 0, shape: [16 * mebi, 1, 256, 1] } },
    native: 'w3',
    times: 2,
  }),
  w4: work({
    input: { element: 'f32', length: 2 * mebi },
    output: { element: 'f32', length: mebi },
    count: 1024,
    fill: (index) => ((index * 7) & 63) / 64,
    kernels: { warpstage: kernels.product as Kernel },
    grid: [64, 64],
    block: [16, 16],
    args: (input, output) => ({ input, output, n: 1024 }),
    loop: loops.w4,
    opencl: { OpenCL: { name: 'w4', argument: 1024, shape: [1024, 1024, 16, 16] } },
    native: 'w4',
    tolerance: 1e-5,
  }),
  w5: work({
    input: { element: 'u32', length: mebi },
    output: { element: 'i32', length: mebi },
    count: mebi,
    fill: (index) => index + 1,
    kernels: { warpstage: kernels.collatz as Kernel },
    grid: mebi / 256,
    loop: loops.w5,
    opencl: { OpenCL: { name: 'w5', argument: 0, shape: [mebi, 1, 256, 1] } },
    native: 'w5',
  }),
  r: work({
    input: { element: 'f32', length: 16 * mebi },
    output: { element: 'f32', length: 256 },
    count: 16 * mebi,
    fill: (index) => ((index * 7) & 63) / 64,
    kernels: { warpstage: kernels.reduction as Kernel },
    grid: 256,
    loop: loops.r,
    native: 'r',
    times: 8,
    compared: sum,
  }),
  h: work({
    input: { element: 'u8', length: 64 * mebi },
    output: { element: 'u32', length: 256 },
    count: 64 * mebi,
    fill: (index) => Math.imul(index, 2654435761) >>> 24,
    kernels: { warpstage: kernels.histogram as Kernel },
    grid: 1024,
    loop: loops.h,
    native: 'h',
    times: 2,
  }),
  t: work({
    ...same('f32', 16 * mebi),
    count: 4096,
    fill: (index) => index,
    kernels: { warpstage: kernels.transposition as Kernel },
    grid: [128, 128],
    block: [32, 8],
    args: (input, output) => ({ input, output, n: 4096 }),
    loop: loops.t,
    native: 't',
    times: 2,
  }),
  d: work({
    ...same('f64', 8 * mebi),
    fill: (index) => index,
    kernels: { warpstage: kernels.axpy as Kernel },
    grid: (8 * mebi) / 256,
    loop: loops.d,
    native: 'd',
    times: 8,
  }),
  n: work({
    input: { element: 'f32', length: 4 * 8192 },
    output: { element: 'f32', length: 3 * 8192 },
    count: 8192,
    fill: (index) => ((index * 7) & 1023) / 1024,
    kernels: { warpstage: kernels.bodies as Kernel },
    grid: 32,
    loop: loops.n,
    native: 'n',
    plain: ['n_plain', 'native, -ffast-math'],
    tolerance: 1e-3,
  }),
  m: work({
    input: { element: 'i32', length: 1 },
    output: { element: 'i32', length: 1920 * 1080 },
    count: 1080,
    fill: () => 0,
    kernels: { warpstage: kernels.mandelbrot as Kernel },
    grid: (1920 * 1080) / 256,
    args: (_, output) => ({ output, columns: 1920, rows: 1080 }),
    loop: loops.m,
    native: 'm',
    times: 2,
    plain: ['m_plain', 'native'],
  }),
  s: linear(4 * mebi, 64, { batch: 128, times: 32, kernel: withSpecializedStaging as Kernel }),
  p: linear(4 * mebi, 64, { batch: 128, times: 32, kernel: kernels.partitioned as Kernel }),
  b: work({
    ...same('i32', 4 * mebi),
    fill: (index) => Math.imul(index, 2654435761),
    kernels: { warpstage: kernels.bitonic as Kernel },
    grid: (4 * mebi) / 512,
    loop: loops.b,
    native: 'b',
  }),
  c: work({
    input: { element: 'u8', length: 3 * 2050 * 2050 },
    output: { element: 'u8', length: 3 * 2048 * 2048 },
    count: 2048,
    fill: (index) => Math.imul(index, 2654435761) >>> 24,
    kernels: { warpstage: kernels.blur as Kernel },
    grid: [24, 2048],
    args: (input, output) => ({ input, output, n: 2048 }),
    loop: loops.c,
    native: 'c',
    times: 16,
    plain: ['c_plain', 'native'],
  }),
} as const satisfies Readonly<Record<string, Work>>;
