// reduce() with `by`: what plain JavaScript gives of random rows, and the same bits whatever the chunks.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Job, reduce, run } from 'warpstage';
import { check } from 'warpstage/check';
import { describeCut } from '#warpstage/overlap/shards/describe-cut.js';
import { combinePieces, reducePiece } from '#warpstage/overlap/shards/reductions.js';
import { runHere } from '../cli/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { atLength } from '../support/thorough.ts';
import { expectFailure, npyFile, temporaryDirectory } from './support.ts';

/** By an input, with one result. */
const byInput = (groups: number) =>
  reduce({ sum: 'f32', key: 'u32', x: 'f32' }, ({ x }) => x, { by: 'key', groups });

/** By a key that the function makes, with several results. */
const byResult = (groups: number) =>
  reduce(
    { low: 'i32', key: 'i32', sum: 'i64', high: 'f64', k: 'u32', x: 'f32' },
    ({ k, x }, cuda) => ({ low: cuda.i32(x), sum: cuda.i64(k), key: cuda.i32(k), high: x }),
    { by: 'key', groups, combine: { low: 'min', high: 'max' } },
  );

type Rows = {
  readonly k: Uint32Array;
  readonly x: Float32Array;
};

/** Random rows whose keys are below a number of groups. */
function rowsOf(seed: number, rows: number, groups: number): Rows {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const k = Uint32Array.from({ length: rows }, () => Math.floor(next() * next() * groups));
  return { k, x: Float32Array.from({ length: rows }, () => (next() - 0.5) * 2000) };
}

/** What plain JavaScript makes of them. */
function expectedOf({ k, x }: Rows) {
  const groups = new Map<number, { rows: number; low: number; high: number; sum: bigint }>();
  for (const [i, key] of k.entries()) {
    const { rows, low, high, sum } = groups.get(key) ?? {
      rows: 0,
      low: Infinity,
      high: -Infinity,
      sum: 0n,
    };
    groups.set(key, {
      rows: rows + 1,
      low: Math.min(low, Math.trunc(x[i]!) + 0),
      high: Math.max(high, x[i]!),
      sum: sum + BigInt(key),
    });
  }
  return [...groups].sort(([a], [b]) => a - b).map(([key, group]) => ({ key, ...group }));
}

const someRows = fc.record({
  seed: fc.nat(),
  rows: fc.integer({ min: 1, max: 40_000 }),
  groups: fc.constantFrom(1, 2, 7, 32, 1000, 3000, ...(atLength ? [524_288] : [])),
  chunks: fc.array(fc.integer({ min: 500, max: 40_000 }), { minLength: 1, maxLength: 2 }),
});

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  test('random rows: what JavaScript gives, in the order of keys', async () => {
    await using device = await open();
    const property = fc.asyncProperty(someRows, async ({ seed, rows, groups, chunks: [chunk] }) => {
      const input = rowsOf(seed, rows, groups);
      const { value } = await run(byResult(groups), { input, device, chunk: chunk! });
      expect(value).toEqual(expectedOf(input));
    });
    await fc.assert(property, randomRuns(3));
  });

  test('random rows: sums of floats have the same bits whatever the chunks', async () => {
    await using device = await open();
    const property = fc.asyncProperty(someRows, async ({ seed, rows, groups, chunks }) => {
      const { k: key, x } = rowsOf(seed, rows, groups);
      const work = byInput(groups);
      const whole = await run(work, { input: { key, x }, device, chunk: rows });
      for (const chunk of chunks) {
        expect((await run(work, { input: { key, x }, device, chunk })).value).toEqual(whole.value);
      }
      const counts = expectedOf({ k: key, x }).map(({ key, rows }) => ({ key, rows }));
      expect(whole.value.map(({ key, rows }) => ({ key, rows }))).toEqual(counts);
    });
    await fc.assert(property, randomRuns(2));
  });

  test('a key beyond the groups is an error, which says what to do', async () => {
    await using device = await open();
    const x = Float32Array.of(1, 2, 3);
    const high = run(byInput(8), { input: { key: Uint32Array.of(1, 41, 9), x }, device });
    await expectFailure(
      high,
      'WS5005',
      /the key 'key' of a row is 41, and the keys of 8 groups are 0 to 7/,
      /say that there are more: groups: 42/,
    );
    const next = run(byInput(8), { input: { key: Uint32Array.of(1, 8, 3), x }, device });
    await expectFailure(next, 'WS5005', /is 8, and the keys of 8 groups are 0 to 7/, /groups: 9/);
    const signed = reduce({ sum: 'f32', key: 'i8', x: 'f32' }, ({ x }) => x, { by: 'key', groups: 8 });
    const low = run(signed, { input: { key: Int8Array.of(1, -3, -9), x }, device });
    await expectFailure(
      low,
      'WS5005',
      /the key 'key' of a row is -3/,
      /let the function make keys that are whole numbers from 0 on/,
    );
  });
});

