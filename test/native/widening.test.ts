// Vectors wider than WebAssembly's: the same bits for every width, and the wide ones really are used.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { nativeOfWidth } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import { partOf } from '../support/thorough.ts';
import { wasm } from '../support/wasm.ts';

const n = 1024;

/** Each reads `x` and writes `y`, and uses what the wide functions of the prelude do. */
const kernels: Readonly<Record<string, Kernel>> = {
  'a chain in a loop': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    let a = x[i]!;
    for (let step = 0; step < 20; step++) a = a * cuda.f32(0.75) + Math.min(a, Math.sqrt(Math.abs(x[i]!)));
    y[i] = Math.max(a, -Math.floor(x[i]!));
  }),
  'integers, conversions and shifts': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    const bits = cuda.u32(Math.abs(x[i]!) * 1000);
    const mixed = cuda.u32(bits * 2654435761 + (bits >>> 3));
    y[i] = cuda.f32(mixed) - cuda.f32(mixed >>> 0 > 77777 ? bits << 2 : -(bits & 15));
  }),
  'doubles beside floats': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    let a = cuda.f64(x[i]!);
    for (let step = 0; step < 5; step++) a = a * 1.0000001 + Math.max(a, 0.5);
    y[i] = a;
  }),
  'lanes that end at different turns': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    let a = x[i]!;
    let turns = 0;
    while (turns < 50) {
      if (a * a > 4) break;
      a = a * a + cuda.f32(0.3);
      turns++;
    }
    y[i] = turns + a;
  }),
  'tiles by rows and columns': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const { x: c, y: r } = cuda.threadIdx;
    const tile = cuda.sharedArray('f32', 256);
    const first = cuda.blockIdx.x * 256;
    tile[r * 16 + c] = x[first + r * 16 + c]!;
    cuda.syncthreads();
    let sum = cuda.f32(0);
    for (let k = 0; k < 16; k++) sum += tile[r * 16 + k]! * tile[k * 16 + c]!;
    y[first + r * 16 + c] = sum;
  }),
  'tiles one behind the other': kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const { x: c, y: r } = cuda.threadIdx;
    const tile = cuda.sharedArray('f32', 256);
    let sum = cuda.f32(0);
    for (let step = 0; step < 1024; step += 256) {
      tile[r * 16 + c] = x[step + r * 16 + c]!;
      cuda.syncthreads();
      sum = sum * cuda.f32(0.5) + tile[(15 - r) * 16 + c]!;
      cuda.syncthreads();
    }
    y[cuda.blockIdx.x * 256 + r * 16 + c] = sum;
  }),
};

const block = (name: string): [number, number, number] =>
  name.startsWith('tiles') ? [16, 16, 1] : [256, 1, 1];
const x = Float32Array.from({ length: n }, (_, i) =>
  i % 37 === 5 ? NaN : i % 29 === 3 ? -0 : ((i * 7919) % 1000) / 300 - 1.5,
);

