// map() and reduce(): jobs of a function of one row, on every device that is here.

import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { deviceFunction, job, kernel, map, plan, reduce, run, WarpstageError } from 'warpstage';
import { check } from 'warpstage/check';
import { mean } from '../../examples/mean.ts';
import { functionOf, mistakesIn } from '../compiler/support.ts';
import { devices } from '../support/devices.ts';
import { runEverywhere } from '../support/everywhere.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

const scaled = map({ y: 'f32', x: 'u8' }, ({ x }) => x / 255);
const mixed = map(
  { y: 'f32', a: 'f32', b: 'f32', gain: 'constant f32 = 1' },
  ({ a, b, gain }) => gain * (a + b),
  { settings: { gain: { description: 'what the sum is multiplied by', maximum: 100 } } },
);
const parts = map({ low: 'u8', high: 'u8', x: 'u16' }, ({ x }) => ({ low: x & 255, high: x >> 8 }));
const smooth = map(
  { y: 'i32', x: 'i32[-2..1]' },
  ({ x }) => x[-2]! + 10 * x[-1]! + 100 * x[0]! + 1000 * x[1]!,
  {
    inputs: { x: { edge: 'clamp' } },
  },
);
const extremes = reduce(
  { low: 'i32', high: 'i32', sum: 'i64', x: 'i32' },
  ({ x }, cuda) => ({
    low: x,
    high: x,
    sum: cuda.i64(x),
  }),
  { combine: { low: 'min', high: 'max' } },
);
const length = reduce({ sum: 'f32', x: 'f32', y: 'f32' }, ({ x, y }) => Math.sqrt(x * x + y * y));

const bytes = Uint8Array.from({ length: 9_001 }, (_, i) => (i * 31) % 256);

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  test('a function of an element, of several together, and of neighbours', async () => {
    await using device = await open();
    const { outputs } = await run(scaled, { input: bytes, device, chunk: 2000 });
    expect(outputs.y).toEqual(Float32Array.from(bytes, (x) => Math.fround(x) / 255));

    const [a, b] = [Float32Array.of(1, 2, 3), Float32Array.of(10, 20, 30)];
    const both = await run(mixed, { input: { a, b }, device, settings: { gain: 2 } });
    expect(both.outputs.y).toEqual(Float32Array.of(22, 44, 66));

    const words = Uint16Array.of(0x1234, 0xffff, 7);
    const { outputs: split } = await run(parts, { input: words, device });
    expect(split).toEqual({ low: Uint8Array.of(0x34, 0xff, 7), high: Uint8Array.of(0x12, 0xff, 0) });

    const x = Int32Array.of(1, 2, 3, 4, 5);
    for (const chunk of [2, 5]) {
      const near = await run(smooth, { input: x, device, chunk });
      expect(near.outputs.y).toEqual(Int32Array.of(2111, 3211, 4321, 5432, 5543));
    }
  });

  test('a quotient of integers is one of floats, for one result or several, early or last', async () => {
    await using device = await open();
    const halves = map({ y: 'f32', z: 'f64', x: 'u8' }, ({ x }) => ({ y: x / 2, z: x / 4 }));
    const input = Uint8Array.of(1, 3, 255);
    expect((await run(halves, { input, device })).outputs).toEqual({
      y: Float32Array.of(0.5, 1.5, 127.5),
      z: Float64Array.of(0.25, 0.75, 63.75),
    });
    const early = map({ y: 'f32', x: 'u8' }, ({ x }) => {
      if (x > 200) return x / 5;
      return x / 2;
    });
    expect((await run(early, { input, device })).outputs.y).toEqual(Float32Array.of(0.5, 1.5, 51));
    const sum = reduce({ sum: 'f64', x: 'u8' }, ({ x }) => x / 2);
    expect((await run(sum, { input, device })).value).toBe(129.5);
  });

  test('a sum, a least and a greatest value, and what is made of them', async () => {
    await using device = await open();
    const exact = bytes.reduce((sum, x) => sum + x, 0) / bytes.length;
    expect((await run(mean, { input: bytes, device, chunk: 999 })).value).toBe(exact);
    const x = Int32Array.from({ length: 20_000 }, (_, i) => ((i * 7919) % 20_011) - 10_000);
    expect((await run(extremes, { input: x, device, chunk: 16_384 })).value).toEqual({
      low: x.reduce((a, b) => Math.min(a, b)),
      high: x.reduce((a, b) => Math.max(a, b)),
      sum: BigInt(x.reduce((a, b) => a + b)),
    });
  });
});

