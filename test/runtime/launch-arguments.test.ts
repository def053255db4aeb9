// What a launch is given, and what is said when it is wrong.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, deviceFunction, kernel, type LaunchArguments, WarpstageError } from 'warpstage';
import type { Specialisation } from '#warpstage/compiler/specialise.js';
import { handMade, openHandMade } from '../support/hand-made.ts';

let device: Device;
let other: Device;
const specialisations: Specialisation[] = [];

const double = deviceFunction({ x: 'i32' }, ({ x }) => x * 2);
const triple = deviceFunction({ x: 'i32' }, ({ x }) => x * 3);
const everything = kernel(
  {
    y: 'i32[]',
    x: 'readonly f32[]',
    n: 'index',
    a: 'f32',
    u: 'u32',
    flag: 'bool',
    size: 'constant index = 2',
    mode: 'constant i32',
    f: double,
  },
  () => {},
  { name: 'everything' },
);

beforeAll(() => {
  const made = openHandMade();
  other = openHandMade();
  device = openHandMade({
    specialise: (_, specialisation) => {
      specialisations.push(specialisation);
      return {
        sources: [],
        program: {
          name: 'step',
          block: specialisation.block,
          indexType: specialisation.indexType,
          parameters: [
            { kind: 'array', name: 'y', element: 'i32', readonly: false },
            { kind: 'scalar', name: 'u', type: 'u32' },
          ],
          variables: [],
          sharedArrays: [],
          localArrays: [],
          pipelines: [],
          barriers: [],
          body: [],
        },
      };
    },
  });
  return () => made.close();
});
afterAll(async () => {
  await device.close();
  await other.close();
});

type Arguments = LaunchArguments<typeof everything.schema>;

function good(): Arguments {
  return {
    y: device.alloc('i32', 4),
    x: device.alloc('f32', 4),
    n: 4,
    a: 1.5,
    u: 1,
    flag: true,
    mode: 3,
  };
}

function launch(
  changes: Record<string, unknown>,
  configuration: { grid: unknown; block: unknown } = { grid: 1, block: 32 },
) {
  return device.defaultStream.launch(
    everything,
    configuration as never,
    { ...good(), ...changes } as Arguments,
  );
}

function issues(action: () => unknown): string[] {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(WarpstageError);
    return (error as WarpstageError).issues.map(({ code, message }) => `${code} ${message}`);
  }
  throw new Error('nothing was thrown');
}

