// kernel() and deviceFunction(): what they keep, and what their schemas may say.

import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel, WarpstageError } from 'warpstage';
import { parseSchema, scalarProblem } from '#warpstage/kernel/parameters.js';
import type { Schema } from '#warpstage/kernel/schema.js';

const square = deviceFunction({ x: 'f32' }, ({ x }) => x * x);

test('a kernel keeps its schema and function', () => {
  const body = ({ y }: { y: unknown }) => void y;
  const made = kernel({ y: 'f32[]' }, body);
  expect(made).toMatchObject({ kind: 'kernel', name: 'body', schema: { y: 'f32[]' } });
  expect(made.body).toBe(body);
  expect(kernel({}, () => {}, { name: 'nothing' }).name).toBe('nothing');
  expect(kernel({}, () => {}).name).toBe('kernel');
});

test('a schema is read in its order', () => {
  const schema = {
    y: 'f32[]',
    x: 'readonly u8[]',
    n: 'index',
    flag: 'bool',
    stages: 'constant index = 2',
    wide: 'constant bool = true',
    scale: 'constant f32',
    low: 'constant f64 = -1.5e-3',
    mask: 'constant u32 = 0xffffffff',
    most: 'constant f32 = Infinity',
    none: 'constant f64 = NaN',
    square,
  } as const;
  expect(parseSchema(schema)).toEqual([
    { kind: 'array', name: 'y', element: 'f32', readonly: false },
    { kind: 'array', name: 'x', element: 'u8', readonly: true },
    { kind: 'scalar', name: 'n', type: 'index' },
    { kind: 'scalar', name: 'flag', type: 'bool' },
    { kind: 'constant', name: 'stages', type: 'index', default: 2 },
    { kind: 'constant', name: 'wide', type: 'bool', default: true },
    { kind: 'constant', name: 'scale', type: 'f32', default: undefined },
    { kind: 'constant', name: 'low', type: 'f64', default: -0.0015 },
    { kind: 'constant', name: 'mask', type: 'u32', default: 4294967295 },
    { kind: 'constant', name: 'most', type: 'f32', default: Number.POSITIVE_INFINITY },
    { kind: 'constant', name: 'none', type: 'f64', default: Number.NaN },
    { kind: 'function', name: 'square', function: square },
  ]);
  expect(parseSchema(schema)).toBe(parseSchema(schema));
});

