// Arrow data: what pyarrow and Flechette write is read, whichever way it comes, and what is written they read.
//
// The files of arrow/ are pyarrow's (25.0), in batches of four rows: `plain` and `nulls` with a column of each type, others
// compressed, in the way before version 0.15 of the format, or empty.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as flechette from '@uwdata/flechette';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { decodeColumn } from '#warpstage/formats/arrow-column.js';
import { type ArrowElement, BatchWriter } from '#warpstage/formats/arrow-writer.js';
import { RangesReader } from '#warpstage/formats/byte-ranges.js';
import type { OpenBytes } from '#warpstage/formats/bytes.js';
import { encodeHalf } from '#warpstage/kernel/half.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import { run as runProgram } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, floats, readAll } from '../overlap/reading.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { everyOf } from '../support/thorough.ts';
import { damage, damaged, readDamaged } from './damaged.ts';
import { valuesOf } from './element-values.ts';
import { copyOf } from './jobs.ts';

const folder = new URL('./arrow/', import.meta.url);
const bytesOf = (name: string) => readFileSync(new URL(name, folder));

/** The ways in which bytes come: at any place, or in their order only. */
const ways: Readonly<Record<string, (name: string) => string>> = {
  'a file': (name) => file(name, bytesOf(name)),
  'what comes in its order': (name) => file(`${name}.gz`, gzipSync(bytesOf(name))),
};

const rows = Array.from({ length: 10 }, (_, i) => i);
const limits = (least: number, most: number) => rows.map((i) => (i === 0 ? least : i === 1 ? most : i));
const columns: Readonly<Record<string, readonly number[]>> = {
  i8: limits(-128, 127),
  u8: limits(0, 255),
  i16: limits(-32768, 32767),
  u16: limits(0, 65535),
  i32: limits(-(2 ** 31), 2 ** 31 - 1),
  u32: limits(0, 2 ** 32 - 1),
  f16: rows.map((i) => i / 4),
  f32: rows.map((i) => i / 4 - 1),
  f64: rows.map((i) => i / 3),
  bool: rows.map((i) => Number(i % 3 === 0)),
  d128: rows.map((i) => (i * 25 - 30) / 100),
  date: rows.map((i) => i * 100),
  ts: rows.map((i) => i * 1e9),
  last: rows,
};

describe.each(Object.keys(ways))('%s', (way) => {
  const given = ways[way]!;

  test.each(['plain.arrow', 'nulls.arrow', 'nulls.arrows'])('%s: each column of numbers', async (name) => {
    const path = given(name);
    for (const [column, expected] of Object.entries(columns)) {
      const { values } = await readAll(path, 'f64', { column, nulls: -7 }, 3);
      const isNull = (i: number) => name.startsWith('nulls') && i % 4 === 1;
      expect([column, ...values]).toEqual([column, ...expected.map((value, i) => (isNull(i) ? -7 : value))]);
    }
    const wide = [-(2n ** 63n), 2n ** 63n - 1n, 2n];
    if (name === 'plain.arrow') {
      expect((await readAll(path, 'i64' as 'f64', { column: 'i64' })).values.slice(0, 3)).toEqual(wide);
    }
  });

  test('a column of no numbers, or with nulls, is refused with what to do', async () => {
    const path = given('nulls.arrow');
    for (const [column, stored] of [
      ['s', 'utf8'],
      ['cat', 'dictionary of utf8'],
      ['st', 'struct'],
      ['view', 'utf8_view'],
    ] as const)
      await expectFailure(readAll(path, 'f32', { column }), 'WS5005', `holds ${stored}; numbers`);
    await expectFailure(readAll(path, 'i32', { column: 'i32' }), 'WS5005', 'has nulls: ', '--nulls 0');
    await expectFailure(readAll(path, 'i32', { column: 'x' }), 'WS5005', /no column 'x'/, /i8, u8, i16/);
  });

  test.each(['lz4', 'zstd'])('buffers that are compressed by %s', async (codec) => {
    const path = given(`${codec}.arrow`);
    const { values } = await readAll(path, 'i32', { column: 'x', nulls: -1 });
    expect(values).toEqual(Array.from({ length: 3000 }, (_, i) => (i % 50 === 7 ? -1 : Math.floor(i / 7))));
    const y = await readAll(path, 'f64', { column: 'y' }, 700);
    expect(y.values).toEqual(Array.from({ length: 3000 }, (_, i) => (i % 13) / 8));
  });

  test('a block of LZ4 that repeats what the one before gave', async () => {
    const { values } = await readAll(given('blocks.arrow'), 'i32', { column: 'x' });
    expect(values).toEqual(Array.from({ length: 30_000 }, (_, i) => (i * i) % 251));
  });

  test('messages as they were before version 0.15, and no batch at all', async () => {
    expect((await readAll(given('legacy.arrows'), 'i32')).values).toEqual(rows);
    expect((await readAll(given('empty.arrow'), 'i32')).values).toEqual([]);
  });

  test('what is cut off is no shorter table', async () => {
    for (const name of ['plain.arrow', 'nulls.arrows', 'legacy.arrows']) {
      const whole = bytesOf(name);
      // A table behind the batches says where they are: what comes in its order does not need it.
      const last = way === 'a file' || name.endsWith('s') ? whole.length - 1 : 8000;
      // The two ways share the lengths.
      const isTurn = (_: number, i: number) => i % 2 === Number(way === 'a file');
      const lengths = Array.from({ length: last / 4 }, (_, i) => 4 * i + 4);
      for (const length of everyOf(30, lengths.filter(isTurn)).concat(last)) {
        const cut = whole.subarray(0, length);
        const path = way === 'a file' ? file(name, cut) : file(`${name}.gz`, gzipSync(cut));
        const column = name === 'legacy.arrows' ? 'x' : 'last';
        await expect(readAll(path, 'i32', { column, nulls: 0 })).rejects.toMatchObject({
          code: expect.stringMatching(/WS500[34]/),
        });
      }
    }
  });

  test('damaged, it is read or refused', { timeout: randomLimit(60) }, async () => {
    const names = readdirSync(folder);
    const path = join(temporaryDirectory(), way === 'a file' ? 'x.arrow' : 'x.arrow.gz');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), damage, async (name, how) => {
        const bytes = damaged(bytesOf(name), how);
        await readDamaged(path, 'arrow', way === 'a file' ? bytes : gzipSync(bytes));
      }),
      randomRuns(100),
    );
  });
});

