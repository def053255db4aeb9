// Copies into shared memory that are not made, as what they copy is read where it comes from: random pipelines over arrays of their own and
// over one that is read and written at once. WebAssembly and compiled code give what the interpreter gives, with this pass and
// without it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel as newKernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { explainWasm, moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTarget } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';

interface Pipelined {
  readonly kernel: Kernel;
  readonly text: string;
  /** Who copies what. */
  readonly copied: string;
  /** Threads of a block, and elements of a batch. */
  readonly threads: number;
  readonly size: number;
}

/** A pipeline whose blocks each write what they have read, or what they will read. */
function randomPipeline(tape: Tape): Pipelined {
  const size = tape.pick([8, 8, 16, 12]);
  const stages = 1 + tape.below(3);
  const parts = tape.pick([1, 1, 2]);
  const copied = tape.pick([
    'whole',
    'whole',
    'whole',
    'halves',
    'some',
    'each',
    'each',
    'askew',
    'few',
    'shares',
  ]);
  const threads = size / parts;
  const first = tape.pick(['(cuda.gridDim.x * b + cuda.blockIdx.x)', '(cuda.blockIdx.x * batches + b)']);
  const stage = `(batch % ${stages}) * ${size}`;
  const at = () =>
    tape.pick([
      `${stage} + t`,
      `${stage} + t`,
      `${stage} + (t + 3) % ${size}`,
      `${stage} + ${tape.below(size)}`,
      `${stage} + ${size - threads} + t`,
    ]);
  // Each thread has an element of its own.
  const where = tape.pick([
    'first(batch) + t',
    `first(batch) + (t + 1) % ${size}`,
    'first(Math.min(batch + 1, batches - 1)) + t',
  ]);
  const statement = () =>
    tape.pick([
      () => `out[${where}] = shared[${at()}] * 3 + 1;`,
      () => `out[${where}] = shared[${at()}] - shared[${at()}];`,
      () => `kept = kept * 5 + shared[${at()}];`,
      () => `if (t < 3) out[${where}] = shared[${at()}] + kept;`,
      () => `for (let k = 0; k < ${size}; k++) kept = kept * 3 + shared[${stage} + k];`,
      () => `block.sync();`,
      // The last thread reads the next stage.
      () =>
        stages > 1 && tape.chance(1, 2)
          ? `if (batch % ${stages} === 0 && batch + 1 < batches) kept = kept * 3 + shared[${stage} + ${size - threads} + t + 1];`
          : '',
      // Where threads write to shared memory, or read more than the stage, copies are made.
      () =>
        tape.chance(1, 4)
          ? `block.sync(); shared[${stage} + t] = kept; block.sync();`
          : 'kept = kept + batch;',
      () => (tape.chance(1, 4) ? `kept = kept + shared[(${stage} + t + 1) % ${size}];` : ''),
    ])();
  const statements = Array.from({ length: 1 + tape.below(4) }, statement).join('\n');
  const copy = (offset: number | string, count: number) =>
    `cuda.memcpyAsync(block, shared.subarray((next % ${stages}) * ${size} + ${offset}), input.subarray(first(next) + ${offset}), ${count}, pipeline);`;
  const half = size / 2;
  const ofThread = (to: string, from: string) =>
    `cuda.memcpyAsync(shared.subarray((next % ${stages}) * ${size} + ${to}), input.subarray(first(next) + ${from}), ${parts}, pipeline);`;
  const copies = {
    whole: copy(0, size),
    // The block copies as one, or by shares: nobody knows that what threads have counted is the same in all.
    shares: `if (next % 2 === 0) ${copy(0, size)} else ${copy('zero', size)}`,
    // Each thread copies what is its own, or what another's would be, or not all do.
    each: ofThread(`${parts} * t`, `${parts} * t`),
    askew: tape.pick([
      ofThread(`${parts} * t`, `${parts} * ((t + 1) % ${threads})`),
      ofThread(`${parts} * t`, `${parts} * (${threads - 1} - t)`),
      ofThread(`${parts} * (${threads - 1} - t)`, `${parts} * t`),
    ]),
    few: `if (next < ${stages} || t % 3 !== next % 3) ${ofThread(`${parts} * t`, `${parts} * t`)}`,
    halves: copy(0, half) + copy(half, half),
    // Of every other batch a half, beside what is left of the one before.
    some: stages > 1 ? copy(0, size) : `if (next % 2 === 0) ${copy(0, size)} else ${copy(0, half)}`,
  }[copied as 'whole'];
  const text = `({ out, kepts, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', ${stages * size});
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}));
    const first = (b) => ${first} * ${size};
    let kept = cuda.blockIdx.x;
    let zero = 0;
    ${copied === 'shares' ? 'for (let k = 0; k <= t; k++) zero = Math.min(k, 0);' : ''}
    for (let batch = 0, next = 0; batch < batches; ++batch) {
      for (; next < batches && next < batch + ${stages}; ++next) {
        pipeline.producerAcquire();
        ${copies}
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      ${statements}
      block.sync();
      pipeline.consumerRelease();
    }
    kepts[cuda.thisGrid().threadRank()] = kept;
  }`;
  const schema = { out: 'i32[]', kepts: 'i32[]', input: 'readonly i32[]', batches: 'index' } as const;
  return {
    kernel: newKernel(schema, new Function(`return ${text}`)()) as Kernel,
    text,
    copied,
    threads,
    size,
  };
}

