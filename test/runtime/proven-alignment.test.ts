// What a launch proves to a compiler of its arrays' addresses: the engine that copies 16 bytes at a time reads
// ahead of the kernel's own stores, so an input that overlaps an output promises it less.

import { expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { LaunchBinder } from '#warpstage/runtime/bind.js';
import { interpreterExecutable } from '#warpstage/targets/interpreter/runner.js';

const copied = kernel({ y: 'i32[]', x: 'readonly i32[]', z: 'readonly i32[]' }, ({ y, x, z }, cuda) => {
  const i = cuda.threadIdx.x;
  y[i] = x[i]! + z[i]!;
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
