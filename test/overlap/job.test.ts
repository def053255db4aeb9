import { describe, expect, expectTypeOf, test } from 'vitest';
import { job, kernel, sequence, WarpstageError } from 'warpstage';

const affine = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
  const i = cuda.thisThreadBlock().threadRank();
  y[i] = a * x[i]! + b;
});

const histogram = kernel({ counts: 'u32[]', x: 'readonly f32[]', bins: 'constant index = 64' }, () => {});

type Given<J extends { readonly gives?: unknown }> = NonNullable<J['gives']>;

describe('types', () => {
  test('names and results follow the schema', () => {
    const map = job({ kernel: affine, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 1, b: 0 } });
    expectTypeOf<Given<typeof map>['outputs']['y']>().toEqualTypeOf<Float32Array>();
    const reduce = job({
      kernel: histogram,
      inputs: { x: {} },
      accumulators: { counts: { length: 'bins' } },
      finish: ({ counts }) => {
        expectTypeOf(counts).toEqualTypeOf<Uint32Array>();
        return { total: counts.length };
      },
    });
    expectTypeOf<Given<typeof reduce>['value']>().toEqualTypeOf<{ total: number }>();
    const whole = sequence([reduce, { job: map, settings: (value) => ({ a: value.total }) }]);
    expectTypeOf<Given<typeof whole>['outputs']['y']>().toEqualTypeOf<Float32Array>();
    expect(whole.kind).toBe('sequence');
  });

  test('a name that the kernel does not have is an error of TypeScript too', () => {
    expect(() =>
      // @ts-expect-error: x is only read
      job({ kernel: affine, inputs: { x: {} }, outputs: { x: {} }, settings: { a: 1, b: 0 } }),
    ).toThrow(WarpstageError);
    expect(() =>
      // @ts-expect-error: there is no setting c
      job({ kernel: affine, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 1, b: 0, c: 1 } }),
    ).toThrow(WarpstageError);
    expect(() =>
      // @ts-expect-error: there is no array z
      job({ kernel: affine, inputs: { z: {} }, outputs: { y: {} }, settings: { a: 1, b: 0 } }),
    ).toThrow(WarpstageError);
  });
});
