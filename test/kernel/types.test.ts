// The types that TypeScript infers from a schema, and that the typed intrinsics are the table's.
// The type checker runs these tests; at run time they only have to load.

import { expect, expectTypeOf, test } from 'vitest';
import { deviceFunction, kernel, type LaunchArguments } from 'warpstage';
import type {
  Barrier,
  BarrierArray,
  CooperativeGroups,
  Cuda,
  Grid,
  Pipeline,
  Thread,
  ThreadBlock,
  Tile,
} from '#warpstage/kernel/cuda.js';
import { type IntrinsicName, intrinsics, membersOf } from '#warpstage/kernel/intrinsics.js';
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
    expectTypeOf(data.y).toEqualTypeOf<KernelArray>();
    expectTypeOf(data.x).toEqualTypeOf<ReadonlyKernelArray>();
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
    expectTypeOf(y).toEqualTypeOf<KernelArray>();
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

/** The members that the table has for a receiver. */
type TableMembers<R extends string> = IntrinsicName extends infer N
  ? N extends `${R}.${infer M}`
    ? M
    : never
  : never;

test('the typed intrinsics are those of the table', () => {
  expectTypeOf<TableMembers<'cuda'>>().toEqualTypeOf<keyof Cuda>();
  expectTypeOf<TableMembers<'grid'>>().toEqualTypeOf<keyof Grid>();
  expectTypeOf<TableMembers<'block'>>().toEqualTypeOf<keyof ThreadBlock>();
  expectTypeOf<TableMembers<'tile'>>().toEqualTypeOf<keyof Tile>();
  expectTypeOf<TableMembers<'thread'>>().toEqualTypeOf<keyof Thread>();
  expectTypeOf<TableMembers<'pipeline'>>().toEqualTypeOf<keyof Pipeline>();
  expectTypeOf<TableMembers<'cg'>>().toEqualTypeOf<keyof CooperativeGroups>();
  expectTypeOf<TableMembers<'barrier'>>().toEqualTypeOf<keyof Barrier>();
  expectTypeOf<TableMembers<'barriers'>>().toEqualTypeOf<Exclude<keyof BarrierArray, number>>();
  expectTypeOf<TableMembers<'array'>>().toEqualTypeOf<Exclude<keyof KernelArray, number>>();
  expectTypeOf<TableMembers<'Math'>>().toExtend<keyof Math>();
  expectTypeOf<TableMembers<'Number'>>().toExtend<keyof NumberConstructor>();
});

/** What is called in the table is called in the types, and what is read is read. */
type CalledIn<T, R extends string> = {
  [M in keyof T & string]: `${R}.${M}` extends IntrinsicName
    ? (typeof intrinsics)[`${R}.${M}`] extends { readonly forms: unknown }
      ? T[M] extends (...args: never[]) => unknown
        ? true
        : M
      : T[M] extends (...args: never[]) => unknown
        ? M
        : true
    : M;
}[keyof T & string];

test('functions are functions in both', () => {
  expectTypeOf<CalledIn<Cuda, 'cuda'>>().toEqualTypeOf<true>();
  expectTypeOf<CalledIn<ThreadBlock, 'block'>>().toEqualTypeOf<true>();
  expectTypeOf<CalledIn<Pipeline, 'pipeline'>>().toEqualTypeOf<true>();
  expectTypeOf<CalledIn<Barrier, 'barrier'>>().toEqualTypeOf<true>();
});

test('every intrinsic says what it is in CUDA, and in one sentence what it does', () => {
  for (const [name, { cuda, doc }] of Object.entries(intrinsics)) {
    expect(cuda, name).not.toBe('');
    expect(doc, name).toMatch(/\.$/);
  }
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
      expectTypeOf(data.a).toEqualTypeOf<KernelArray<bigint>>();
      expectTypeOf(data.s).toEqualTypeOf<bigint>();
      expectTypeOf(data.c).toEqualTypeOf<bigint>();
      expectTypeOf(data.h).toEqualTypeOf<number>();
      expectTypeOf(data.p).toEqualTypeOf<{ x: number; y: number }>();
      expectTypeOf(data.v[0]!.w).toEqualTypeOf<number>();
      expectTypeOf(cuda.sharedArray('u64', 4)).toEqualTypeOf<KernelArray<bigint>>();
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
