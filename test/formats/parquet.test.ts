// Parquet files are decoded as a library decodes them that knows nothing of this project; and whatever is in a
// damaged one, reading it ends soon, with values or with an error of ours.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { openBytes } from '#warpstage/formats/bytes.js';
import { decodePages } from '#warpstage/formats/parquet-column.js';
import { openParquet } from '#warpstage/formats/parquet-file.js';
import { readDeltas, readRuns } from '#warpstage/formats/parquet-runs.js';
import { readThrift } from '#warpstage/formats/thrift.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { temporaryDirectory } from '../overlap/support.ts';
import { damage, damaged, readDamaged } from './damaged.ts';

/** Does something with a file of these bytes. */
async function opened<Result>(
  bytes: Uint8Array,
  use: (file: Awaited<ReturnType<typeof openParquet>>) => Result,
): Promise<Result> {
  const path = join(temporaryDirectory(), 'x.parquet');
  writeFileSync(path, bytes);
  const file = await openBytes(path);
  try {
    return use(await openParquet(file));
  } finally {
    await file.close();
  }
}

/** All values of each numeric column. */
async function columnsOf(
  bytes: Uint8Array,
  path = join(temporaryDirectory(), 'x.parquet'),
): Promise<Record<string, unknown[]>> {
  writeFileSync(path, bytes);
  const file = await openBytes(path);
  try {
    const columns: Record<string, unknown[]> = {};
    for (const array of (await openParquet(file)).arrays) {
      if (array.dtype === undefined) continue;
      const elements = await array.elements();
      if ('bytes' in elements) throw new Error('Parquet is decoded in units');
      const values: unknown[] = [];
      for (const [unit, length] of elements.lengths!.entries()) {
        const decoded = (await elements.decode(unit))!;
        expect(decoded).toHaveLength(length);
        values.push(...Array.from(decoded));
      }
      columns[array.name!] = values;
    }
    return columns;
  } finally {
    await file.close();
  }
}

