// Arrays of several dimensions: each index is checked against its own extent, nothing else is said of the program than
// by an index that was computed by hand, and what cannot be done with rows is refused.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { compileCuda } from '#warpstage/targets/cuda/compile.js';
import { explainWasm } from '#warpstage/targets/wasm/compile.js';
import { runEverywhere } from '../support/everywhere.ts';
import { compile, mistakesIn } from './support.ts';

const launch = (arguments_: Record<string, Int32Array | number>) => ({
  grid: 1,
  block: 32,
  arguments: arguments_,
});

describe('each index is checked against its own extent', () => {
  const accesses = {
    shared: kernel({ out: 'i32[]', z: 'index', y: 'index', x: 'index' }, ({ out, z, y, x }, cuda) => {
      const cube = cuda.sharedArray('i32', [3, 4, 5]);
      cube[z]![y]![x] = 1;
      out[0] = 1;
    }),
    local: kernel({ out: 'i32[]', z: 'index', y: 'index', x: 'index' }, ({ out, z, y, x }, cuda) => {
      const cube = cuda.localArray('i32', [3, 4, 5]);
      out[0] = cube[z]![y]![x]! + 1;
    }),
    launched: kernel(
      { out: 'i32[]', input: 'readonly i32[]', depth: 'index', z: 'index', y: 'index', x: 'index' },
      ({ out, input, depth, z, y, x }) => {
        const cube = input.shaped([depth, depth + 1, depth + 2], depth + 4);
        out[0] = cube[z]![y]![x]! + 1;
      },
    ),
  };

  // All of these but the first, third and fifth lie inside the array.
  test.each([
    [-1, 0, 0, 1, 3],
    [0, -1, 7, 2, 4],
    [3, 0, 0, 1, 3],
    [0, 4, 0, 2, 4],
    [2, 4, 0, 2, 4],
    [1, 2, -1, 3, 5],
    [1, 2, 5, 3, 5],
  ])('at %i, %i, %i', (z, y, x, dimension, length) => {
    for (const [name, one] of Object.entries(accesses)) {
      const more = name === 'launched' ? { input: new Int32Array(84), depth: 3 } : {};
      const { fault } = runEverywhere(one as never, launch({ out: new Int32Array(1), z, y, x, ...more }));
      const index = [z, y, x][dimension - 1];
      expect(fault).toMatchObject({ kind: 'out-of-range', dimension, index, length, count: 1 });
    }
  });

  test('and one that is inside goes well', () => {
    for (const [name, one] of Object.entries(accesses)) {
      const more = name === 'launched' ? { input: new Int32Array(84), depth: 3 } : {};
      const { fault, arguments: after } = runEverywhere(
        one as never,
        launch({ out: new Int32Array(1), z: 2, y: 3, x: 4, ...more }),
      );
      expect(fault).toBeNull();
      expect(after.out).toEqual(Int32Array.of(1));
    }
  });
});

test('random shapes, pitches and ways of access give what JavaScript gives', () => {
  const walk = kernel(
    { out: 'i32[]', input: 'readonly i32[]', rows: 'index', columns: 'index', pitch: 'index', step: 'index' },
    ({ out, input, rows, columns, pitch, step }, cuda) => {
      const from = input.shaped([rows, columns], pitch);
      const to = out.shaped([columns, rows]);
      const own = cuda.localArray('i32', [2, 7]);
      for (let t = cuda.thisThreadBlock().threadRank(); t < rows * columns; t += cuda.blockDim.x) {
        const [y, x] = [Math.trunc(t / columns), t % columns];
        const row = from[y]!;
        own[t % 2]![t % 7]! += row[(x * step) % row.length]!;
        const cell = to[x]!;
        cell[y] = own[t % 2]![t % 7]! * 3 + from[rows - 1 - y]!.subarray(x)[0]!;
      }
    },
  );
  const shapes = fc.record({
    rows: fc.integer({ min: 1, max: 9 }),
    columns: fc.integer({ min: 1, max: 9 }),
    gap: fc.integer({ min: 0, max: 3 }),
    step: fc.integer({ min: 0, max: 5 }),
    seed: fc.integer(),
  });
  const runs = Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 12);
  fc.assert(
    fc.property(shapes, ({ rows, columns, gap, step, seed }) => {
      const pitch = columns + gap;
      const input = Int32Array.from({ length: rows * pitch }, (_, i) => Math.imul(i + 1, seed | 1) >> 20);
      const expected = new Int32Array(rows * columns);
      const own = Array.from({ length: 32 }, () => new Int32Array(14));
      for (let t = 0; t < rows * columns; t++) {
        const [y, x] = [Math.trunc(t / columns), t % columns];
        const place = (t % 2) * 7 + (t % 7);
        own[t % 32]![place]! += input[y * pitch + ((x * step) % columns)]!;
        expected[x * rows + y] = own[t % 32]![place]! * 3 + input[(rows - 1 - y) * pitch + x]!;
      }
      const out = new Int32Array(rows * columns);
      const { fault, arguments: after } = runEverywhere(
        walk as never,
        launch({ out, input, rows, columns, pitch, step }),
      );
      expect(fault).toBeNull();
      expect(after.out).toEqual(expected);
    }),
    { numRuns: runs },
  );
});

