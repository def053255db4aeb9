// Parameters of two and three dimensions: the launch gives an array with its shape and its pitch, and a kernel says
// `image[y][x]`. It is the flattened text with each index checked by itself, on every device.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, deviceFunction, kernel, open } from 'warpstage';
import { check } from 'warpstage/check';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { devices } from '../support/devices.ts';

const transpose = kernel(
  { to: 'f32[][]', from: 'readonly f32[][]', step: 'i32' },
  ({ to, from, step }, cuda) => {
    const x = cuda.blockIdx.x * 8 + cuda.threadIdx.x;
    const y = cuda.blockIdx.y * 4 + cuda.threadIdx.y;
    if (y >= from.length || x >= from[y]!.length) return;
    const row = to[x]!;
    row[y] = from[y]![x]! + step * from[0]![x]!;
  },
);

const flattened = kernel(
  {
    to: 'f32[]',
    from: 'readonly f32[]',
    rows: 'index',
    columns: 'index',
    wide: 'index',
    high: 'index',
    step: 'i32',
  },
  ({ to, from, rows, columns, wide, high, step }, cuda) => {
    const x = cuda.blockIdx.x * 8 + cuda.threadIdx.x;
    const y = cuda.blockIdx.y * 4 + cuda.threadIdx.y;
    if (y >= rows || x >= columns) return;
    to[x * high + y] = from[y * wide + x]! + step * from[x]!;
  },
);

const sum = deviceFunction({ cube: 'readonly i32[][][]', z: 'index', y: 'index', x: 'index' }, (data) => {
  const { cube, z, y, x } = data;
  return z > 0 ? cube[z]![y]![x]! + cube[z - 1]![y]![x]! : cube[z]![y]![x]!;
});
const sums = kernel({ to: 'i32[][][]', from: 'readonly i32[][][]', sum }, ({ to, from, sum }, cuda) => {
  const { x, y, z } = cuda.threadIdx;
  if (z < from.length && y < from[z]!.length && x < from[z]![y]!.length)
    to[z]![y]![x]! += sum({ cube: from, z, y, x });
});

const at = kernel({ image: 'i32[][]', y: 'index', x: 'index' }, ({ image, y, x }) => {
  image[y]![x] = 7;
});
const extents = kernel({ image: 'i32[][]' }, ({ image }) => {
  image[0]![0] = image.length * 100 + image[0]!.length;
});
const atDepth = kernel({ cube: 'i32[][][]', z: 'index', y: 'index' }, ({ cube, z, y }) => {
  cube[z]![y]![1] = 7;
});

const places = [...devices, { name: 'the interpreter', open: () => open('cpu', { target: 'interpreter' }) }];

