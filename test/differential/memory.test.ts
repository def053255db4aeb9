// Memory as numbers, vectors and records, seen in every way: as in JavaScript over the same bytes, on every target.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { hostForm, layoutOf } from '#warpstage/kernel/layout.js';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { inKernel, MemoryArray, memoryIntrinsics, val } from '../support/memory-in-javascript.ts';
import { nativeTargets } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { type MemoryKernel, randomMemory } from './random-memory.ts';
import { type Described, elementOf, partLength } from './random-memory-elements.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

const grid = 2;

/** Bytes of which every number is finite. */
function filled(of: Described, count: number, seed: number): Uint8Array<ArrayBuffer> {
  const { bytes, parts } = layoutOf(elementOf(of));
  const all = new Uint8Array(bytes * count);
  for (let i = 0; i < count; i += 1) {
    for (const [at, { element, offset }] of parts.entries()) {
      const number = ((i * 37 + at * 13 + seed * 11) % 201) - 100;
      const part = all.subarray(i * bytes + offset, i * bytes + offset + layoutOf(element).bytes);
      new MemoryArray(element, part)[0] = /64/.test(element) && !/f/.test(element) ? BigInt(number) : number;
    }
  }
  return all;
}

/** What memory holds, in hexadecimal; what lies between the parts of records is nobody's. */
function contents(all: Bytes, { arrays }: MemoryKernel): Readonly<Record<string, string>> {
  for (const [name, of] of Object.entries(arrays)) {
    const { bytes, parts } = layoutOf(elementOf(of));
    const used = new Set(
      parts.flatMap(({ element, offset }) =>
        Array.from({ length: layoutOf(element).bytes }, (_, byte) => offset + byte),
      ),
    );
    if (used.size < bytes)
      all[name]!.forEach((_, at, array) => {
        if (!used.has(at % bytes)) array[at] = 0;
      });
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, bytes]) => [name, Buffer.from(bytes.buffer).toString('hex')]),
  );
}

type Bytes = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

function memoryOf({ arrays }: MemoryKernel, threads: number): Bytes {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, of], seed) => [name, filled(of, threads * partLength, seed)]),
  );
}

type Body = (data: object, cuda: object) => void;

function asJavaScript(made: MemoryKernel, block: number) {
  const memory = memoryOf(made, grid * block);
  const body = new Function('val', `return ${made.text}`)(val) as Body;
  const arrays = Object.fromEntries(
    Object.entries(memory).map(([name, bytes]) => [
      name,
      new MemoryArray(elementOf(made.arrays[name]!), bytes),
    ]),
  );
  for (let t = 0; t < grid * block; t += 1) {
    const cuda = {
      ...memoryIntrinsics,
      // The thread's own part of the block's arrays is all that it uses.
      sharedArray: memoryIntrinsics.localArray,
      blockIdx: { x: Math.floor(t / block) },
      blockDim: { x: block },
      threadIdx: { x: t % block },
    };
    body({ ...arrays, ...made.records }, cuda);
  }
  return contents(memory, made);
}

function programOf(made: MemoryKernel, block: number, indexType: 'i32' | 'i64'): Program {
  const arrays = Object.entries(made.arrays).map(
    ([name, of]) => [name, typeof of === 'string' ? (`${of}[]` as const) : of.array] as const,
  );
  const schema = { ...Object.fromEntries(arrays), ...made.records };
  const one = kernel(schema, new Function(`return ${inKernel(made.text)}`)(), { name: 'random' });
  const given = { block: [block, 1, 1], indexType, constants: {}, functions: {} } as const;
  return specialise(one as never, given).program;
}

function resultOf(target: Target, program: Program, made: MemoryKernel, block: number) {
  const memory = memoryOf(made, grid * block);
  const views = Object.entries(memory).map(([name, bytes]) => {
    const { Values } = hostForm(elementOf(made.arrays[name]!));
    return [name, new Values(bytes.buffer)] as const;
  });
  const { fault } = runProgram(target, program, { grid, arguments: Object.fromEntries(views) as never });
  expect(fault).toBeNull();
  return contents(memory, made);
}

const quick: readonly Target[] = [interpreter('late'), wasm, wasmStates];
/** Each gets an eighth of the kernels, as a compiler takes long: by the text, so that a run can be repeated. */
const slow: readonly Target[] = [...nativeTargets, ...cudaTargets];
const targetsFor = (text: string) => [...quick, ...slow.filter((_, at) => text.length % 8 === at % 8)];

sayWithoutGpu();

test(
  'every target does what JavaScript does',
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(tapes(220), fc.boolean(), fc.constantFrom(3, 1, 8, 32), (tape, wide, block) => {
        const made = randomMemory(tape);
        const expected = asJavaScript(made, block);
        const program = programOf(made, block, wide ? 'i64' : 'i32');
        for (const target of targetsFor(made.text)) {
          seen.add(target.name);
          expect(resultOf(target, program, made, block), `${target.name}: ${made.text}`).toEqual(expected);
        }
      }),
      randomRuns(60),
    );
    expect([...seen].sort()).toEqual([...quick, ...slow].map(({ name }) => name).sort());
  },
  randomLimit(60),
);