test('finish gets the groups, and the rows of all', async () => {
  const shares = reduce({ sum: 'f64', key: 'u8', x: 'u8' }, ({ x }) => x, {
    by: 'key',
    groups: 4,
    finish: (groups, { rows }) => groups.map(({ key, rows: own, sum }) => [key, own / rows, sum / own]),
  });
  const { value } = await run(shares, {
    input: { key: Uint8Array.of(3, 0, 3, 3), x: Uint8Array.of(1, 5, 2, 3) },
  });
  expectTypeOf(value).toEqualTypeOf<number[][]>();
  expect(value).toEqual([
    [0, 0.25, 5],
    [3, 0.75, 2],
  ]);
});

test('types follow from the schema', () => {
  type Value<J> = J extends { readonly gives?: { readonly value: infer V } } ? V : never;
  type Of<J> = Value<J> extends (infer G)[] ? { [K in keyof G]: G[K] } : never;
  const grouped = byResult(2);
  expectTypeOf<Of<typeof grouped>>().toEqualTypeOf<{
    readonly key: number;
    readonly rows: number;
    readonly low: number;
    readonly sum: bigint;
    readonly high: number;
  }>();
  // @ts-expect-error: no entry has this name
  const misspelt = () => reduce({ sum: 'f64', key: 'u8', x: 'u8' }, ({ x }) => x, { by: 'kye', groups: 4 });
  expect(misspelt).toThrow('\'by\' is "kye", which is no element of a row');
});

test('the kernel is clean under the checker', async () => {
  const { kernel } = byResult(5).definition;
  const findings = await check(kernel, {
    grid: 3,
    block: 256,
    arguments: {
      ...{ low: { length: 327_680 }, sum: { length: 327_680 }, high: { length: 327_680 } },
      ...{ counts: { length: 327_680 }, strays: { length: 65_536 } },
      ...{ k: { length: 700 }, x: { length: 700 }, offset: 100, rows: 700 },
    } as never,
  });
  expect(findings.verdict).toBe('clean');
});

const none = 'is "none", which is no element of a row';
const howMany = "say how many keys there may be, from 0 on: { by: 'key', groups: 256 }";

test.each([
  [{ by: 'none', groups: 4 }, none, 'name an input, or one of several results of the function: by: "key"'],
  [{ by: 'near', groups: 4 }, '\'by\' is "near", which is no element of a row', 'by: "key"'],
  [
    { by: 'x', groups: 4 },
    "the key 'x' is f32, and keys are whole numbers of at most 32 bits",
    "let the function make the key: ({ x }, cuda) => ({ key: cuda.i32(x), … }) with by: 'key'",
  ],
  [{ by: 'key' }, 'there may be undefined groups, and 1 to 524288 can be', howMany],
  [{ by: 'key', groups: 0 }, 'there may be 0 groups', howMany],
  [{ by: 'key', groups: 2.5 }, 'there may be 2.5 groups', howMany],
  [{ by: 'key', groups: 524_289 }, 'there may be 524289 groups', howMany],
  [{ groups: 4 }, 'there are 4 groups, and no key', "name the key: by: 'key'"],
])('%j is refused', async (options, message, hint) => {
  const schema = { sum: 'f64', key: 'u8', x: 'f32', near: 'u8[-1..1]' } as const;
  const error = await expectFailure(
    (async () => reduce(schema, ({ x }) => x, options as never))(),
    'WS5007',
    message,
  );
  expect(error.hint).toContain(hint);
});