interface Launch {
  readonly grid: number;
  readonly batches: number;
  /** What is read is what is written, or begins so many elements before or behind that; null: they are apart. */
  readonly shift: number | null;
  readonly missing: number;
}

function outcome(target: Target, { kernel, threads, size }: Omit<Pipelined, 'copied'>, launch: Launch) {
  const { grid, batches, shift, missing } = launch;
  const all = grid * batches * size;
  const margin = 32;
  const ofBoth = new Int32Array(all + 2 * margin).map((_, i) => Math.imul(i, 40_503) >> 5);
  const out = ofBoth.subarray(margin, margin + all);
  const length = Math.max(0, all - missing);
  const begin = margin + (shift ?? 0);
  const input =
    shift === null ? Int32Array.from({ length }, (_, i) => i * 7) : ofBoth.subarray(begin, begin + length);
  const kepts = new Int32Array(grid * threads);
  const { fault } = runKernel(target, kernel, {
    grid,
    block: threads,
    arguments: { out, kepts, input, batches },
  });
  return {
    fault: fault && { kind: fault.kind, block: fault.block },
    results: fault === null ? [ofBoth, kepts, input].map((each) => each.join()) : null,
  };
}

/** Whether WebAssembly borrows, and compiled code does too. */
function borrows({ kernel, threads }: Omit<Pipelined, 'copied'>): boolean {
  const options = {
    indexType: 'i32',
    cooperative: false,
    flatGrid: true,
    constants: {},
    functions: {},
  } as const;
  const { program } = specialise(kernel, { block: [threads, 1, 1], ...options });
  const does = explainWasm(program).done.some((each) => each.startsWith('borrow'));
  const [made, without] = [[], ['borrow'] as const].map((passes) =>
    Buffer.from(moduleForProcessor(program, 2, { without: passes }).bytes).toString('latin1'),
  );
  expect(made !== without).toBe(does);
  return does;
}

const native = [nativeTarget(), nativeTarget('borrow'), nativeTarget('turns')].flatMap((target) =>
  target === null ? [] : [{ name: target.name, target, count: 60 }],
);
const engines = [wasm, wasmStates, wasmWithout('borrow'), wasmWithout('turns')].map((target) => ({
  ...{ name: target.name, target, count: 120 },
}));

test.each([...engines, ...native])('random pipelines, by $name', ({ target, count }) => {
  let [runs, borrowing, side, faults, shared] = [0, 0, 0, 0, 0];
  fc.assert(
    fc.property(
      tapes(60),
      fc.constantFrom(1, 2, 9, 20),
      fc.constantFrom(0, 1, 3, 6),
      fc.constantFrom(null, null, 0, 0, 5, -5),
      fc.constantFrom(0, 0, 0, 0, 0, 7),
      (tape, blocks, batches, shift, missing) => {
        const pipelined = randomPipeline(tape);
        // Where another block writes what one reads, what it finds depends on who comes first.
        const grid = shift === null || shift === 0 ? blocks : 1;
        const launch = { grid, batches, shift, missing };
        const expected = outcome(interpreter('eager'), pipelined, launch);
        expect(outcome(target, pipelined, launch), pipelined.text).toEqual(expected);
        runs += 1;
        if (expected.fault !== null) faults += 1;
        if (!borrows(pipelined)) return;
        expect(['askew', 'few', 'shares']).not.toContain(pipelined.copied);
        borrowing += 1;
        if (pipelined.copied === 'each') side += 1;
        if (shift !== null) shared += 1;
      },
    ),
    randomRuns(count),
  );
  expect(borrowing).toBeLessThan(runs);
  expect(shared).toBeGreaterThan(0);
  expect(side).toBeGreaterThan(0);
  if (count < 120) return;
  expect(faults).toBeGreaterThan(0);
  expect(borrowing).toBeGreaterThan(runs / 5);
  expect(shared).toBeGreaterThan(runs / 12);
});