const wave = Float32Array.from({ length: 24_000 }, (_, i) => Math.sin(i) * 1e3);

test('a sum of floats has the same bits however the rows are cut, and on every device', async () => {
  const values = new Set<unknown>();
  for (const { open } of devices) {
    await using device = await open();
    for (const chunk of [4777, 16_384, 24_000]) {
      values.add((await run(length, { input: { x: wave, y: wave }, device, chunk })).value);
    }
  }
  expect(values.size).toBe(1);
  const [value] = [...values] as [number];
  const expected = wave.reduce((sum, x) => sum + Math.SQRT2 * Math.abs(x), 0);
  expect(Math.abs(value / expected - 1)).toBeLessThan(1e-5);
});

test('a reduction counts every row once, wherever chunks and tiles begin', async () => {
  const ones = reduce({ sum: 'i32', first: 'i32', x: 'i32' }, ({ x }) => ({ sum: 1, first: x }), {
    combine: { first: 'max' },
  });
  await using device = await devices[0]!.open();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60_000 }),
      fc.integer({ min: 1000, max: 40_000 }),
      async (rows, chunk) => {
        const x = Int32Array.from({ length: rows }, (_, i) => i);
        const { value } = await run(ones, { input: x, chunk, device });
        expect(value).toEqual({ sum: rows, first: rows - 1 });
      },
    ),
    { numRuns: 15 },
  );
});

test('windows are those of the whole, whichever positions are read and wherever chunks end', async () => {
  const weighted = deviceFunction({ x: 'i32[-3..2]', from: 'i32', to: 'i32' }, ({ x, from, to }) => {
    let sum = 0;
    for (let k = from; k <= to; k++) sum += (k + 5) * x[k]!;
    return sum;
  });
  const whole = kernel(
    { y: 'i32[]', x: 'readonly i32[]', from: 'i32', to: 'i32', weighted },
    ({ y, x, from, to, weighted }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = weighted({ x: x.subarray(i + 3), from, to });
    },
  );
  fc.assert(
    fc.property(fc.integer({ min: -3, max: 2 }), fc.integer({ min: -3, max: 2 }), (a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const x = Int32Array.from({ length: 45 }, (_, i) => i * i);
      const y = new Int32Array(40);
      const { fault, arguments: results } = runEverywhere(whole, {
        grid: [1, 1, 1],
        block: [64, 1, 1],
        arguments: { y, x, from, to },
      });
      const of = (i: number) => {
        let sum = 0;
        for (let k = from; k <= to; k++) sum += (k + 5) * x[i + 3 + k]!;
        return sum;
      };
      expect(fault).toBeNull();
      expect(results.y).toEqual(y.map((_, i) => of(i)));
    }),
    { numRuns: 12 },
  );
  // One past the window is an error, though the array goes on there.
  const { fault } = runEverywhere(whole, {
    grid: [1, 1, 1],
    block: [32, 1, 1],
    arguments: { y: new Int32Array(40), x: new Int32Array(45), from: 0, to: 3 },
  });
  expect(fault).toMatchObject({ kind: 'out-of-range' });
});

test('a position outside the window is an error at its place, and so is any other use', () => {
  const at = (text: string) => {
    const near = deviceFunction({ x: 'f32[-1..1]' }, functionOf(text) as () => number);
    const schema = { y: 'f32[]', x: 'readonly f32[]', near } as const;
    return mistakesIn(schema, '({ y, x, near }) => { y[0] = near({ x: x.subarray(3) }); }').join('\n');
  };
  expect(at('({ x }) => x[2]')).toContain("WS1009 1:12 x[2]: 'x' has the positions -1 to 1, and this is 2");
  expect(at('({ x }) => x[2]')).toContain("widen its window: x: 'f32[-1..2]'");
  expect(at('({ x }) => x.subarray(1)[0]')).toContain(
    "WS1006 1:12 x.subarray(1): 'x' is an element with its neighbours, and stands for no array (read each by its position: x[-1] to x[1])",
  );
  expect(at('({ x }) => x.length')).toBe('');
  expect(() => kernel({ x: 'f32[-1..1]' } as never, () => {})).toThrow('only device functions are given one');
  expect(() => deviceFunction({ x: 'f32[1..2]' }, () => 0)).toThrow(
    "schema entry 'x' is the window 'f32[1..2]', which does not reach from 0 or below to 0 or above",
  );
});

