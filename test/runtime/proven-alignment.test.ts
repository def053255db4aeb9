// What a launch proves to a compiler of its arrays' addresses: the engine that copies 16 bytes at a time reads
// ahead of the kernel's own stores, so an input that overlaps an output promises it less.

import { expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { DeviceMemoryArray } from '#warpstage/runtime/arrays.js';
import { LaunchBinder } from '#warpstage/runtime/bind.js';
import { interpreterExecutable } from '#warpstage/targets/interpreter/runner.js';

const copied = kernel({ y: 'i32[]', x: 'readonly i32[]', z: 'readonly i32[]' }, ({ y, x, z }, cuda) => {
  const i = cuda.threadIdx.x;
  y[i] = x[i]! + z[i]!;
});

test('launches that differ in parts of arrays and in numbers are one launch with other arguments', async () => {
  await using device = await open('cpu', { threads: 1 });
  const binder = new LaunchBinder(device, {
    specialise,
    compile: ({ program }) => interpreterExecutable(program, 'eager'),
    usesAlignments: true,
  });
  const scaled = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', from: 'index' }, ({ y, x, a, from }) => {
    y[from] = a * x[from]!;
  });
  const [x, y] = [device.alloc('f32', 4000), device.alloc('f32', 4000)];
  const works = Array.from({ length: 1000 }, (_, i) => {
    const parts = { y: y.subarray(4 * i, 4 * i + 4), x: x.subarray(4 * (999 - i)) };
    return binder.bind(scaled, { grid: 1, block: 1 }, { ...parts, a: i, from: i % 3 });
  });
  expect(new Set(works.map((work) => work.variantOf ?? work)).size).toBe(1);
  const last = works.at(-1)!;
  expect(last.values.slice(2)).toEqual([999, 0]);
  expect(last.allocations).toEqual([y, x].map((array) => (array as DeviceMemoryArray).allocation));
  // What was freed is found in whatever form the launch comes.
  x.free();
  const freed = () => binder.bind(scaled, { grid: 1, block: 1 }, { y, x, a: 1, from: 0 });
  expect(freed).toThrow('WS4002');
});

test('an input that overlaps an output is a multiple of 8 bytes at most', async () => {
  await using device = await open('cpu', { threads: 1 });
  const seen: (readonly number[])[] = [];
  const binder = new LaunchBinder(device, {
    specialise,
    compile({ program }, alignments) {
      seen.push(alignments);
      return interpreterExecutable(program, 'eager');
    },
    usesAlignments: true,
  });
  const alignments = (y: [number, number], x: [number, number], z: [number, number]) => {
    const part = ([begin, end]: [number, number]) => memory.subarray(begin, end);
    seen.length = 0;
    binder.bind(copied, { grid: 1, block: 4 }, { y: part(y), x: part(x), z: part(z) });
    return seen[0] ?? 'compiled already';
  };
  const memory = device.alloc('i32', 64);
  expect(alignments([0, 16], [16, 32], [32, 48])).toEqual([16, 16, 16]);
  // Inputs may overlap each other.
  expect(alignments([0, 16], [32, 48], [32, 48])).toBe('compiled already');
  expect(alignments([0, 16], [12, 28], [32, 48])).toEqual([16, 8, 16]);
  expect(alignments([4, 20], [0, 16], [0, 8])).toEqual([16, 8, 8]);
  expect(alignments([0, 16], [13, 20], [16, 32])).toEqual([16, 4, 16]);
  memory.free();
});