describe.each(places)('$name', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  test('random shapes and pitches give what the flattened text gives', async () => {
    const stream = device.createStream();
    const size = fc.integer({ min: 1, max: 12 });
    const more = fc.integer({ min: 0, max: 5 });
    await fc.assert(
      fc.asyncProperty(
        size,
        size,
        more,
        more,
        fc.integer({ min: 1, max: 3 }),
        async (rows, columns, a, b, step) => {
          const [wide, high] = [columns + a, rows + b];
          const values = Float32Array.from({ length: rows * wide + a }, (_, i) => i * 0.5);
          const from = device.alloc('f32', values.length);
          const [to, other] = [0, 1].map(() => device.alloc('f32', columns * high)) as [
            typeof from,
            typeof from,
          ];
          const results = [0, 1].map(() => new Float32Array(to.length).fill(-1)) as [
            Float32Array,
            Float32Array,
          ];
          stream.memcpyAsync(from, values);
          for (const array of [to, other]) stream.memcpyAsync(array, results[0]);
          const shape = { grid: [2, 3], block: [8, 4] } as const;
          stream.launch(transpose, shape, {
            to: to.shaped([columns, rows], high),
            from: from.shaped([rows, columns], wide),
            step,
          });
          stream.launch(flattened, shape, { to: other, from, rows, columns, wide, high, step });
          stream.memcpyAsync(results[0], to);
          stream.memcpyAsync(results[1], other);
          await stream.synchronize();
          expect(results[0]).toEqual(results[1]);
          expect(results[1][0]).toBe(values[0]! * (1 + step));
          for (const array of [from, to, other]) array.free();
        },
      ),
      { numRuns: 25 },
    );
  });

  test('launches in turn keep their own shapes, of one array too', async () => {
    const stream = device.createStream();
    const image = device.alloc('i32', 24);
    const result = new Int32Array(24);
    stream.memcpyAsync(image, new Int32Array(24));
    const wide = image.shaped([2, 12]);
    for (const [seen, y, x] of [
      [wide, 1, 0],
      [image.shaped([4, 5], 6), 1, 3],
      [wide, 0, 1],
      [wide, 1, 11],
      [image.subarray(1).shaped([2, 3], 7), 1, 2],
    ] as const)
      stream.launch(at, { grid: 1, block: 1 }, { image: seen, y, x });
    stream.memcpyAsync(result, image);
    await stream.synchronize();
    const written = [...result.entries()].flatMap(([place, value]) => (value === 7 ? [place] : []));
    expect(written).toEqual([1, 9, 10, 12, 23]);
  });

  test('a launch that differs in its pitch or its shape alone is no repetition of a former one', async () => {
    const stream = device.createStream();
    const image = device.alloc('i32', 24);
    const result = new Int32Array(24);
    stream.memcpyAsync(image, new Int32Array(24));
    for (const pitch of [6, 5, 6, 4])
      stream.launch(at, { grid: 1, block: 1 }, { image: image.shaped([3, 4], pitch), y: 2, x: 3 });
    stream.memcpyAsync(result, image);
    await stream.synchronize();
    expect([...result.entries()].flatMap(([place, value]) => (value === 7 ? [place] : []))).toEqual([
      11, 13, 15,
    ]);
    const found: number[] = [];
    for (const shape of [
      [3, 4],
      [4, 3],
      [3, 4],
      [2, 4],
    ] as const) {
      stream.launch(extents, { grid: 1, block: 1 }, { image: image.shaped(shape, 5) });
      stream.memcpyAsync(result, image);
      await stream.synchronize();
      found.push(result[0]!);
    }
    expect(found).toEqual([304, 403, 304, 204]);
  });

  test('three dimensions, handed on to a device function', async () => {
    const stream = device.createStream();
    const [planes, rows, columns, pitch] = [3, 2, 4, 5];
    const values = Int32Array.from({ length: planes * rows * pitch }, (_, i) => i);
    const [from, to] = [device.alloc('i32', values.length), device.alloc('i32', planes * rows * columns)];
    const result = new Int32Array(to.length);
    stream.memcpyAsync(from, values);
    stream.memcpyAsync(to, result);
    stream.launch(
      sums,
      { grid: 1, block: [4, 2, 4] },
      { to: to.shaped([planes, rows, columns]), from: from.shaped([planes, rows, columns], pitch) },
    );
    stream.memcpyAsync(result, to);
    await stream.synchronize();
    const value = (z: number, y: number, x: number) => (z < 0 ? 0 : (z * rows + y) * pitch + x);
    const expected = Int32Array.from(result, (_, i) => {
      const [z, y, x] = [Math.floor(i / 8), Math.floor(i / 4) % 2, i % 4];
      return value(z, y, x) + value(z - 1, y, x);
    });
    expect(result).toEqual(expected);
  });
});

describe.each([
  ['WebAssembly', {}],
  ['the interpreter', { target: 'interpreter' }],
] as const)('%s checks each index against its own extent', (_, options) => {
  test.each([
    [2, 0],
    [-1, 3],
    [0, 3],
    [1, -1],
  ])('at %i, %i', async (y, x) => {
    const device = await open('cpu', options);
    const stream = device.createStream();
    const image = device.alloc('i32', 40);
    stream.launch(at, { grid: 1, block: 1 }, { image: image.shaped([2, 3], 4), y, x });
    const [dimension, index, places] = y < 0 || y >= 2 ? [1, y, 2] : [2, x, 3];
    const words = `index ${index} of dimension ${dimension} of \`image\`, which has ${places} places`;
    await expect(stream.synchronize()).rejects.toThrow(words);
    await device.close().catch(() => {});
  });
});

test('the checker takes a shape, and finds what lies outside of it', () => {
  const inside = {
    grid: 1,
    block: 1,
    arguments: { image: { shape: [2, 3], pitch: 4 }, y: 1, x: 2 },
  } as const;
  const partly = { outputs: { image: 'partial' } } as const;
  expect(check(at, inside, partly).findings).toEqual([]);
  const outside = { ...inside, arguments: { ...inside.arguments, x: 3 } };
  expect(check(at, outside, partly).findings.map(({ code }) => code)).toEqual(['WS3001']);
  const data = new Int32Array(8);
  const cube = { shape: [2, 2, 2], data } as const;
  const depth = { grid: 1, block: 1, arguments: { cube, z: 1, y: 1 } };
  expect(check(atDepth, depth, { outputs: { cube: 'partial' } }).findings).toEqual([]);
  const beyond = { ...depth, arguments: { cube, z: 1, y: 2 } };
  expect(check(atDepth, beyond).findings.map(({ code }) => code)).toEqual(['WS3001']);
  const image = { shape: [3, 3], data: new Int32Array(8) } as const;
  expect(() => check(at, { ...inside, arguments: { image, y: 0, x: 0 } })).toThrow(
    'takes 9, and there are 8',
  );
  // @ts-expect-error: a length is no shape
  expect(() => check(at, { ...inside, arguments: { image: { length: 8 }, y: 0, x: 0 } })).toThrow(
    '{ shape: [rows, columns] }',
  );
});