test('a stage that was never filled has some value, as the array itself would', () => {
  const text = `({ out, input, n }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 16);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    for (let i = 0; i < n; i++) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, shared.subarray((i % 2) * 8), input, 8, pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      pipeline.consumerRelease();
    }
    const stage = (n % 2) * 8;
    out[t] = shared[stage + t];
  }`;
  const schema = { out: 'i32[]', input: 'readonly i32[]', n: 'index' } as const;
  const kernel = newKernel(schema, new Function(`return ${text}`)()) as Kernel;
  expect(borrows({ kernel, text, threads: 8, size: 8 })).toBe(true);
  const out = new Int32Array(8);
  const { fault } = runKernel(wasm, kernel, {
    grid: 1,
    block: 8,
    arguments: { out, input: new Int32Array(8).fill(7), n: 1 },
  });
  expect(fault).toBeNull();
  expect(out).not.toContain(0);
});

test('what reads on into the next stage finds it there, and not behind the source of its own', () => {
  const text = `({ out, input }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 16);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    for (let batch = 0; batch < 2; batch++) {
      pipeline.producerAcquire();
      const from = input.subarray((cuda.gridDim.x * batch + cuda.blockIdx.x) * 8);
      cuda.memcpyAsync(block, shared.subarray(batch * 8), from, 8, pipeline);
      pipeline.producerCommit();
    }
    pipeline.consumerWait();
    pipeline.consumerRelease();
    pipeline.consumerWait();
    out[cuda.blockIdx.x * 8 + t] = shared[t + 1];
    pipeline.consumerRelease();
  }`;
  const kernel = newKernel(
    { out: 'i32[]', input: 'readonly i32[]' },
    new Function(`return ${text}`)(),
  ) as Kernel;
  const [out, input] = [new Int32Array(24), Int32Array.from({ length: 48 }, (_, i) => i)];
  expect(runKernel(wasm, kernel, { grid: 3, block: 8, arguments: { out, input } }).fault).toBeNull();
  const expected = [0, 8, 16].flatMap((first) => [1, 2, 3, 4, 5, 6, 7, 24].map((each) => first + each));
  expect([...out]).toEqual(expected);
});

test('elements that threads put apart from each other are copied', () => {
  const spread = newKernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 16);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(shared.subarray(2 * t), input.subarray(t), 1, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[t] = shared[2 * (t & 3)]!;
    pipeline.consumerRelease();
  }) as Kernel;
  for (const { target } of [...engines, ...native]) {
    const out = new Int32Array(8);
    const data = { out, input: Int32Array.of(7, 8, 9, 10, 11, 12, 13, 14) };
    expect(runKernel(target, spread, { grid: 1, block: 8, arguments: data }).fault).toBeNull();
    expect([...out], target.name).toEqual([7, 8, 9, 10, 7, 8, 9, 10]);
  }
});

test('a stage that threads of a block share to copy, as they may differ, is read where that was copied to', () => {
  const twice = newKernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 8);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    // The same in all threads, which nobody knows before they have counted.
    let from = 0;
    for (let k = 0; k <= t; k++) from = 8;
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, shared, input, 8, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[t] = shared[t]!;
    block.sync();
    pipeline.consumerRelease();
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, shared, input.subarray(from), 8, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[8 + t] = shared[t]!;
    pipeline.consumerRelease();
  }) as Kernel;
  for (const { target } of [...engines, ...native]) {
    const [out, input] = [new Int32Array(16), Int32Array.from({ length: 16 }, (_, i) => 100 + i)];
    expect(runKernel(target, twice, { grid: 1, block: 8, arguments: { out, input } }).fault).toBeNull();
    expect([...out], target.name).toEqual([...input]);
  }
});