const types = {
  ...{ i8: flechette.int8(), u8: flechette.uint8(), i16: flechette.int16(), u16: flechette.uint16() },
  ...{ i32: flechette.int32(), u32: flechette.uint32(), i64: flechette.int64(), u64: flechette.uint64() },
  ...{ f16: flechette.float16(), f32: flechette.float32(), f64: flechette.float64() },
};

const column = fc.constantFrom(...(Object.keys(valuesOf) as ArrowElement[])).chain((element) =>
  fc.record({
    element: fc.constant(element),
    isFile: fc.boolean(),
    width: fc.integer({ min: 1, max: 3 }),
    few: fc.array(valuesOf[element], { minLength: 1, maxLength: 5 }),
    nulls: fc.nat(4),
    length: fc.integer({ min: 0, max: 300 }),
    cuts: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
  }),
);

function arrayOf(element: ArrowElement, list: readonly (number | bigint)[]) {
  const bits = element === 'f16' ? list.map((one) => encodeHalf('f16', Number(one))) : list;
  return (hostArrays[element] as unknown as { from(list: unknown): Float32Array }).from(bits);
}

function written(
  names: readonly string[],
  element: ArrowElement,
  isFile: boolean,
  data: Float32Array,
  cuts: readonly number[],
): Buffer {
  const writer = new BatchWriter(names, element, isFile);
  const parts: Uint8Array[] = [writer.begin()];
  for (let begin = 0, i = 0; begin < data.length; i++) {
    const end = begin + cuts[i % cuts.length]!;
    parts.push(writer.add(data.subarray(begin, end)));
    begin = end;
  }
  return Buffer.concat([...parts, writer.end()]);
}

/** What flechette reads of a column. */
function readByOther(bytes: Uint8Array, name: string): unknown[] {
  const table = flechette.tableFromIPC(Uint8Array.from(bytes), { useBigInt: true });
  return [...(table.getChild(name) as Iterable<unknown>)];
}

test('two decoders read what was written, whatever the chunks were', {
  timeout: randomLimit(60),
}, async () => {
  await fc.assert(
    fc.asyncProperty(column, async ({ element, isFile, width, few, length, cuts }) => {
      const list = Array.from({ length: length * width }, (_, i) => few[(i * i) % few.length]!);
      const data = arrayOf(element, list);
      const names = Array.from({ length: width }, (_, at) => `y.${at}`);
      const bytes = written(names, element, isFile, data, cuts);
      expect(bytes.equals(written(names, element, isFile, data, [1000]))).toBe(true);
      const path = file('x.arrow', bytes);
      for (const [at, name] of names.entries()) {
        const isOf = (_: unknown, i: number) => i % width === at;
        expect(readByOther(bytes, name)).toEqual(list.filter(isOf));
        const own = await readAll(path, element as 'f32', { column: name });
        expect(own.values).toEqual([...data].filter(isOf));
      }
    }),
    randomRuns(60),
  );
});

test('what another program writes is read, with its nulls', { timeout: randomLimit(60) }, async () => {
  await fc.assert(
    fc.asyncProperty(column, async ({ element, isFile, few, nulls, length }) => {
      const isNull = (i: number) => nulls > 0 && i % (nulls + 1) === nulls;
      const list = Array.from({ length }, (_, i) => (isNull(i) ? null : few[(i * i) % few.length]!));
      const data = flechette.columnFromArray(list, types[element]);
      const words = flechette.columnFromArray(list.map(String), flechette.utf8());
      const table = flechette.tableFromColumns({ words, x: data });
      const bytes = flechette.tableToIPC(table, { format: isFile ? 'file' : 'stream' })!;
      const expected = arrayOf(
        element,
        list.map((one) => one ?? (typeof few[0] === 'bigint' ? 5n : 5)),
      );
      for (const path of [file('x.arrow', bytes), file('x.arrow.gz', gzipSync(bytes))]) {
        const own = await readAll(path, element as 'f32', { nulls: 5 }, 37);
        expect(own.values).toEqual([...expected]);
      }
    }),
    randomRuns(60),
  );
});