test('what lies between rows is no missing result, and a row that nobody writes is one', () => {
  const launch = (rows: number, columns: number) =>
    ({
      grid: [2, 3],
      block: [8, 4],
      arguments: {
        to: { shape: [columns, rows], pitch: 12, unfilled: true },
        from: { shape: [6, 10], pitch: 11 },
        step: 1,
      },
    }) as const;
  expect(check(transpose, launch(6, 10)).findings).toEqual([]);
  const [missing] = check(transpose, launch(6, 11)).findings;
  expect(missing).toMatchObject({ code: 'WS7004' });
  expect(missing!.message).toContain('6 of the');
});

test('what does not fit is refused, by types and at the launch', async () => {
  const device = await open('cpu');
  const stream = device.createStream();
  const array = device.alloc('i32', 12);
  const shape = { grid: 1, block: 1 };
  // @ts-expect-error: an array by itself has no shape
  expect(() => stream.launch(at, shape, { image: array, y: 0, x: 0 })).toThrow(
    /has no shape[\s\S]*image\.shaped\(\[rows, columns\]\)/,
  );
  // @ts-expect-error: three extents for two dimensions
  expect(() => stream.launch(at, shape, { image: array.shaped([1, 3, 4]), y: 0, x: 0 })).toThrow(
    'has one of 3 extents',
  );
  const floats = device.alloc('f32', 12).shaped([3, 4]);
  // @ts-expect-error: of another element type
  expect(() => stream.launch(at, shape, { image: floats, y: 0, x: 0 })).toThrow('is one of f32');
  const flat = kernel({ y: 'i32[]' }, ({ y }) => {
    y[0] = 1;
  });
  // @ts-expect-error: a shape where an array is wanted
  expect(() => stream.launch(flat, shape, { y: array.shaped([3, 4]) })).toThrow('pass the array itself');
  expect(() => array.shaped([3, 5])).toThrow('takes 15, and there are 12');
  expect(() => array.shaped([3, 4], 5)).toThrow('takes 14, and there are 12');
  expect(() => array.shaped([3, 4], 3)).toThrow('cannot begin 3 from each other');
  expect(() => array.shaped([3, -1])).toThrow('whole numbers');
  // @ts-expect-error: one extent
  expect(() => array.shaped([3])).toThrow('two or three');
  expect(array.shaped([2, 5], 7)).toMatchObject({ shape: [2, 5], pitch: 7, array });
  expect(array.shaped([0, 5]).shape).toEqual([0, 5]);
  const seen = array.shaped([3, 4]);
  array.free();
  expect(() => stream.launch(at, shape, { image: seen, y: 0, x: 0 })).toThrow('was freed');
  await device.close();
});

const programOf = (of: Parameters<typeof specialise>[0], block: readonly [number, number, number]) =>
  specialise(of, { block, indexType: 'i32', constants: {}, functions: {} });

test('a program has the shape as scalars behind the array', () => {
  const { program } = programOf(transpose as never, [8, 4, 1]);
  const names = program.parameters.map(({ name }) => name);
  expect(names).toEqual([
    ...['to', 'from'].flatMap((name) => [name, `${name}.rows`, `${name}.columns`, `${name}.pitch`]),
    'step',
  ]);
  expect(cudaText(program, 80)).toMatch(/to_rows[\s\S]*to_pitch/);
});

test('rows are not assigned, nor handed on as flat arrays', () => {
  const first = deviceFunction({ x: 'readonly f32[]' }, ({ x }) => x[0]!);
  const given = kernel({ image: 'f32[][]', out: 'f32[]', first }, ({ image, out, first }) => {
    out[0] = first({ x: image as never });
  });
  expect(() => programOf(given as never, [1, 1, 1])).toThrow('take one of its rows: image[0]');
  const flat = kernel({ out: 'i32[]', sum }, ({ out, sum }) => {
    out[0] = sum({ cube: out as never, z: 0, y: 0, x: 0 });
  });
  expect(() => programOf(flat as never, [1, 1, 1])).toThrow('out.shaped([planes, rows, columns])');
});
