// What the editor knows of cuda.pipelined: a stage has the element type of what is copied into it, by its name.

import { expectTypeOf, test } from 'vitest';
import { type KernelArray, kernel } from 'warpstage';

test('stages have the types of their copies', () => {
  kernel({ a: 'readonly i32[]', b: 'readonly f64[]', wide: 'i64[]' }, ({ a, b, wide }, cuda) => {
    const group = cuda.thisThreadBlock();
    const shape = { group, stages: 2, batches: 4 };
    cuda.pipelined({
      ...shape,
      copy: (batch) => ({ source: a.subarray(batch), count: 1 }),
      use: (staged, batch) => {
        expectTypeOf(staged).toEqualTypeOf<KernelArray<'i32'>>();
        expectTypeOf(batch).toEqualTypeOf<number>();
      },
    });
    cuda.pipelined({
      ...shape,
      role: 'producer',
      copy: () => ({
        first: { source: b, count: cuda.alignedSize(8, 1), by: cuda.thisThread() },
        second: { source: wide, count: 1, room: 2, at: 1, by: group },
      }),
      use: ({ first, second }) => {
        expectTypeOf(first).toEqualTypeOf<KernelArray<'f64'>>();
        expectTypeOf(second[0]).toEqualTypeOf<bigint | undefined>();
      },
    });
    cuda.pipelined({
      ...shape,
      // @ts-expect-error: it is `source`
      copy: () => ({ from: a, count: 1 }),
      use: () => {},
    });
    cuda.pipelined({
      ...shape,
      // @ts-expect-error: a thread is one or the other
      role: 'both',
      copy: () => ({ source: a, count: 1 }),
      use: () => {},
    });
  });
});