describe('arguments', () => {
  test('that are right are passed on', async () => {
    specialisations.length = 0;
    const y = device.alloc('i32', 4);
    const result = new Int32Array(4);
    expect(launch({ y, u: 2 ** 32 - 1, f: triple }, { grid: [2, 1], block: [4, 2] }).ranOn).toBe(
      'interpreter',
    );
    device.defaultStream.memcpyAsync(result, y);
    await device.synchronize();
    expect([...result]).toEqual([-1, -1, -1, -1]);
    expect(specialisations).toEqual([
      {
        block: [4, 2, 1],
        indexType: 'i32',
        cooperative: false,
        flatGrid: true,
        constants: { size: 2, mode: 3 },
        functions: { f: triple },
      },
    ]);
  });

  test('that specialise a kernel compile it once each', () => {
    specialisations.length = 0;
    for (let i = 0; i < 2; ++i) {
      launch({});
      launch({ size: 3 });
      launch({ f: triple });
      launch({}, { grid: 1, block: 64 });
      launch({}, { grid: 7, block: [32, 1, 1] });
      launch({ n: 2 ** 31 });
      launch({ n: -(2 ** 31) - 1 });
      launch({ size: undefined });
    }
    expect(
      specialisations.map(({ indexType, block, constants, functions }) => [
        indexType,
        block[0],
        constants.size,
        functions.f === double ? 'double' : 'triple',
      ]),
    ).toEqual([
      ['i32', 32, 2, 'double'],
      ['i32', 32, 3, 'double'],
      ['i32', 32, 2, 'triple'],
      ['i32', 64, 2, 'double'],
      ['i64', 32, 2, 'double'],
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'no number',
      { n: '4' },
      "WS2001 launch of kernel `everything`: argument `n` must be a number of type index, and is the string '4'",
    ],
    [
      'NaN',
      { n: Number.NaN },
      'WS2001 launch of kernel `everything`: argument `n` must be an integer from -9007199254740991 to 9007199254740991 (index), and is NaN',
    ],
    [
      'a fraction',
      { u: 0.5 },
      'WS2001 launch of kernel `everything`: argument `u` must be an integer from 0 to 4294967295 (u32), and is 0.5',
    ],
    [
      'out of range',
      { u: -1 },
      'WS2001 launch of kernel `everything`: argument `u` must be an integer from 0 to 4294967295 (u32), and is -1',
    ],
    [
      'no bool',
      { flag: 1 },
      'WS2001 launch of kernel `everything`: argument `flag` must be true or false, and is the number 1',
    ],
    [
      'a wrong constant',
      { size: 1.5 },
      'WS2001 launch of kernel `everything`: argument `size` must be an integer from -9007199254740991 to 9007199254740991 (index), and is 1.5',
    ],
    ['a missing scalar', { n: undefined }, 'WS2001 launch of kernel `everything`: argument `n` is missing'],
    [
      'a missing constant',
      { mode: undefined },
      'WS2001 launch of kernel `everything`: argument `mode` is missing',
    ],
    ['a missing array', { y: undefined }, 'WS2001 launch of kernel `everything`: argument `y` is missing'],
    ['an unknown name', { z: 1 }, 'WS2001 launch of kernel `everything`: there is no parameter `z`'],
    [
      'a plain function',
      { f: (x: number) => x },
      'WS2001 launch of kernel `everything`: argument `f` must be a function made by deviceFunction(), and is a function',
    ],
    [
      'a typed array',
      { y: new Int32Array(4) },
      'WS2001 launch of kernel `everything`: argument `y` must be a device array of i32, and is a typed array of the host (Int32Array)',
    ],
    [
      'a number for an array',
      { y: 4 },
      'WS2001 launch of kernel `everything`: argument `y` must be a device array of i32, and is 4',
    ],
  ])('%s', (_, changes, message) => {
    expect(issues(() => launch(changes))).toEqual([message]);
  });

  test('of the wrong memory, type or device', () => {
    const freed = device.alloc('i32', 4);
    const part = freed.subarray(1);
    freed.free();
    const say = (changes: Record<string, unknown>) => issues(() => launch(changes))[0];
    expect(say({ y: device.allocPinned('i32', 4) })).toBe(
      'WS2001 launch of kernel `everything`: argument `y` must be a device array of i32, and is a page-locked array of 4 elements',
    );
    expect(say({ y: device.alloc('f32', 4) })).toBe(
      'WS2002 launch of kernel `everything`: argument `y` must be a device array of i32, and is one of f32',
    );
    expect(say({ y: other.alloc('i32', 4) })).toContain(
      'WS2005 launch of kernel `everything`: argument `y` is an array of another device',
    );
    expect(say({ y: part })).toBe(
      'WS4002 launch of kernel `everything`: argument `y`, a device array of 3 elements, was freed',
    );
  });

  test('are all reported at once', () => {
    expect(
      issues(() => launch({ n: -0.5, y: 1, u: Number.NaN, extra: 2 })).map((issue) => issue.slice(0, 6)),
    ).toEqual(['WS2001', 'WS2001', 'WS2001', 'WS2001']);
  });

  test('a signal that is none', () => {
    const configuration = { grid: 1, block: 1, signal: new AbortController() };
    expect(issues(() => launch({}, configuration))).toEqual([
      'WS2001 launch of kernel `everything`: `signal` must be an AbortSignal',
    ]);
  });

  test('for numbers where the shape belongs, as in CUDA', () => {
    const launch = device.defaultStream.launch.bind(device.defaultStream) as (...args: unknown[]) => unknown;
    expect(issues(() => launch(everything, 1, 32, {}))[0]).toMatch(
      /^WS2003 launch of kernel `everything`: its shape must be an object, and is 1$/,
    );
  });

  test('for something that is no kernel', () => {
    const stream = device.defaultStream;
    expect(issues(() => stream.launch((() => {}) as never, { grid: 1, block: 1 }, {}))[0]).toMatch(
      /^WS2001 launch takes a kernel/,
    );
  });
});

describe('grid and block', () => {
  test.each<[unknown, unknown, string]>([
    [0, 32, 'WS2003 launch of kernel `everything`: the grid is empty: (0)'],
    [[1, 0], 32, 'WS2003 launch of kernel `everything`: the grid is empty: (1, 0)'],
    [1, 0, 'WS2003 launch of kernel `everything`: the block is empty: (0)'],
    [1, -1, 'WS2003 launch of kernel `everything`: the block is empty: (-1)'],
    [
      1.5,
      32,
      'WS2003 launch of kernel `everything`: the grid must be a whole number or one to three of them, and is (1.5)',
    ],
    [
      1,
      { x: 8 },
      'WS2003 launch of kernel `everything`: the block must be a whole number or one to three of them, and is ({"x":8})',
    ],
    [
      undefined,
      32,
      'WS2003 launch of kernel `everything`: the grid must be a whole number or one to three of them, and is (undefined)',
    ],
    [
      [1, 1, 1, 1],
      32,
      'WS2003 launch of kernel `everything`: the grid must be a whole number or one to three of them, and is (1, 1, 1, 1)',
    ],
    [1, 1025, 'WS2003 launch of kernel `everything`: the block (1025) is larger than (1024, 1024, 64)'],
    [
      1,
      [32, 33],
      'WS2003 launch of kernel `everything`: the block (32, 33, 1) has 1056 threads; the device runs at most 1024',
    ],
    [
      1,
      [1, 1, 65],
      'WS2003 launch of kernel `everything`: the block (1, 1, 65) is larger than (1024, 1024, 64)',
    ],
    [
      [1, 65536],
      1,
      'WS2003 launch of kernel `everything`: the grid (1, 65536) is larger than (2147483647, 65535, 65535)',
    ],
    [
      [65536, 65535],
      1,
      'WS2003 launch of kernel `everything`: the grid (65536, 65535, 1) has 4294901760 blocks; the device runs fewer than 2147483648',
    ],
  ])('%o of %o', (grid, block, message) => {
    expect(issues(() => launch({}, { grid, block }))).toEqual([message]);
  });

  test('widen the index where their product needs it', async () => {
    specialisations.length = 0;
    const aborted = { signal: AbortSignal.abort() };
    for (const grid of [2 ** 21 - 65, 2 ** 21 - 64]) {
      const stream = device.createStream();
      stream.launch(everything, { grid, block: 1024, ...aborted }, good());
      await expect(stream.synchronize()).rejects.toThrow('WS3004');
    }
    expect(specialisations.map(({ indexType }) => indexType)).toEqual(['i32', 'i64']);
  });
});

test('a failed launch leaves the stream as it was', async () => {
  const stream = other.createStream();
  const y = other.alloc('i32', 1);
  expect(() => stream.launch(handMade.step, { grid: 0, block: 1 }, { y, a: 1 })).toThrow('WS2003');
  stream.launch(handMade.step, { grid: 1, block: 1 }, { y, a: 1 });
  await stream.synchronize();
});
