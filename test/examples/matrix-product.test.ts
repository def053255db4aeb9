// The eight products of matrices: right, and the same to the bit on every target and as what a GPU gets.

import { describe, expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import { expectClean } from 'warpstage/check';
import * as direct from '../../examples/matrix-product/direct.ts';
import * as manyStages from '../../examples/matrix-product/many-stages.ts';
import * as oneStage from '../../examples/matrix-product/one-stage.ts';
import { cudaTargets } from '../support/cuda.ts';
import { deliveries, interpreter } from '../support/interpreter.ts';
import { architectures, loweredFor } from '../support/lowered.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf } from '../support/run-program.ts';
import { partOf } from '../support/thorough.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

sayWithoutGpu();

const products = Object.entries<unknown>({ ...direct, ...oneStage, ...manyStages }) as [string, Kernel][];
const rows = 32;
const columns = 48;

/** Sizes, and matrices of what `element` makes of a position; no sum of integers here needs rounding. */
function matrices(depth: number, element: (i: number) => number) {
  return {
    a: Float32Array.from({ length: rows * depth }, (_, i) => element(3 * i)),
    b: Float32Array.from({ length: depth * columns }, (_, i) => element(7 * i + 5)),
    c: new Float32Array(rows * columns),
    depth,
    columns,
  };
}

const integer = (i: number) => ((i * 37) % 41) - 20;
const fraction = (i: number) => Math.sin(i) * 10;

/** Roles need threads beside those that multiply. */
const blockOf = (name: string) => (name === 'sharedState' ? [16, 20] : [16, 16]) as [number, number];

function launchOf(name: string, depth: number, element: (i: number) => number) {
  const grid: [number, number] = [columns / 16, rows / 16];
  return { grid, block: blockOf(name), arguments: matrices(depth, element) };
}

test('the sample has eight', () => expect(products).toHaveLength(8));

describe.each(products)('%s', (name, product) => {
  test('is the product', () => {
    const launch = launchOf(name, 80, integer);
    const { a, b, c, depth } = launch.arguments;
    expect(runKernel(wasm, product, launch).fault).toBeNull();
    const element = (i: number) => {
      const [row, column] = [Math.trunc(i / columns), i % columns];
      let sum = 0;
      for (let k = 0; k < depth; ++k) sum += a[row * depth + k]! * b[k * columns + column]!;
      return sum;
    };
    expect(c).toEqual(c.map((_, i) => element(i)));
  });

  test('gives the same bits on every target, and is clean as what a GPU gets', () => {
    const found: string[] = [];
    const position = products.findIndex(([other]) => other === name);
    const lowered = partOf(architectures, position).flatMap((architecture) =>
      (['late', 1] as const).map((delivery) =>
        loweredFor(architecture, delivery, ({ message }) => found.push(message)),
      ),
    );
    const others = [wasmStates, ...deliveries.map((delivery) => interpreter(delivery)), ...cudaTargets];
    const results = [wasm, ...others, ...lowered].map((target) => {
      const launch = launchOf(name, 32, fraction);
      expect(runKernel(target, product, launch).fault, target.name).toBeNull();
      return { target: target.name, bits: bitsOf(launch.arguments.c) };
    });
    for (const { target, bits } of results)
      expect({ target, bits }).toEqual({ target, bits: results[0]!.bits });
    expect(found).toEqual([]);
  });

  test('is clean', () => expectClean(product, launchOf(name, 32, integer) as never, { schedules: 2 }));
});