/** The issue of an error, as a person sees it. */
async function issueOf(work: () => Promise<unknown> | unknown) {
  try {
    await work();
  } catch (error) {
    if (error instanceof WarpstageError) return error.issues[0]!;
    throw error;
  }
  throw new Error('there was no error');
}
const here = (await import('node:fs')).readFileSync(new URL(import.meta.url), 'utf8').split('\n');

test('what is wrong in the function, and with its result, is reported at its own line and column', async () => {
  const input = new Float32Array(4);
  const factor = 3;
  const cases = [
    [map({ y: 'f32', x: 'f32' }, ({ x }) => x * factor), 'factor)', 'WS1002'],
    [map({ y: 'i32', x: 'f32' }, ({ x }) => x + 0.25), 'x + 0.25', 'WS1004'],
    [
      map({ y: 'i32', x: 'f32' }, ({ x }) => {
        const half = x / 2;
        return half + 0.125;
      }),
      'half + 0.125',
      'WS1004',
    ],
    [reduce({ sum: 'i32', x: 'f32' }, ({ x }) => x + 0.5), 'x + 0.5', 'WS1004'],
    [map({ y: 'f32', z: 'i32', x: 'f32' }, ({ x }) => ({ y: x, z: x * 0.625 })), 'x * 0.625', 'WS1004'],
    [
      reduce({ sum: 'f32', most: 'i32', x: 'f32' }, ({ x }) => {
        const most = x + 0.875;
        return { sum: x, most };
      }),
      'most };',
      'WS1004',
    ],
  ] as const;
  for (const [work, words, code] of cases) {
    const { code: reported, location, hint } = await issueOf(() => run(work as never, { input }));
    // What the hint proposes is the text that the caret marks, as it runs: Vite takes the zero from 0.5.
    const marked = words.replace(' };', '');
    if (code === 'WS1004') expect(hint).toContain(`cast it: cuda.i32(${marked.replace('0.', '.')})`);
    const line = here.findIndex((text) => text.includes(words) && !text.includes('findIndex'));
    expect({ reported, line: location?.line, column: location?.column, file: location?.file }).toEqual({
      reported: code,
      line: line + 1,
      column: here[line]!.indexOf(words) + 1,
      file: expect.stringContaining('rows.test.ts'),
    });
  }
});

test.each([
  [() => map({ y: 'f32' }, () => 1), 'map(): no entry of the schema is an input'],
  [() => map({ y: 'f32', x: 'f32[]' } as never, () => 1), "map(): 'x' is 'f32[]', which no row has"],
  [
    () => map({ y: 'f32', x: 'f32', a: 'index' } as never, () => 1),
    "map(): 'a' is 'index', which no row has",
  ],
  [
    () => map({ x: 'f32[-1..1]', y: 'f32' }, ({ y }) => y),
    "'x' is what the function gives, and is 'f32[-1..1]'",
  ],
  [
    () => map({ y: 'f32', x: 'f32' }, ({ x }) => ({ z: x }) as never),
    "the function gives 'z', and the schema has no such",
  ],
  [
    () => map({ x: 'u8', gain: 'constant f32 = 2', y: 'f32' }, ({ x, gain }) => x * gain),
    "map(): the function takes 'x', which is its result",
  ],
  [
    () => map({ y: 'f32', x: 'f32' }, ({ x, y }) => ({ y: x + y })),
    "map(): the function takes 'y', which is its result",
  ],
  [() => map({ y: 'f32', x: 'f33' } as never, () => 1), "'x' has the type 'f33', which does not exist"],
  [() => map(null as never, () => 1), 'map() takes a schema and a function of a row'],
  [() => map({ y: 'f32', x: 'f32' }, 5 as never), 'map() takes a schema and a function of a row'],
  [() => reduce({ sum: 'u8', x: 'u8' }, ({ x }) => x), "'sum' is u8, which is too narrow to fold in"],
  [
    () => reduce({ sum: 'u32', x: 'u8' }, ({ x }) => x, { combine: 'product' as never }),
    '\'sum\' is to be combined by "product"',
  ],
])('is refused: %s', (make, message) => {
  expect(make).toThrow(message);
});

