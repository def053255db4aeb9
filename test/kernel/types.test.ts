// The types that TypeScript infers from a schema, and those of the intrinsics.
// The type checker runs these tests; at run time they only have to load.

import { expect, expectTypeOf, test } from 'vitest';
import { deviceFunction, kernel, type LaunchArguments } from 'warpstage';
import type { Cuda, Pipeline } from '#warpstage/kernel/cuda.js';
import type { KernelBigInt, KernelMath, KernelNumber } from '#warpstage/kernel/cuda-math.js';
import { membersOf } from '#warpstage/kernel/intrinsics.js';
import type { ArrayArgument } from '#warpstage/kernel/kernel.js';
import type { DeviceFunction, KernelArray, ReadonlyKernelArray } from '#warpstage/kernel/schema.js';

const clamp = deviceFunction({ x: 'f32', low: 'f32', high: 'constant f32 = 1' }, ({ x, low, high }) =>
  Math.min(Math.max(x, low), high),
);

const sample = kernel(
  {
    y: 'f32[]',
    x: 'readonly u8[]',
    a: 'f32',
    n: 'index',
    flag: 'bool',
    wide: 'constant bool',
    stages: 'constant index = 2',
    clamp,
  },
  (data, cuda) => {
    expectTypeOf(data.y).toEqualTypeOf<KernelArray<'f32'>>();
    expectTypeOf(data.x).toEqualTypeOf<ReadonlyKernelArray<'u8'>>();
    expectTypeOf(data.x.subarray(1)).toEqualTypeOf<ReadonlyKernelArray<'u8'>>();
    expectTypeOf(data.x[0]!).toEqualTypeOf<number>();
    expectTypeOf(data.a).toEqualTypeOf<number>();
    expectTypeOf(data.n).toEqualTypeOf<number>();
    expectTypeOf(data.flag).toEqualTypeOf<boolean>();
    expectTypeOf(data.wide).toEqualTypeOf<boolean>();
    expectTypeOf(data.stages).toEqualTypeOf<number>();
    expectTypeOf(data.clamp).returns.toEqualTypeOf<number>();
    expectTypeOf(data.clamp)
      .parameter(0)
      .toEqualTypeOf<{ readonly x: number; readonly low: number } & { readonly high?: number }>();
    expectTypeOf(cuda).toEqualTypeOf<Cuda>();
    // @ts-expect-error: the schema has no such entry
    data.absent;
    // @ts-expect-error: a read-only array
    data.x[0] = 1;
    // @ts-expect-error: no such intrinsic
    cuda.makePipline();
    // @ts-expect-error: a pipeline of the thread's own has no shared state
    cuda.pipelineSharedState('thread', 2);
    // @ts-expect-error: no such element type
    cuda.sharedArray('f31', 2);
    // @ts-expect-error: a grid does not copy
    cuda.memcpyAsync(cuda.thisGrid(), data.y, data.y, 1, cuda.makePipeline());
  },
);

test('a launch passes what the schema says', () => {
  type Arguments = LaunchArguments<typeof sample.schema>;
  expectTypeOf<Arguments['y']>().toEqualTypeOf<ArrayArgument<'f32'>>();
  expectTypeOf<Arguments['x']>().toEqualTypeOf<ArrayArgument<'u8'>>();
  expectTypeOf<Arguments['a']>().toEqualTypeOf<number>();
  expectTypeOf<Arguments['flag']>().toEqualTypeOf<boolean>();
  expectTypeOf<Arguments['wide']>().toEqualTypeOf<boolean>();
  expectTypeOf<Arguments['stages']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Arguments['clamp']>().toMatchTypeOf<DeviceFunction | undefined>();
  type Required = 'y' | 'x' | 'a' | 'n' | 'flag' | 'wide';
  expectTypeOf<{ [K in Required]: Arguments[K] }>().toMatchTypeOf<Arguments>();
});

test('a device function takes handles, and a kernel does not', () => {
  deviceFunction({ pipeline: 'pipeline', y: 'f32[]' }, ({ pipeline, y }) => {
    expectTypeOf(pipeline).toEqualTypeOf<Pipeline>();
    expectTypeOf(y).toEqualTypeOf<KernelArray<'f32'>>();
  });
  // @ts-expect-error: it is made in the kernel
  expect(() => kernel({ pipeline: 'pipeline' }, () => {})).toThrow(
    "schema entry 'pipeline' of a kernel is a pipeline, and only device functions are given one",
  );
});

test('a wrong schema is a type error', () => {
  // @ts-expect-error: no such type
  expect(() => kernel({ y: 'f31[]' }, () => {})).toThrow('WS1010');
});

