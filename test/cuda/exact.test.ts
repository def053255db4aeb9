// A GPU agrees with the interpreter to the bit wherever IEEE 754 or the kernel language says what comes out:
// arithmetic on edge values, and random kernels. Needs a GPU; where there is none the tests say that they skip.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type Kernel, kernel, open } from 'warpstage';
import { hostArrays } from '#warpstage/kernel/types.js';
import { kernelArguments } from '../differential/kernel-arguments.ts';
import { randomKernel } from '../differential/random-kernel.ts';
import { randomRuns, tapes } from '../differential/tape.ts';
import { gpus } from '../support/gpu.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray } from '../support/run-program.ts';

type Arguments = Record<string, HostArray | number | boolean>;

const edges = [
  0,
  -0,
  1,
  -1,
  0.5,
  1.5,
  2.5,
  -2.5,
  0.1,
  1 / 3,
  2 ** 24 + 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32 + 5,
  2 ** 53,
  1e10,
  1e30,
  3.4e38,
  1e300,
  -1e-300,
  1.2e-38,
  1e-40,
  1.4e-45,
  5e-324,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
];

/** Every exact operation of two floats of a type, each with an output of its own. */
const operations = {
  sum: (a: string, b: string) => `${a} + ${b}`,
  product: (a: string, b: string) => `${a} * ${b}`,
  quotient: (a: string, b: string) => `${a} / ${b}`,
  remainder: (a: string, b: string) => `${a} % ${b}`,
  // Not contracted into a fused multiply-add.
  sumOfProducts: (a: string, b: string) => `${a} * ${b} + ${a} * ${a}`,
  least: (a: string, b: string) => `Math.min(${a}, ${b})`,
  most: (a: string, b: string) => `Math.max(${a}, ${b})`,
  root: (a: string) => `Math.sqrt(${a})`,
  magnitude: (a: string) => `Math.abs(${a})`,
  down: (a: string) => `Math.floor(${a})`,
  up: (a: string) => `Math.ceil(${a})`,
  whole: (a: string) => `Math.trunc(${a})`,
  rounded: (a: string) => `Math.round(${a})`,
  signOf: (a: string) => `Math.sign(${a})`,
} as const;

function operationsKernel(element: 'f32' | 'f64'): Kernel {
  const names = Object.keys(operations);
  const schema = {
    x: `readonly ${element}[]`,
    ...Object.fromEntries(names.map((name) => [name, `${element}[]`])),
    integer: 'i32[]',
    less: 'i32[]',
  } as never;
  const lines = Object.entries(operations).map(([name, of]) => `${name}[i] = ${of('a', 'b')};`);
  const body = `({ x, integer, less, ${names.join(', ')} }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= integer.length) return;
    const a = x[Math.trunc(i / x.length)];
    const b = x[i % x.length];
    ${lines.join('\n')}
    integer[i] = a | 0;
    less[i] = a < b ? 1 : a === b ? 2 : a > b ? 3 : 4;
  }`;
  return kernel(schema, new Function(`return ${body}`)(), { name: 'operations' }) as Kernel;
}

/** What a way of running leaves in all arrays that it writes, with every NaN the same. */
function outputs(args: Arguments): Record<string, string> {
  const arrays = Object.entries(args).filter(([, value]) => typeof value === 'object');
  return Object.fromEntries(arrays.map(([name, array]) => [name, bitsOf(array as HostArray)]));
}

function copyOf(args: Arguments): Arguments {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );
}

function onInterpreter(made: Kernel, grid: number, block: number, args: Arguments): Record<string, string> {
  const own = copyOf(args);
  const { fault } = runKernel(interpreter('late'), made, { grid, block, indexType: 'i32', arguments: own });
  expect(fault).toBeNull();
  return outputs(own);
}

async function onGpu(device: Device, made: Kernel, grid: number, block: number, args: Arguments) {
  const own = copyOf(args);
  const stream = device.defaultStream;
  const onDevice = Object.entries(own).map(([name, value]) => {
    if (typeof value !== 'object') return [name, value, null] as const;
    const element = Object.keys(hostArrays).find(
      (key) => hostArrays[key as keyof typeof hostArrays] === value.constructor,
    ) as keyof typeof hostArrays;
    const array = device.alloc(element, value.length);
    stream.memcpyAsync(array, value as never);
    return [name, array, value] as const;
  });
  const { ranOn } = stream.launch(
    made,
    { grid, block },
    Object.fromEntries(onDevice.map(([name, value]) => [name, value])) as never,
  );
  expect(ranOn).toMatch(/^cuda/);
  for (const [, array, host] of onDevice) {
    if (host !== null) stream.memcpyAsync(host as never, array as never);
  }
  await stream.synchronize();
  for (const [, array, host] of onDevice) if (host !== null) (array as { free(): void }).free();
  return outputs(own);
}

describe.skipIf(gpus === 0)('a GPU agrees with the interpreter to the bit', () => {
  let device: Device;
  beforeAll(async () => {
    device = await open('cuda');
  });
  afterAll(() => device.close());

  test.each(['f32', 'f64'] as const)('in every exact operation of %s, on edge values', async (element) => {
    const made = operationsKernel(element);
    const pairs = edges.length ** 2;
    const float = hostArrays[element];
    const args: Arguments = {
      x: float.from(edges),
      ...Object.fromEntries(Object.keys(operations).map((name) => [name, new float(pairs)])),
      integer: new Int32Array(pairs),
      less: new Int32Array(pairs),
    };
    const grid = Math.ceil(pairs / 64);
    expect(await onGpu(device, made, grid, 64, args)).toEqual(onInterpreter(made, grid, 64, args));
  });

  test('in random kernels', async () => {
    await fc.assert(
      fc.asyncProperty(tapes(400), async (tape) => {
        const random = randomKernel(tape, { exact: true });
        const { text, schema, grid, block } = random;
        const made = kernel(schema, new Function(`return ${text}`)(), { name: 'random' }) as Kernel;
        const args = kernelArguments(random);
        expect(await onGpu(device, made, grid, block, args), text).toEqual(
          onInterpreter(made, grid, block, args),
        );
      }),
      randomRuns(60),
    );
  });

  test('and may differ in the last bit where a kernel allows fused multiply-adds', async () => {
    const body = ({ y, x }: { y: Float32Array; x: Float32Array }, cuda: never) => {
      const i = (cuda as { thisGrid(): { threadRank(): number } }).thisGrid().threadRank();
      y[i] = x[i]! * x[i]! + -1;
    };
    const schema = { y: 'f32[]', x: 'readonly f32[]' } as const;
    const x = Float32Array.from({ length: 64 }, (_, i) => 1 + (i + 1) * 2 ** -13);
    const results = await Promise.all(
      [false, true].map((fma) =>
        onGpu(device, kernel(schema, body as never, { name: 'fused', fma }) as Kernel, 1, 64, {
          y: new Float32Array(64),
          x,
        }),
      ),
    );
    const separate = x.map((value) => Math.fround(value * value) - 1);
    const fused = x.map((value) => Math.fround(value * value - 1));
    expect(results.map(({ y }) => y)).toEqual([bitsOf(separate), bitsOf(fused)]);
  });
});