test('a result that does not come first is shown where it belongs, and what a row lacks is named', async () => {
  const { hint } = await issueOf(() =>
    map({ x: 'u8', gain: 'constant f32 = 2', y: 'f32' }, ({ x, gain }) => x * gain),
  );
  expect(hint).toBe(
    "the schema's first entry is the result, the others are the inputs: map({ y: 'f32', x: 'u8', gain: 'constant f32 = 2' }, …)",
  );
  const unknown = map({ y: 'f32', x: 'f32' }, ((row: { z: number }) => row.z) as never);
  const { code, message, hint: add } = await issueOf(() => run(unknown, { input: new Float32Array(1) }));
  expect([code, message, add]).toEqual([
    'WS1003',
    "a row has no 'z'",
    "add it to the schema: z: 'f32', or the type that it has",
  ]);
});

test('is a job like others: planned, checked, run with what job() makes, and named by its export', async () => {
  const planned = await plan(scaled, { input: bytes });
  expect(planned.wall).toBeGreaterThan(0);
  const { kernel: ofMap } = scaled.definition;
  const findings = await check(ofMap, {
    grid: 2,
    block: 64,
    arguments: { y: { length: 100 }, x: { length: 100 } } as never,
  });
  expect(findings.verdict).toBe('clean');
  const { spans } = await run(scaled, { input: bytes, trace: true });
  expect(spans.find(({ engine }) => engine === 'compute')?.name).toBe('scaled');
  expect(scaled.kind).toBe(job({ kernel: ofMap, inputs: { x: {} }, outputs: { y: {} } } as never).kind);
});

test('types follow from the schema', () => {
  type Value<J> = J extends { readonly gives?: { readonly value: infer V } } ? V : never;
  expectTypeOf<Value<typeof mean>>().toEqualTypeOf<number>();
  expectTypeOf<Value<typeof extremes>>().toEqualTypeOf<{
    readonly low: number;
    readonly high: number;
    readonly sum: bigint;
  }>();
  expectTypeOf<Value<typeof length>>().toEqualTypeOf<number>();
  type Outputs<J> = J extends { readonly gives?: { readonly outputs: infer O } } ? O : never;
  expectTypeOf<Outputs<typeof scaled>['y']>().toEqualTypeOf<Float32Array>();
  expectTypeOf<Outputs<typeof parts>>().toEqualTypeOf<{
    readonly low: Uint8Array;
    readonly high: Uint8Array;
  }>();
  // An input with neighbours is no result, and neither is a constant.
  expectTypeOf<Outputs<typeof smooth>>().toEqualTypeOf<{ readonly y: Int32Array }>();
  // A single value is in an entry that can hold it, whatever the inputs are.
  const widened = map({ y: 'i64', x: 'i32' }, ({ x }, cuda) => cuda.i64(x));
  expectTypeOf<Outputs<typeof widened>>().toEqualTypeOf<{ readonly y: BigInt64Array }>();
  const narrowed = map({ y: 'u8', x: 'u64', w: 'i64' }, ({ x, w }) => x > w);
  expectTypeOf<Outputs<typeof narrowed>>().toEqualTypeOf<{ readonly y: Uint8Array }>();
  const counted = reduce({ count: 'u64', x: 'i32' }, ({ x }) => (x < 0 ? 1n : 0n));
  expectTypeOf<Value<typeof counted>>().toEqualTypeOf<bigint>();
  const positive = reduce({ n: 'u32', x: 'i64' }, ({ x }) => (x > 0n ? 1 : 0), {
    finish: (folded, { rows }) => {
      expectTypeOf(folded).toEqualTypeOf<{ readonly n: number }>();
      return folded.n / rows;
    },
  });
  expectTypeOf<Value<typeof positive>>().toEqualTypeOf<number>();
  // @ts-expect-error: a row has a number, no array
  map({ y: 'f32', x: 'f32' }, ({ x }) => x.length);
  // @ts-expect-error: the schema has no such entry
  map({ y: 'f32', x: 'f32' }, ({ z }) => z);
  // @ts-expect-error: 64 bits are bigints
  map({ y: 'f32', x: 'i64' }, ({ x }) => x * 2);
});