test("what a kernel may say of JavaScript's own names is what JavaScript has", () => {
  expectTypeOf<keyof KernelMath>().toExtend<keyof Math>();
  expectTypeOf<keyof KernelNumber>().toExtend<keyof NumberConstructor>();
  expectTypeOf<keyof KernelBigInt>().toExtend<keyof BigIntConstructor>();
  expectTypeOf<Math>().toExtend<{ [M in keyof KernelMath]: Math[M] extends number ? number : unknown }>();
});

test('the intrinsics have the members of the interfaces, in their order', () => {
  expect(membersOf('pipeline')).toEqual([
    'producerAcquire',
    'producerCommit',
    'consumerWait',
    'consumerWaitFor',
    'consumerWaitUntil',
    'consumerRelease',
    'quit',
  ]);
});

test('bigints and vectors are typed as they are passed and seen', () => {
  const wide = kernel(
    { a: 'i64[]', v: 'readonly f32x4[]', s: 'u64', p: 'i32x2', c: 'constant i64 = 3n', h: 'f16' },
    (data, cuda) => {
      expectTypeOf(data.a).toEqualTypeOf<KernelArray<'i64'>>();
      expectTypeOf(data.a[0]!).toEqualTypeOf<bigint>();
      expectTypeOf(data.s).toEqualTypeOf<bigint>();
      expectTypeOf(data.c).toEqualTypeOf<bigint>();
      expectTypeOf(data.h).toEqualTypeOf<number>();
      expectTypeOf(data.p).toEqualTypeOf<{ x: number; y: number }>();
      expectTypeOf(data.v[0]!.w).toEqualTypeOf<number>();
      expectTypeOf(cuda.sharedArray('u64', 4)).toEqualTypeOf<KernelArray<'u64'>>();
      expectTypeOf(cuda.localArray('f32x2', 4)).toEqualTypeOf<KernelArray<'f32x2'>>();
      // @ts-expect-error: bigints and numbers do not mix
      data.a[0] = 1;
    },
  );
  type Arguments = LaunchArguments<typeof wide.schema>;
  expectTypeOf<Arguments['a']>().toEqualTypeOf<ArrayArgument<'i64'>>();
  expectTypeOf<Arguments['s']>().toEqualTypeOf<bigint>();
  expectTypeOf<Arguments['c']>().toEqualTypeOf<bigint | undefined>();
  expect(wide.kind).toBe('kernel');
});

test('arrays of different elements do not mix, where the compiler does not mix them', () => {
  const put = deviceFunction({ to: 'i32[]', from: 'readonly i32[]' }, ({ to, from }) => {
    to[0] = from[0]!;
  });
  const mixed = kernel(
    { f: 'f32[]', i: 'i32[]', u: 'readonly u8[]', w: 'u64[]', v: 'f32x4[]', put },
    ({ f, i, u, w, v, put }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('f32', 32);
      const pipeline = cuda.makePipeline();
      const barrier = cuda.barrier(block);
      cuda.memcpyAsync(shared, f, 1, pipeline);
      cuda.memcpyAsync(block, shared, f.subarray(1), 1, barrier);
      put({ to: i, from: i });
      expectTypeOf(cuda.atomicAdd(w, 0, 1n)).toEqualTypeOf<bigint>();
      expectTypeOf(cuda.atomicAdd(shared, 0, 1)).toEqualTypeOf<number>();
      expectTypeOf(cuda.atomicCAS(i, 0, 1, 2)).toEqualTypeOf<number>();
      let [front, back] = [f, shared];
      [front, back] = [back, front];
      const either = cuda.laneId > 3 ? front : back;
      expectTypeOf(either).toEqualTypeOf<KernelArray<'f32'>>();
      const first = (array: ReadonlyKernelArray) => array[0]!;
      expectTypeOf(first(f) + first(u)).toEqualTypeOf<number>();

      // @ts-expect-error: a copy keeps the bits
      cuda.memcpyAsync(shared, i, 1, pipeline);
      // @ts-expect-error: a copy of a group, too
      cuda.memcpyAsync(block, shared, u, 1, barrier);
      // @ts-expect-error: and one without a pipeline
      cuda.cg.memcpyAsync(block, f, v, 1);
      // @ts-expect-error: and one by a thread
      cuda.pipelineMemcpyAsync(shared, i, 1);
      // @ts-expect-error: it writes there
      cuda.memcpyAsync(u, u, 1, pipeline);
      // @ts-expect-error: the function takes another element type
      put({ to: f, from: i });
      // @ts-expect-error: atomics work on 32 and 64 bits
      cuda.atomicAdd(cuda.sharedArray('u8', 4), 0, 1);
      // @ts-expect-error: of floats only the addition is atomic
      cuda.atomicMax(f, 0, 1);
      // @ts-expect-error: an element that is written as a bigint
      cuda.atomicAdd(w, 0, 1);
      // @ts-expect-error: bigints are no numbers
      first(w);
    },
  );
  expect(mixed.kind).toBe('kernel');
});