describe('nothing is said of the program that an index computed by hand would not say', () => {
  const shaped = kernel({ out: 'f32[]', input: 'readonly f32[]' }, ({ out, input }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const tile = cuda.sharedArray('f32', [16, 17]);
    tile[y]![x] = input[y * 16 + x]!;
    cuda.syncthreads();
    let sum = 0;
    for (let k = 0; k < 16; k++) sum += tile[y]![k]! * tile[k]![x]!;
    out[y * 16 + x] = sum;
  });
  const flat = kernel({ out: 'f32[]', input: 'readonly f32[]' }, ({ out, input }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const tile = cuda.sharedArray('f32', 16 * 17);
    tile[y * 17 + x] = input[y * 16 + x]!;
    cuda.syncthreads();
    let sum = 0;
    for (let k = 0; k < 16; k++) sum += tile[y * 17 + k]! * tile[k * 17 + x]!;
    out[y * 16 + x] = sum;
  });
  const block = [16, 16, 1] as const;
  const cuda = (one: typeof shaped, checked: boolean) => {
    let text = '';
    compileCuda(compile(one as never, { block }), [16, 16], {
      architecture: 80,
      checked,
      compile: (generated) => {
        text = generated;
        return new Uint8Array();
      },
    });
    // Lines of the two texts differ.
    return text.replace(/^#line.*$/gm, '').replace(/, \d+u?\)/g, ')');
  };

  test.each([true, false])('in CUDA, checked: %s', (checked) => {
    expect(cuda(shaped, checked).replaceAll('shaped', 'flat')).toBe(cuda(flat, checked));
  });

  test('lanes of a vector carry it out together', () => {
    expect(explainWasm(compile(flat as never, { block }).program)).toMatchObject({ vectorised: true });
    expect(explainWasm(compile(shaped as never, { block }).program)).toEqual(
      explainWasm(compile(flat as never, { block }).program),
    );
  });
});

describe('refused', () => {
  test.each([
    ['out.shaped([2, 2])[0] = 1', "a row of 'out' cannot be assigned"],
    ['out.shaped([2, 2])[0] += 1', "an operand of '+' must be a number, and is the i32 array 'out'"],
    [
      'cuda.atomicAdd(out.shaped([2, 2]), 0, 1)',
      "the i32 array 'out' has 2 dimensions, and an array of one is wanted",
    ],
    [
      'const either = n > 1 ? out.shaped([2, 2]) : out',
      "the i32 array 'out' has 2 dimensions, and an array of one is wanted",
    ],
    ['out.shaped([2, 4], 3)[0][0] = 1', 'rows of 4 elements cannot begin 3 from each other'],
    ['out.shaped([2, 0])[0][0] = 1', 'a dimension has at least one element, and this one has 0'],
    [
      "out[0] = cuda.localArray('i32', [n, 2])[0][0]",
      'the extents of a local array must be known when the kernel is compiled',
    ],
    [
      'out.shaped([1, 1, 1, 1])',
      'shape of array.shaped must be a list of two or three integers, and is a list of 4',
    ],
  ])('%s', (text, message) => {
    const mistakes = mistakesIn({ out: 'i32[]', n: 'index' }, `({ out, n }, cuda) => { ${text}; }`);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(`: ${message} (`);
  });
});