describe('what a schema may not say', () => {
  const elements =
    'element types: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 or a vector of 2 to 4 of them such as f32x4';
  const arrays =
    "arrays: 'T[]' or 'readonly T[]' with T one of i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 or a vector of 2 to 4 of them such as f32x4; ";
  test.each<[unknown, string, string]>([
    [
      'f31[]',
      "'a' has the type 'f31[]', which does not exist",
      `${arrays}scalars: index i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool, vectors such as f32x4; constants: 'constant T' or 'constant T = value'`,
    ],
    [
      'Float32Array',
      "'a' has the type 'Float32Array', which does not exist",
      `did you mean 'f32[]'? (${elements})`,
    ],
    [
      'float32[]',
      "'a' has the type 'float32[]', which does not exist",
      `did you mean 'f32[]'? (${elements})`,
    ],
    [
      'readonly uint8_t[]',
      "'a' has the type 'readonly uint8_t[]', which does not exist",
      `did you mean 'readonly u8[]'? (${elements})`,
    ],
    ['double', "'a' has the type 'double', which does not exist", `did you mean 'f64'? (${elements})`],
    [
      'number',
      "'a' has the type 'number', which does not exist",
      "the types are 'f32', 'f64' for floats, 'i32', 'u32', 'index' for integers, and 'bool'",
    ],
    [
      'float4[]',
      "'a' has the type 'float4[]', which does not exist",
      `did you mean 'f32x4[]'? (${elements})`,
    ],
    [
      'float3',
      "'a' has the type 'float3', which does not exist",
      "the types are 'f16' and 'bf16' for floats of 16 bits, and 'f32x4' and its like for vectors",
    ],
    ['bigint', "'a' has the type 'bigint', which does not exist", "the types of bigints are 'i64' and 'u64'"],
    [
      'constant i64 = 2',
      "the default of schema entry 'a' must be a bigint (i64), and is the number 2; write 2n",
      "write for example 'constant i64 = 2n'",
    ],
    [
      'constant u64 = -1n',
      'must be a bigint of 64 bits (u64), and is -1n',
      "write for example 'constant u64 = 2n'",
    ],
    [
      'constant u8 = 256',
      'must be an integer from 0 to 255 (u8), and is 256',
      "write for example 'constant u8 = 2'",
    ],
    [
      'f32 = 2',
      "'a' has the type 'f32 = 2', which does not exist",
      "only a constant has a default: 'constant index = 2'",
    ],
    [
      'constant index = two',
      "the default of schema entry 'a' is 'two', which is no number",
      "write for example 'constant index = 2'",
    ],
    [
      'constant index = 2.5',
      'must be an integer from -9007199254740991 to 9007199254740991 (index), and is 2.5',
      "write for example 'constant index = 2'",
    ],
    [
      'constant u32 = -1',
      'must be an integer from 0 to 4294967295 (u32), and is -1',
      "write for example 'constant u32 = 2'",
    ],
    [
      'constant bool = 1',
      'must be true or false, and is the number 1',
      "write 'constant bool = true' or 'constant bool = false'",
    ],
    [() => 1, "schema entry 'a' is a function", 'wrap it: a: deviceFunction({ … }, a)'],
    [
      5,
      "schema entry 'a' is the number 5",
      'an entry is a type such as "f32[]", an array of records such as node.array, or a function made by deviceFunction()',
    ],
    [
      null,
      "schema entry 'a' is null",
      'an entry is a type such as "f32[]", an array of records such as node.array, or a function made by deviceFunction()',
    ],
  ])('%j', (entry, message, hint) => {
    const issues = issuesOf({ a: entry } as Schema);
    expect(issues).toMatchObject([{ code: 'WS1010', hint }]);
    expect(issues[0]!.message).toContain(message);
  });

  test('all wrong entries are reported at once, by kernel() itself', () => {
    const schema = { a: 'float', y: 'f32[]', b: 'int' } as unknown as Schema;
    expect(issuesOf(schema).map(({ message }) => message)).toEqual([
      "schema entry 'a' has the type 'float', which does not exist",
      "schema entry 'b' has the type 'int', which does not exist",
    ]);
    expect(() => kernel(schema, () => {})).toThrow(WarpstageError);
    expect(() => deviceFunction(schema, () => {})).toThrow(WarpstageError);
  });

  test.each([null, undefined, 'f32[]', ['f32[]']])('a schema that is %j', (schema) => {
    expect(issuesOf(schema as never)).toMatchObject([
      {
        code: 'WS1010',
        message: expect.stringContaining('a schema must be an object of parameter names and types'),
      },
    ]);
  });
});

test.each([
  ['index', 3, null],
  ['index', 0.5, 'must be an integer'],
  ['i32', 2 ** 31, 'must be an integer from -2147483648 to 2147483647 (i32), and is 2147483648'],
  ['f32', Number.NaN, null],
  ['f32', '1', "must be a number of type f32, and is the string '1'"],
  ['bool', 1, 'must be true or false'],
  ['bool', false, null],
] as const)('%s %j', (type, value, problem) => {
  if (problem === null) expect(scalarProblem(type, value)).toBeNull();
  else expect(scalarProblem(type, value)).toContain(problem);
});

function issuesOf(schema: Schema) {
  try {
    parseSchema(schema);
  } catch (error) {
    if (error instanceof WarpstageError) return error.issues;
    throw error;
  }
  return [];
}
