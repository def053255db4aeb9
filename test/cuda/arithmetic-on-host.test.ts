// What the generated CUDA C++ computes, run as threads of this machine: the interpreter's results to the bit, and
// nothing that C++ leaves undefined. Integers on edge values, and random kernels. Needs a C++ compiler.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { compileCuda } from '#warpstage/targets/cuda/compile.js';
import { kernelArguments } from '../differential/kernel-arguments.ts';
import { randomKernel } from '../differential/random-kernel.ts';
import { randomRuns, tapes } from '../differential/tape.ts';
import { runOnHost } from '../support/host-arrays.ts';
import { hasHostCompiler } from '../support/host-cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';

interface Case {
  readonly text: string;
  readonly schema: Kernel['schema'];
  readonly grid: number;
  readonly block: number;
  readonly args: Readonly<Record<string, HostArray | number | boolean>>;
}

function cudaOf(one: Kernel, block: number): string {
  const specialised = specialise(one, {
    block: [block, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  let text = '';
  const alignments = specialised.program.parameters.map(() => 4);
  const compile = (generated: string) => {
    text = generated;
    return new Uint8Array();
  };
  compileCuda(specialised, alignments, { architecture: 75, checked: false, compile });
  return text;
}

/** Runs all cases on both sides. */
function compare(cases: readonly Case[]): void {
  const kernels = cases.map(({ schema, text }) =>
    kernel(schema, new Function(`return ${text}`)(), { name: 'computing' }),
  ) as Kernel[];
  const results = runOnHost(
    cases.map(({ grid, block, args, schema }, i) => ({
      text: cudaOf(kernels[i]!, block),
      grid,
      block,
      parameters: Object.keys(schema).map((name) => args[name]!),
    })),
  );
  for (const [i, { grid, block, args, text }] of cases.entries()) {
    const own = Object.fromEntries(
      Object.entries(args).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
    );
    const { fault } = runKernel(interpreter('late'), kernels[i]!, {
      grid,
      block,
      indexType: 'i32',
      arguments: own,
    });
    expect(fault).toBeNull();
    const isArray = (value: HostArray | number | boolean) => typeof value === 'object';
    const names = Object.keys(cases[i]!.schema).filter((name) => isArray(args[name]!));
    const given = results[i]!;
    expect(given, text).not.toBe('undefined behaviour');
    const bits = (values: readonly unknown[]) =>
      Object.fromEntries(names.map((name, n) => [name, bitsOf(values[n] as HostArray)]));
    expect(bits(given as HostArray[]), text).toEqual(bits(names.map((name) => own[name])));
  }
}

const edges = [
  0,
  1,
  -1,
  2,
  3,
  -7,
  8,
  31,
  32,
  33,
  63,
  64,
  255,
  65_537,
  2 ** 31 - 1,
  -(2 ** 31),
  -(2 ** 31) + 1,
];

/** Operations of two integers, each with an output of its own. */
const operations = {
  sum: 'a + b',
  difference: 'a - b',
  product: 'Math.imul(a, b)',
  negative: '-a',
  left: 'a << b',
  right: 'a >> b',
  both: 'a & b',
  either: 'a | b',
  one: 'a ^ b',
  none: '~a',
  eighth: 'a % 8',
  seventh: 'a % 7',
  eighths: 'Math.trunc(a / 8)',
  sevenths: 'Math.trunc(a / -7)',
  remainder: 'b === 0 ? 0 : a % b',
  quotient: 'b === 0 ? 0 : Math.trunc(a / b)',
  least: 'Math.min(a, b)',
  most: 'Math.max(a, b)',
  size: 'Math.abs(a)',
  zeros: 'Math.clz32(a)',
  ones: 'cuda.popc(a)',
} as const;

/** The same of integers of 64 bits, whose sums stay what they are in bigints until they are stored. */
const wide = {
  sum: 'a + b',
  difference: 'a - b',
  product: 'a * b',
  negative: '-a',
  both: 'a & b',
  either: 'a | b',
  eighth: 'a % 8n',
  sevenths: 'a / 7n',
  remainder: 'b === 0n ? 0n : a % b',
  quotient: 'b === 0n ? 0n : a / b',
} as const;

const wideEdges = [...edges.map(BigInt), 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 40n)];

/** A kernel that computes every operation of two elements of `x`, for all pairs. */
function pairs(
  type: 'i32' | 'u32' | 'i64' | 'u64',
  given: Readonly<Record<string, string>>,
  x: HostArray,
): Case {
  const names = Object.keys(given);
  const lines = Object.entries(given).map(([name, value]) => `${name}[i] = cuda.${type}(${value});`);
  const size = x.length ** 2;
  const output = () => new (x.constructor as new (length: number) => HostArray)(size);
  return {
    text: `({ x, ${names.join(', ')} }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= sum.length) return;
      const a = x[Math.trunc(i / x.length)];
      const b = x[i % x.length];
      ${lines.join('\n      ')}
    }`,
    schema: {
      x: `readonly ${type}[]`,
      ...Object.fromEntries(names.map((name) => [name, `${type}[]`])),
    } as Case['schema'],
    grid: Math.ceil(size / 64),
    block: 64,
    args: { x, ...Object.fromEntries(names.map((name) => [name, output()])) },
  };
}

describe.skipIf(!hasHostCompiler)('as threads of this machine', () => {
  test('every operation of integers, on edge values', () => {
    const { sevenths: _, ...natural } = operations;
    compare([
      pairs('i32', operations, Int32Array.from(edges)),
      // It has no quotients by negative numbers.
      pairs('u32', natural, Uint32Array.from(edges)),
      pairs('i64', wide, BigInt64Array.from(wideEdges)),
      pairs('u64', wide, BigUint64Array.from(wideEdges)),
    ]);
  }, 60_000);

  test('random kernels', () => {
    const { numRuns, seed } = randomRuns(atLength ? 10 : 5);
    const chosen = fc.sample(tapes(400), { numRuns: numRuns!, seed: seed! });
    compare(
      chosen.map((tape) => {
        const random = randomKernel(tape, { exact: true });
        return { ...random, args: kernelArguments(random) };
      }),
    );
  }, 120_000);
});
