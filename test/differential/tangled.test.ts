// Random kernels of tangled control flow and indices: what the interpreter compiles, every target compiles,
// and all give the same bits.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import type { Executable } from '#warpstage/targets/executable.js';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { architectures, loweredFor, loweredForCpu } from '../support/lowered.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray, type Target } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { type TangledKernel, tangledArguments, tangledKernel } from './random-tangled.ts';
import { tangledSchema } from './random-tangled-text.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

interface Outcome {
  readonly executable: Executable;
  readonly outputs: Readonly<Record<string, string>>;
}

function outcome(target: Target, random: TangledKernel, indexType: 'i32' | 'i64'): Outcome {
  const made = kernel(tangledSchema, new Function(`return ${random.text}`)(), { name: 'tangled' });
  const values = tangledArguments(random);
  const { fault, executable } = runKernel(target, made, { ...random, indexType, arguments: values });
  expect(fault, random.text).toBeNull();
  const { strided, grouped, wide, counters } = values;
  const outputs = Object.entries({ strided, grouped, wide, counters } satisfies Record<string, HostArray>);
  return { executable, outputs: Object.fromEntries(outputs.map(([name, array]) => [name, bitsOf(array)])) };
}

/** How a kernel was run. */
function wayOf({ name }: Target, executable: Executable): string {
  if (executable.target !== 'wasm') return name;
  return `${name}: ${executable.mode}${executable.vectorised ? ', in lanes' : ''}`;
}

/** What the checker finds in the program that a GPU gets. */
const found: string[] = [];
const lowered = architectures.map((architecture) =>
  loweredFor(architecture, 'late', ({ message }) => found.push(message)),
);
const forCpu = loweredForCpu('late', ({ message }) => found.push(message));
const targets: readonly Target[] = [
  interpreter('eager'),
  wasm,
  wasmStates,
  ...lowered,
  forCpu,
  ...cudaTargets,
];

sayWithoutGpu();

test(
  'random tangled kernels run alike on every target, and become CUDA C++ for every architecture',
  () => {
    const ways = new Map<string, number>();
    fc.assert(
      fc.property(tapes(1000), fc.constantFrom('i32', 'i64'), (tape, indexType) => {
        const random = tangledKernel(tape);
        const expected = outcome(interpreter('late'), random, indexType);
        for (const target of targets) {
          const { executable, outputs } = outcome(target, random, indexType);
          expect(outputs, `${target.name}: ${random.text}`).toEqual(expected.outputs);
          expect(found, `${target.name}: ${random.text}`).toEqual([]);
          const way = wayOf(target, executable);
          ways.set(way, (ways.get(way) ?? 0) + 1);
        }
        for (const architecture of [75, 80, 90]) cudaText(expected.executable.program, architecture);
      }),
      randomRuns(160),
    );
    // Each way really ran.
    const wasmWays = ['regions', 'regions, in lanes', 'states', 'states, in lanes'];
    const all = [
      ...wasmWays.map((way) => `wasm: ${way}`),
      ...wasmWays.slice(2).map((way) => `wasm, states: ${way}`),
      ...cudaTargets.map(({ name }) => name),
    ];
    for (const way of all) expect(ways.get(way) ?? 0, way).toBeGreaterThan(0);
  },
  randomLimit(80),
);
