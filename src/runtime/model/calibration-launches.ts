// The launches by which a device's kernels are measured: kernels of which each does one thing alone.

import type { Program } from '../../compiler/ir.ts';
import { specialise } from '../../compiler/specialise.ts';
import { type Kernel, kernel, type Schema } from '../../kernel/kernel.ts';
import type { DeviceArray } from '../device.ts';

export const nothing = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = 1;
});

export const plusOne = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = x[i]! + 1;
});

export const arithmetic = kernel({ y: 'f32[]', pairs: 'index' }, ({ y, pairs }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let a = cuda.f32(i);
  for (let k = 0; k < pairs; ++k) a = a * 0.999 + 0.001;
  if (i < y.length) y[i] = a;
});

/** Each round waits for the one before: a load is not moved before a store. */
export const wander = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const grid = cuda.thisGrid();
  for (let k = grid.threadRank(); k < y.length; k += grid.size()) y[k] = y[k]! + 1;
});

/** Each thread reads the array again and again; where it reads next it knows when it has the value. */
export const again = kernel(
  { y: 'f32[]', x: 'readonly f32[]', n: 'index', rounds: 'index' },
  ({ y, x, n, rounds }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    const step = cuda.thisGrid().size();
    let at = i;
    for (let k = 0; k < rounds; ++k) {
      at = at + step + (x[at]! < 0 ? 1 : 0);
      if (at >= n) at -= n;
    }
    y[i] = at;
  },
);

export type Any = Kernel<Schema>;

const kinds: readonly unknown[] = [nothing, plusOne, arithmetic, wander, again];

/** What a launch is: a kernel, its shape, and its arguments in their order. */
export interface Shape {
  readonly kernel: Any;
  readonly blocks: number;
  readonly threads: number;
  readonly args: Readonly<Record<string, DeviceArray<'f32'> | number>>;
}

/** A launch by what it depends on. */
export function nameOf({ kernel: of, blocks, threads, args }: Shape): string {
  const sizes = Object.values(args).map((value) => (typeof value === 'number' ? value : value.length));
  return [kinds.indexOf(of), blocks, threads, ...sizes].join();
}

const programs = new Map<string, Program>();

export function programOf(of: Any, threads: number): Program {
  const name = `${kinds.indexOf(of)},${threads}`;
  const known = programs.get(name);
  if (known !== undefined) return known;
  const { program } = specialise(of, {
    block: [threads, 1, 1],
    indexType: 'i32',
    flatGrid: true,
    constants: {},
    functions: {},
  });
  programs.set(name, program);
  return program;
}
