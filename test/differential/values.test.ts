// Names that stand for other arrays, objects and lists while a kernel runs: as in JavaScript, on every target.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { elements, randomValues, threads } from './random-values.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

const length = threads * elements;
const filled = () =>
  Object.fromEntries(
    ['a', 'b', 'c'].map((name, n) => [name, Int32Array.from({ length }, (_, i) => (i * 37 + n * 11) % 101)]),
  );

type Body = (data: object, cuda: object) => void;

function asJavaScript(text: string) {
  const data = filled();
  const body = new Function(`return ${text}`)() as Body;
  for (let t = 0; t < threads; t++) body(data, { thisGrid: () => ({ threadRank: () => t }) });
  return data;
}

function compiled(target: Target, text: string, indexType: 'i32' | 'i64') {
  const data = filled();
  const schema = { a: 'i32[]', b: 'i32[]', c: 'i32[]' } as const;
  const made = kernel(schema, new Function(`return ${text}`)(), { name: 'random' });
  const { fault } = runKernel(target, made, { grid: 1, block: threads, indexType, arguments: data });
  expect(fault).toBeNull();
  return data;
}

const targets: readonly Target[] = [interpreter('late'), wasm, wasmStates, ...nativeTargets, ...cudaTargets];

sayWithoutGpu();

test.each(targets.map((target) => [target.name, target] as const))(
  '%s',
  (_, target) => {
    fc.assert(
      fc.property(tapes(120), fc.boolean(), (tape, wide) => {
        const text = randomValues(tape);
        expect(compiled(target, text, wide ? 'i64' : 'i32'), text).toEqual(asJavaScript(text));
      }),
      randomRuns(cudaTargets.includes(target) || nativeTargets.includes(target) ? 10 : 150),
    );
  },
  randomLimit(60),
);