describe.each(nativeOfWidth)('of width %i', (width, target) => {
  test.each(partOf(Object.entries(kernels), width + 2))('%s: the same bits as WebAssembly', (name, one) => {
    const run = (by: typeof wasm) => {
      const y = new Float32Array(n);
      const [bx, by_, bz] = block(name);
      const { fault } = runKernel(by, one, { grid: n / 256, block: [bx, by_, bz], arguments: { x, y } });
      expect(fault).toBeNull();
      return new Uint32Array(y.buffer).map((bits) => ((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits));
    };
    expect(run(target)).toEqual(run(wasm));
  });
});

/** Row by row the first threads of a warp: constants that end in zeros, which compilers may fold. */
const firstOfWarp = kernel({ y: 'i32[]', z: 'f32[]' }, ({ y, z }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  // What waits in some lanes alone runs as a state machine, whose loops over threads begin at a constant.
  const pipe = cuda.makePipeline(
    cuda.binaryPartition(cuda.tiledPartition(block, 32), t < 8),
    cuda.pipelineSharedState('block', 1),
  );
  pipe.producerAcquire();
  pipe.producerCommit();
  pipe.consumerWait();
  pipe.consumerRelease();
  y[t] = t < 4 ? 1 : 0;
  y[32 + t] = t < 8 ? 1 : 0;
  y[64 + t] = t < 12 ? 1 : 0;
  y[96 + t] = t < 16 ? 1 : 0;
  y[128 + t] = t < 2 ? 7 : 0;
  y[160 + t] = t < 20 ? -1 : 0;
  y[192 + t] = t < 8 ? 0 : -1;
  y[224 + t] = t < 4 ? 5 : -1;
  z[t] = t < 8 ? cuda.f32(1) : cuda.f32(0);
});

test.each(nativeOfWidth)('constants that end in zeros are stored as they are, with width %i', (_, target) => {
  const y = new Int32Array(256).fill(99);
  const z = new Float32Array(32).fill(99);
  const { fault } = runKernel(target, firstOfWarp, { grid: 1, block: 32, arguments: { y, z } });
  expect(fault).toBeNull();
  const row = (first: number, one: number, other: number) =>
    Array.from({ length: 32 }, (__, t) => (t < first ? one : other));
  const expected = [
    ...[row(4, 1, 0), row(8, 1, 0), row(12, 1, 0), row(16, 1, 0)],
    ...[row(2, 7, 0), row(20, -1, 0), row(8, 0, -1), row(4, 5, -1)],
  ];
  expect([...y]).toEqual(expected.flat());
  expect([...z]).toEqual(row(8, 1, 0));
});

describe('wide vectors', () => {
  const textOf = (name: string, width: 1 | 2 | 4) => {
    const { program } = specialise(kernels[name]!, {
      block: block(name),
      cooperative: true,
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    return nativeText(moduleForProcessor(program, width).bytes, width).text;
  };
  /** Operations in the text, of lanes and of wide vectors. */
  const operations = (text: string, type: string) =>
    text.match(new RegExp(`const ${type} t\\d+ = \\S+\\(\\(ws_f32x\\d+\\)`, 'g'))?.length ?? 0;

  test.each(Object.keys(kernels).filter((name) => !name.startsWith('integers')))('carry out %s', (name) => {
    expect(
      operations(textOf(name, 4), 'ws_v512') +
        (textOf(name, 4).match(/= \(ws_v512\)\(\(ws_f64x8\)/g)?.length ?? 0),
    ).toBeGreaterThan(1);
    expect(textOf(name, 1)).not.toMatch(/\bconst ws_v(256|512) t/);
  });

  test('take four rows of a tile by turns', () => {
    const text = textOf('tiles by rows and columns', 4);
    const sums = text.match(/= ws_held_4\(t/g);
    expect(sums).toHaveLength(4 * 16);
  });

  test('are fetched ahead, where a block is one row or goes through a loop', () => {
    const fetches = (name: string) => textOf(name, 4).match(/__builtin_prefetch\(m \+ t\d+(, 1)?\)/g) ?? [];
    const text = fetches('a chain in a loop');
    // Lines of 64 bytes, of one array that is read and one that is written.
    expect(text.filter((each) => !each.includes(', 1'))).toHaveLength(text.length / 2);
    expect(text.length).toBeGreaterThan(1);
    expect(fetches('tiles by rows and columns')).toEqual([]);
    // What each row reads in the next turn of the loop.
    expect(fetches('tiles one behind the other')).toHaveLength(1);
  });

  test('keep their variables whole in loops', () => {
    const text = textOf('a chain in a loop', 4);
    expect(text).toMatch(/ws_v512 w0 = \{0\};/);
    expect(operations(text, 'ws_v128')).toBeLessThan(operations(text, 'ws_v512'));
  });
});
