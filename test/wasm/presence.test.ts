// Pipelines that a thread has not made yet, or has quit: the interpreter says so at every verb and every copy,
// and so does WebAssembly, however it runs the copy: for the block at once, in lanes, thread by thread.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const schema = { out: 'i32[]', input: 'readonly i32[]', n: 'index' } as const;

/** Copies for `pipe`, as threads may make them. */
const copies = {
  together: 'cuda.memcpyAsync(block, staged, input, block.size(), pipe);',
  'each its own element': 'cuda.memcpyAsync(staged.subarray(t), input.subarray(t), 1, pipe);',
  'each anywhere': 'cuda.memcpyAsync(staged.subarray(t), input.subarray((t * 5) & 7), 1, pipe);',
  'some alone': 'if (t > n) cuda.memcpyAsync(staged.subarray(t), input.subarray(t), 1, pipe);',
  'of a tile': 'cuda.memcpyAsync(tile, staged.subarray(t & 4), input, 4, pipe);',
} as const;

const verbs = {
  acquire: 'pipe.producerAcquire();',
  commit: 'pipe.producerCommit();',
  wait: 'pipe.consumerWait();',
  release: 'pipe.consumerRelease();',
  quit: 'pipe.quit();',
  sync: 'block.sync();',
  beside: 'out[t] = input[t];',
} as const;

const statements = { ...copies, ...verbs };

/** A kernel of statements between the making of a pipeline and a store that lanes make. */
function kernelOf(names: readonly (keyof typeof statements)[]): Kernel {
  const body = `({ out, input, n }, cuda) => {
    const block = cuda.thisThreadBlock();
    const tile = cuda.tiledPartition(block, 4);
    const t = block.threadRank();
    const staged = cuda.sharedArray('i32', block.size());
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    ${names.map((name) => statements[name]).join('\n')}
    out[t] = 1;
  }`;
  return kernel(schema, new Function(`return ${body}`)(), { name: 'present' });
}

function outcome(target: Target, made: Kernel) {
  const values = { out: new Int32Array(8), input: new Int32Array(16), n: 3 };
  const { fault, executable } = runKernel(target, made, { grid: 1, block: 8, arguments: values });
  const said = fault?.kind === 'misuse' ? fault.message : '';
  return { executable, fault: fault && { kind: fault.kind, said } };
}

test.each(Object.keys(copies) as (keyof typeof copies)[])('a copy after quit: %s', (copy) => {
  for (const target of [interpreter(), wasm, wasmStates]) {
    const { fault, executable } = outcome(target, kernelOf(['quit', copy]));
    expect(fault, target.name).toMatchObject({
      kind: 'misuse',
      said: 'memcpyAsync of `pipe` by a thread that has quit it',
    });
    // The copy of each thread's own element is one that lanes make.
    if (target.name === 'wasm' && copy === 'each its own element') {
      expect(executable).toMatchObject({ mode: 'regions', vectorised: true });
    }
  }
});

/** Which of the threads fails first, each at a verb of its own, no target promises. */
function withoutVerb({ fault }: ReturnType<typeof outcome>) {
  return fault && { ...fault, said: fault.said.replace(/^\w+ /, '') };
}

test('whatever a kernel does with a pipeline, before and after quit, it fails as on the interpreter', () => {
  const names = fc.constantFrom(...(Object.keys(statements) as (keyof typeof statements)[]));
  let misuses = 0;
  fc.assert(
    fc.property(fc.array(names, { maxLength: 8 }), (chosen) => {
      const made = kernelOf(chosen);
      const expected = withoutVerb(outcome(interpreter(), made));
      for (const target of [wasm, wasmStates])
        expect(withoutVerb(outcome(target, made)), target.name).toEqual(expected);
      if (expected?.kind === 'misuse') misuses += 1;
    }),
    randomRuns(atLength ? 150 : 75),
  );
  expect(misuses).toBeGreaterThan(5);
});