test.each(['y.arrow', 'y.arrows', 'y.feather'])('a job writes batches of %s as it goes', async (name) => {
  const input = Float32Array.from({ length: 200_000 }, (_, i) => i / 2);
  const output = join(temporaryDirectory(), name);
  await run(copyOf('f32'), { input, output, chunk: 7000 });
  const bytes = readFileSync(output);
  const table = flechette.tableFromIPC(Uint8Array.from(bytes));
  expect(
    Buffer.from((table.getChild('y').toArray() as Float32Array).slice().buffer).equals(
      Buffer.from(input.buffer),
    ),
  ).toBe(true);
  expect(table.getChild('y').data.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 3392]);
  expect(bytes.toString('latin1', 0, 6) === 'ARROW1').toBe(name !== 'y.arrows');
});

test('streams come by standard input and go by standard output', async () => {
  const bytes = written(['x'], 'f32', false, floats, [1000]);
  const { code, stdout, stderr } = await runProgram(
    ['run', 'examples/affine.ts', '-', '-', '--format', 'arrow', '-q'],
    bytes,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(readByOther(stdout, 'y')).toHaveLength(floats.length);
  // What it is shows in how it begins.
  const { code: found, stdout: bare } = await runProgram(
    ['run', 'examples/affine.ts', '-', '-', '-q'],
    bytes,
  );
  expect([found, bare.length]).toEqual([0, floats.byteLength]);
});

test('several inputs take their columns of one stream', async () => {
  const sum = job({
    kernel: kernel({ y: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]' }, ({ y, a, b }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = a[i]! - b[i]!;
    }),
    inputs: { a: { column: 'y.1' }, b: { column: 'y.0' } },
    outputs: { y: {} },
  });
  const bytes = written(['y.0', 'y.1'], 'f32', false, Float32Array.of(1, 10, 2, 20, 3, 30), [6]);
  for (const input of [file('x.arrows', bytes), file('x.arrow.gz', gzipSync(bytes))]) {
    const { outputs } = await run(sum, { input, chunk: 2 });
    expect([...outputs.y!]).toEqual([9, 18, 27]);
  }
});

test('a buffer has as many bytes as its rows, compressed or not', () => {
  const number = { dtype: 'i32', bits: 32 } as const;
  const bytes = new Uint8Array(Int32Array.of(1, 2, 3).buffer);
  const stored = Buffer.concat([new Uint8Array(8).fill(255), bytes]);
  const decode = (rows: number, codec: 'lz4' | undefined, packed: Uint8Array, there?: Uint8Array) =>
    decodeColumn(number, { rows, codec, values: { begin: 0, length: 0 } }, packed, there);
  // What compression would have made longer is as it is, behind a length of -1.
  expect(decode(3, 'lz4', stored)).toEqual(Int32Array.of(1, 2, 3));
  expect(decode(3, undefined, bytes, Uint8Array.of(5))).toEqual([1, null, 3]);
  for (const [codec, packed] of [
    ['lz4', stored],
    [undefined, bytes],
  ] as const)
    expect(() => decode(4, codec, packed)).toThrow('a buffer has 12 bytes, and 16 are needed');
  expect(() => decode(3, undefined, bytes, new Uint8Array())).toThrow(
    'a buffer has 0 bytes, and 1 are needed',
  );
});

test('ranges of a file are read and left out as if they lay one behind the other', async () => {
  const whole = Uint8Array.from({ length: 60 }, (_, i) => i);
  const readAt = async (into: Uint8Array, position: number) => {
    into.set(whole.subarray(position, position + into.length));
    return into.length;
  };
  const range = fc.record({ begin: fc.nat(50), length: fc.nat(10) });
  const step = fc.record({ skips: fc.boolean(), bytes: fc.nat(25) });
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 6 }), fc.array(step), async (ranges, steps) => {
      const bytes = ranges.flatMap(({ begin, length }) => [...whole.subarray(begin, begin + length)]);
      const reader = new RangesReader({ name: 'x', readAt } as unknown as OpenBytes, ranges);
      expect(reader.size).toBe(bytes.length);
      let at = 0;
      for (const { skips, bytes: wanted } of steps) {
        const count = Math.min(wanted, bytes.length - at);
        const into = new Uint8Array(wanted);
        if (skips) reader.skip(count);
        else {
          expect(await reader.read(into)).toBe(count);
          expect([...into.subarray(0, count)]).toEqual(bytes.slice(at, at + count));
        }
        at += count;
      }
    }),
  );
});

test('an element that Arrow has not is refused', async () => {
  const output = join(temporaryDirectory(), 'y.arrow');
  await expectFailure(run(copyOf('bf16'), { input: new Uint16Array(4), output }), 'WS5012', 'bf16');
});