test('a key that the function gives is a whole number, and not all that it gives', async () => {
  const floats = { sum: 'f64', key: 'f64', x: 'u8' } as const;
  const asFloat = async () => reduce(floats, ({ x }) => ({ sum: x, key: x / 2 }), { by: 'key', groups: 4 });
  const isFloat = await expectFailure(asFloat(), 'WS5007', "the key 'key' is f64");
  expect(isFloat.hint).toBe("declare key: 'i32'");
  const schema = { key: 'u8', x: 'u8' } as const;
  const alone = async () => reduce(schema, ({ x }) => ({ key: x }), { by: 'key', groups: 4 });
  const isAlone = await expectFailure(
    alone(),
    'WS5007',
    "the function gives the key 'key' and nothing to fold",
  );
  expect(isAlone.hint).toBe('let it give something beside: ({ x }) => ({ key: x, sum: x })');
});

test("'rows' is the name of how many a group has: no key and no result has it", async () => {
  const message = "a group says how many rows it has as 'rows'";
  const hint = "give the entry another name: { sum: 'f64', … }";
  const byRows = () => reduce({ sum: 'f64', rows: 'u8', x: 'u8' }, ({ x }) => x, { by: 'rows', groups: 4 });
  const foldsRows = () => reduce({ rows: 'f64', key: 'u8', x: 'u8' }, ({ x }) => x, { by: 'key', groups: 4 });
  for (const make of [byRows, foldsRows]) {
    await expectFailure((async () => make())(), 'WS5007', message, hint);
  }
  // Another input may have it.
  const input = { key: Uint8Array.of(1, 1), rows: Uint8Array.of(5, 6) };
  const work = reduce({ sum: 'f64', key: 'u8', rows: 'u8' }, ({ rows }) => rows, { by: 'key', groups: 4 });
  expect((await run(work, { input })).value).toEqual([{ key: 1, rows: 2, sum: 11 }]);
});

test('a command prints the list, and pieces of a queue combine to it', async () => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  const [rows, groups] = [5000, 12];
  const { k, x } = rowsOf(5, rows, groups);
  writeFileSync(at('k.npy'), npyFile({ descr: '<u4', shape: [rows], data: k }));
  writeFileSync(at('x.npy'), npyFile({ descr: '<f4', shape: [rows], data: x }));
  writeFileSync(
    at('groups.mjs'),
    `import { reduce } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
export const groups = reduce({ low: 'i32', key: 'i32', k: 'u32', x: 'f32' },
  ({ k, x }, cuda) => ({ low: cuda.i32(x), key: cuda.i32(k) }),
  { by: 'key', groups: 12, combine: 'min' });
`,
  );
  const expected = expectedOf({ k, x });
  const ran = await runHere('run', at('groups.mjs'), at('k.npy'), at('x.npy'), '--chunk', '700', '--json');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  const listed = (JSON.parse(ran.text) as { value: unknown }).value;
  expect(listed).toEqual(expected.map(({ key, rows, low }) => ({ key, rows, low })));

  const work = byResult(groups) as unknown as Job;
  const options = { input: { k: at('k.npy'), x: at('x.npy') }, chunk: 300 };
  const { signal } = new AbortController();
  const { work: facts, versions, context } = await describeCut(work, { ...options, signal });
  for (const n of [3, 1, 2]) {
    await reducePiece(
      work,
      { ...options, signal },
      { shard: [n, 3], journal: at('sums'), versions, work: facts },
    );
  }
  expect(await combinePieces(work, at('sums'), context, signal)).toEqual(expected);
});
