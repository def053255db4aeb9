// A check takes the arguments that a launch takes, and refuses the others in the same words.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Device, deviceFunction, kernel, open, WarpstageError } from 'warpstage';
import { check } from 'warpstage/check';
import { randomRuns } from '../differential/tape.ts';

const twice = deviceFunction({ v: 'i32' }, ({ v }) => v * 2);

const everything = kernel(
  {
    y: 'i32[]',
    a: 'i32',
    n: 'index',
    b: 'bool',
    g: 'i64',
    v: 'f32x2',
    c: 'constant i32 = 2',
    d: 'constant i32',
    twice,
  },
  ({ y, a, n, b, g, v, c, d, twice }, cuda) => {
    const t = cuda.thisGrid().threadRank();
    if (b && t < n) y[t] = twice({ v: a + c + d + cuda.i32(g) + cuda.i32(v.x + v.y) });
  },
);

const right = { a: 1, n: 4, b: true, g: 3n, v: { x: 1, y: 2 }, c: 5, d: 6, twice } as const;
type Name = keyof typeof right;

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

/** What is wrong, without who says so and where an argument belongs; null if nothing is. */
function refusal(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues.map(({ code, message }) => `${code} ${message.replace(/^\w+ of /, '')}`).join('\n');
  }
}

function refusals(given: Readonly<Record<string, unknown>>) {
  const y = device.alloc('i32', 4);
  const shape = { grid: 1, block: 4 } as const;
  const checked = refusal(() => {
    check(everything, { ...shape, arguments: { ...given, y: { length: 4 } } } as never);
  });
  const launched = refusal(() => {
    device.defaultStream.launch(everything, shape, { ...given, y } as never);
  });
  y.free();
  return { checked, launched };
}

test('null is no argument that was left out', () => {
  for (const name of Object.keys(right) as Name[]) {
    const { checked, launched } = refusals({ ...right, [name]: null });
    expect(checked, name).toContain(`argument \`${name}\` must be`);
    expect(launched, name).toBe(checked);
  }
});

test('what is left out has its default, or is missing', () => {
  const { c: _, twice: __, ...least } = right;
  for (const given of [right, least, { ...right, c: undefined, twice: undefined }]) {
    expect(refusals(given)).toEqual({ checked: null, launched: null });
  }
  expect(refusals({ ...right, d: undefined }).checked).toContain('argument `d` is missing');
});

test('whatever is given, both take it or both refuse it', async () => {
  const anything = fc.oneof(
    fc.constantFrom(
      null,
      undefined,
      true,
      -1,
      0.5,
      NaN,
      Infinity,
      3n,
      2 ** 31,
      'four',
      { x: 1 },
      { x: 1, y: null },
    ),
    fc.constant([1, 2]),
    fc.constant(twice),
    fc.constant((v: number) => v),
  );
  const names = [...(Object.keys(right) as Name[]), 'unknown'] as const;
  let refused = 0;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 3 }), (wrong) => {
      const { checked, launched } = refusals({ ...right, ...wrong });
      expect(checked).toBe(launched);
      if (checked !== null) refused += 1;
    }),
    randomRuns(200),
  );
  expect(refused).toBeGreaterThan(50);
  await device.synchronize();
});
