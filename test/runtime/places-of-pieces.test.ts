// Where the arrays of a piece lie: an output takes the place of an input where nobody can tell, each of one, and has its own else.

import { expect, test } from 'vitest';
import { PieceState } from '#warpstage/runtime/cpu/file-pieces.js';
import { piecesOf } from '#warpstage/runtime/cpu/piece-launch.js';
import type { LaunchWork } from '#warpstage/runtime/launch.js';
import { compileWasm } from '#warpstage/targets/wasm/compile.js';
import { add, load, ProgramBuilder, store } from '../support/ir.ts';

/** How many places the arrays of `y = z = x + w` have, and how many bytes a thread needs. */
function placesOf(
  bytes: Readonly<Record<'y' | 'z' | 'x' | 'w', number>>,
  grid: LaunchWork['grid'] = [4, 1, 1],
) {
  const p = new ProgramBuilder('sums', 64);
  const [y, z] = [p.array('y', 'f32'), p.array('z', 'f32')];
  const [x, w] = [p.array('x', 'f32', 'readonly'), p.array('w', 'f32', 'readonly')];
  const sum = p.variable('sum', 'f32');
  const i = p.gridRank();
  const executable = compileWasm(
    p.build([sum.set(add(load(x, i), load(w, i))), store(y, i, sum.value), store(z, i, sum.value)]),
  );
  const values = Object.values(bytes).map((length, k) => ({ address: 1024 * k, length }));
  const work = { executable, grid, values, shared: [], sharedBytes: 0 } as unknown as LaunchWork;
  const files = (['x', 'w', 'y', 'z'] as const).map((parameter, fd) => {
    const use = fd < 2 ? ('read' as const) : ('write' as const);
    return { parameter, use, fd, position: 0, bytes: bytes[parameter] };
  });
  const { files: placed, arenaBytes } = piecesOf(work, { files, state: new PieceState() });
  expect(placed.map(({ fd }) => fd)).toEqual([0, 1, 2, 3]);
  expect(placed.map(({ slot }) => slot)).toEqual([48, 64, 16, 32]);
  const offsets = placed.map(({ offset }) => offset);
  // What is in no common place does not overlap, and all of it is in the arena.
  for (const [k, { offset, bytes: length }] of placed.entries()) {
    expect(offset + length).toBeLessThanOrEqual(arenaBytes);
    for (const other of placed.slice(k + 1))
      if (other.offset !== offset)
        expect(other.offset >= offset + length || offset >= other.offset + other.bytes).toBe(true);
  }
  return offsets.map((offset) => offsets.indexOf(offset));
}

test('each output takes the place of an input of its own', () => {
  expect(placesOf({ x: 1024, w: 1024, y: 1024, z: 1024 })).toEqual([0, 1, 0, 1]);
});

test('outputs of other lengths have their own', () => {
  expect(placesOf({ x: 1024, w: 2048, y: 1024, z: 1024 })).toEqual([0, 1, 0, 3]);
  expect(placesOf({ x: 2048, w: 2048, y: 1024, z: 1024 })).toEqual([0, 1, 2, 3]);
});

test('in a grid of several dimensions all have their own', () => {
  expect(placesOf({ x: 1024, w: 1024, y: 1024, z: 1024 }, [2, 2, 1])).toEqual([0, 1, 2, 3]);
  expect(placesOf({ x: 1024, w: 1024, y: 1024, z: 1024 }, [2, 1, 2])).toEqual([0, 1, 2, 3]);
});