/** What a column of each type may hold, and how it may be coded. */
const types = {
  BOOLEAN: { value: fc.boolean(), encodings: ['PLAIN', 'RLE'] },
  INT32: {
    value: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer()),
    encodings: ['PLAIN', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT', undefined],
  },
  INT64: {
    value: fc.oneof(fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    encodings: ['PLAIN', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT', undefined],
  },
  FLOAT: { value: fc.float(), encodings: ['PLAIN', 'BYTE_STREAM_SPLIT', undefined] },
  DOUBLE: {
    value: fc.oneof(fc.constantFrom(1.5, -2), fc.double()),
    encodings: ['PLAIN', 'BYTE_STREAM_SPLIT', undefined],
  },
} as const;

const column = fc.constantFrom(...(Object.keys(types) as (keyof typeof types)[])).chain((type) =>
  fc.record({
    type: fc.constant(type),
    encoding: fc.constantFrom(...types[type].encodings),
    /** Of so many rows one is null; 0: none. */
    gaps: fc.constantFrom(0, 0, 2, 7),
    // Few values, many times, are coded as places in a dictionary.
    values: fc.array(types[type].value as fc.Arbitrary<unknown>, { minLength: 1, maxLength: 40 }),
    nullable: fc.boolean(),
  }),
);

const table = fc.record({
  rows: fc.integer({ min: 1, max: 700 }),
  columns: fc.array(column, { minLength: 1, maxLength: 4 }),
  rowGroupSize: fc.constantFrom(1000, 300, 64),
  pageSize: fc.constantFrom(1 << 20, 200),
  codec: fc.constantFrom('SNAPPY' as const, 'UNCOMPRESSED' as const),
  indexed: fc.boolean(),
});

type Table = typeof table extends fc.Arbitrary<infer T> ? T : never;

function written({ rows, columns, indexed, ...options }: Table): Uint8Array {
  const columnData = columns.map(({ type, encoding, gaps, values, nullable }, position) => ({
    name: `c${position}`,
    type,
    nullable: nullable || gaps > 0,
    columnIndex: indexed,
    offsetIndex: indexed,
    ...(encoding === undefined ? {} : { encoding }),
    data: Array.from({ length: rows }, (_, i) =>
      gaps > 0 && i % gaps === 1 ? null : values[(i * i) % values.length],
    ),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, ...options }));
}

test('a file has the values that another decoder finds in it', { timeout: randomLimit(60) }, async () => {
  const path = join(temporaryDirectory(), 'x.parquet');
  await fc.assert(
    fc.asyncProperty(table, async (described) => {
      const bytes = written(described);
      const rows = await parquetReadObjects({ file: bytes.buffer as ArrayBuffer });
      const columns = await columnsOf(bytes, path);
      for (const [name, values] of Object.entries(columns)) {
        expect(values.map((value) => value ?? null).map(plain)).toEqual(
          rows.map((row) => plain((row[name] as unknown) ?? null)),
        );
      }
    }),
    randomRuns(60),
  );
});

/** Booleans are 0 and 1 here. */
function plain(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
}

test('decimals, floats of 16 bits, unsigned integers and times are the numbers that are meant', async () => {
  const schema = [
    { name: 'root', num_children: 6 },
    { name: 'price', type: 'INT32' as const, converted_type: 'DECIMAL' as const, scale: 2, precision: 9 },
    {
      name: 'large',
      type: 'FIXED_LEN_BYTE_ARRAY' as const,
      type_length: 16,
      converted_type: 'DECIMAL' as const,
      scale: 1,
      precision: 38,
    },
    {
      name: 'half',
      type: 'FIXED_LEN_BYTE_ARRAY' as const,
      type_length: 2,
      logical_type: { type: 'FLOAT16' as const },
    },
    { name: 'u32', type: 'INT32' as const, converted_type: 'UINT_32' as const },
    { name: 'u64', type: 'INT64' as const, converted_type: 'UINT_64' as const },
    { name: 'day', type: 'INT32' as const, converted_type: 'DATE' as const },
  ].map((element) => ({ ...element, repetition_type: 'REQUIRED' as const }));
  const bytes = new Uint8Array(
    parquetWriteBuffer({
      schema,
      columnData: [
        { name: 'price', data: [0.3, -1.25] },
        { name: 'large', data: [3n, -(2n ** 70n)] },
        { name: 'half', data: [1.5, -2] },
        { name: 'u32', data: [2 ** 32 - 1, 7] },
        { name: 'u64', data: [2n ** 64n - 1n, 7n] },
        { name: 'day', data: [new Date(86_400_000), new Date(0)] },
      ],
    }),
  );
  expect(await columnsOf(bytes)).toEqual({
    price: [0.3, -1.25],
    large: [0.3, -(2 ** 70) / 10],
    half: [1.5, -2],
    u32: [2 ** 32 - 1, 7],
    u64: [2n ** 64n - 1n, 7n],
    day: [1, 0],
  });
  const types = await opened(bytes, ({ arrays }) => arrays.map(({ name, dtype }) => [name, dtype]));
  expect(Object.fromEntries(types)).toEqual({
    price: 'f64',
    large: 'f64',
    half: 'f16',
    u32: 'u32',
    u64: 'u64',
    day: 'i32',
  });
});

test('a column that would lie behind the end of its file is refused, and nothing is read for it', async () => {
  const data = Array.from({ length: 5000 }, (_, i) => i * 1.5);
  const column = { name: 'x', data, type: 'DOUBLE', encoding: 'PLAIN' } as const;
  const bytes = Buffer.from(parquetWriteBuffer({ columnData: [column], codec: 'UNCOMPRESSED' }));
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const left = Buffer.concat([bytes.subarray(0, 4), bytes.subarray(footer)]);
  await expect(columnsOf(left)).rejects.toThrow(`of ${left.length}`);
});

describe('a page of the first kind', () => {
  /** A field of a header: its number is one more than that before. */
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
  const i32 = (value: number): number[] => [0x15, ...varint(value * 2)];
  const header = (size: number, length: number, coding: number) => [
    ...[...i32(0), ...i32(size), ...i32(size)],
    // The fifth field, a structure: length, coding, coding of both levels.
    ...[0x2c, ...i32(length), ...i32(coding), ...i32(3), ...i32(3), 0, 0],
  ];
  const storage = {
    codec: 'UNCOMPRESSED',
    optional: true,
    type: { physical: 'INT32', width: 4, unsigned: false, scale: undefined },
  } as const;
  const values = [...new Uint8Array(Int32Array.of(5, 6).buffer)];

  test('has its levels before its values', () => {
    // 2 bytes of levels: eight of one bit, of which three count: there, null, there.
    const body = [2, 0, 0, 0, 0b11, 0b101, ...values];
    const bytes = Uint8Array.from([...header(body.length, 3, 0), ...body]);
    expect(decodePages(bytes, 3, storage)).toEqual([5, null, 6]);
    expect(() => decodePages(bytes, 2, storage)).toThrow('more values than 2');
    expect(() => decodePages(bytes, 4, storage)).toThrow('there are 3 values');
    expect(() => decodePages(bytes.subarray(0, -1), 3, storage)).toThrow('a page of 14 bytes has 13');
  });

  test('cannot become more than its bytes allow', () => {
    const run = [6, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1];
    const bytes = Uint8Array.from([...header(run.length, 2 ** 30 - 1, 0), ...run]);
    expect(() => decodePages(bytes, 2 ** 30 - 1, storage)).toThrow('are to become 1,073,741,823 rows');
    expect(() => decodePages(bytes, 1000, storage)).toThrow('more values than 1,000');
  });
});

describe('packed integers', () => {
  test('of no end fill what there is, and no more', () => {
    const into = new Int32Array(5);
    readRuns(Uint8Array.of(0xfe, 0xff, 0xff, 0xff, 0x0f, 9), 4, into);
    expect([...into]).toEqual([9, 9, 9, 9, 9]);
    expect(() => readRuns(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 9), 4, into)).toThrow('ends too early');
    expect(() => readRuns(new Uint8Array(100), 33, into)).toThrow('values of 33 bits');
    readRuns(new Uint8Array(20).fill(0x03), 0, into);
    expect([...into]).toEqual([0, 0, 0, 0, 0]);
  });

  test('that are cut short are refused, wherever', () => {
    const whole = (read: (bytes: Uint8Array) => unknown, ...bytes: number[]) => {
      expect(() => read(Uint8Array.from(bytes))).not.toThrow();
      for (let end = 0; end < bytes.length; end++)
        expect(() => read(Uint8Array.from(bytes.slice(0, end))), `${end}`).toThrow('ends too early');
    };
    // Twice 0x0201; and eight values of three bits.
    whole((bytes) => readRuns(bytes, 16, new Int32Array(2)), 4, 1, 2);
    whole((bytes) => readRuns(bytes, 3, new Int32Array(8)), 3, 0x88, 0xc6, 0xfa);
    // Blocks of 32 values in 4 parts: 9 values from 1 on, the first part with steps of 8 bits.
    const steps = [8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    whole((bytes) => readDeltas(bytes, new Int32Array(9)), 32, 4, 9, 2, 0, ...steps);
    whole((bytes) => readDeltas(bytes, new BigInt64Array(9)), 32, 4, 9, 2, 0, ...steps);
  });

  test('of any bytes end', { timeout: randomLimit(3000) }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 32 }), (bytes, width) => {
        for (const read of [
          () => readRuns(bytes, width, new Int32Array(1000)),
          () => readDeltas(bytes, new Int32Array(1000)),
          () => readDeltas(bytes, new BigInt64Array(1000)),
          () => readThrift(bytes),
        ]) {
          try {
            read();
          } catch (error) {
            expect((error as Error).constructor).toBe(Error);
          }
        }
      }),
      randomRuns(3000),
    );
  });
});

describe('a damaged file', () => {
  const found = new URL('./damaged/', import.meta.url);
  test.each(readdirSync(found))('that was found once: %s', async (name) => {
    const path = join(temporaryDirectory(), name);
    expect(await readDamaged(path, 'parquet', readFileSync(new URL(name, found)))).not.toBe('whole');
  });

  test('is read or refused, and soon', { timeout: randomLimit(150) }, async () => {
    const path = join(temporaryDirectory(), 'x.parquet');
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(table, damage, async (described, how) => {
        const bytes = damaged(written(described), how);
        if ((await readDamaged(path, 'parquet', bytes)) !== 'whole') refused++;
      }),
      randomRuns(150),
    );
    expect(refused).toBeGreaterThan(0);
  });
});
