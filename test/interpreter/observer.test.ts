// The observer seam: what an observer sees, in which order, and that it changes nothing.

import { expect, test } from 'vitest';
import { CopyQueue } from '#warpstage/targets/interpreter/copy-queue.js';
import { combineObservers, type PartialObserver } from '#warpstage/targets/interpreter/observers.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { createInterpreterRunner, interpreterExecutable } from '#warpstage/targets/interpreter/runner.js';
import { constant, makePipeline, memcpyAsync, ProgramBuilder, pipelineCall } from '../support/ir.ts';
import { stagingSpecialized, stagingThreadScope, stagingUnified } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const batchCount = 3;
const nowhere = { source: 0, start: 0, end: 0 };
const block = 4;

function observe(program: ReturnType<typeof stagingUnified>, delivery: Delivery, part: PartialObserver) {
  const out = new Int32Array(2 * block * batchCount);
  const input = Int32Array.from(out, (_, i) => 10 * i);
  const target = {
    name: 'observed',
    compile: () => interpreterExecutable(program, delivery),
    createRunner: (executable: never, context: never) =>
      createInterpreterRunner(executable, context, { observer: combineObservers([part]) }),
  };
  const { fault } = runProgram(target, program, {
    grid: 2,
    arguments: { globalOut: out, globalIn: input, batchCount },
  });
  expect(fault).toBeNull();
  return { out, input };
}

test('one thread of the unified kernel, from its makePipeline to its end', () => {
  const reported: string[] = [];
  const of0 = (thread: { rank: number; block: { index: readonly number[] } }, what: string) => {
    if (thread.rank === 0 && thread.block.index[0] === 0) reported.push(what);
  };
  const stage = ({ stage, batch }: { stage: number; batch: number }) => `stage ${stage} batch ${batch}`;
  observe(stagingUnified({ block }), 'late', {
    makeBegan: (thread, { name }) => of0(thread, `make ${name}`),
    made: (thread) => of0(thread, 'made'),
    acquired: (thread, use) => of0(thread, `acquired ${stage(use)}`),
    issued: (copy) =>
      of0(
        copy.thread,
        `issued ${copy.from.elements.name}[${copy.from.offset}] to ${copy.to.elements.name}[${copy.to.offset}], ${copy.count}`,
      ),
    committed: (thread, use, copies) => of0(thread, `committed ${copies.length} to ${stage(use)}`),
    delivered: (copy) => of0(copy.thread, 'delivered'),
    waitEnded: (thread, use) => of0(thread, `waited ${stage(use)}`),
    read: (thread, { name }, index) => of0(thread, `read ${name}[${index}]`),
    write: (thread, { name }, index, value) => of0(thread, `write ${name}[${index}] = ${value}`),
    released: (thread, use) => of0(thread, `released ${stage(use)}`),
    threadEnded: (thread) => of0(thread, 'ended'),
  });
  expect(reported).toMatchInlineSnapshot(`
    [
      "make pipeline",
      "made",
      "acquired stage 0 batch 0",
      "issued globalIn[0] to shared[0], 4",
      "committed 1 to stage 0 batch 0",
      "acquired stage 1 batch 1",
      "issued globalIn[8] to shared[4], 4",
      "committed 1 to stage 1 batch 1",
      "delivered",
      "waited stage 0 batch 0",
      "read shared[0]",
      "write globalOut[0] = 1",
      "released stage 0 batch 0",
      "acquired stage 0 batch 2",
      "issued globalIn[16] to shared[0], 4",
      "committed 1 to stage 0 batch 2",
      "delivered",
      "waited stage 1 batch 1",
      "read shared[4]",
      "write globalOut[8] = 241",
      "released stage 1 batch 1",
      "delivered",
      "waited stage 0 batch 2",
      "read shared[0]",
      "write globalOut[16] = 481",
      "released stage 0 batch 2",
      "ended",
    ]
  `);
});

test.each(['eager', 'late', 3] as const)('an observer changes nothing (%s)', (delivery) => {
  for (const program of [stagingUnified({ block }), stagingThreadScope({ block })]) {
    const { out, input } = observe(program, delivery, {});
    expect([...out].sort((a, b) => a - b)).toEqual(Array.from(input, (x) => 3 * x + 1));
  }
});

test('what is bound to a phase and who waits for it go by the same objects', () => {
  const bound = new Map<object, Set<number>>();
  const waited = new Map<object, Set<number>>();
  const note = (map: Map<object, Set<number>>, sync: object, phase: number) => {
    map.set(sync, (map.get(sync) ?? new Set()).add(phase));
  };
  observe(stagingSpecialized({ block: 8 }), 1, {
    bound: (_copies, sync, phase) => note(bound, sync, phase),
    waited: (_thread, sync, phase) => note(waited, sync, phase),
  });
  expect(bound.size).toBe(4);
  for (const [sync, phases] of bound) expect(waited.get(sync)).toEqual(phases);
});

test('several observers hear each event in their order', () => {
  const reported: number[] = [];
  const parts = [0, 1, 2, 3, 4].map((i) => ({ blockBegan: () => reported.push(i) }));
  combineObservers(parts as PartialObserver[]).blockBegan(null as never);
  expect(reported).toEqual([0, 1, 2, 3, 4]);
});

test('a wait that times out is reported, and batches of the queue are phases', () => {
  const p = new ProgramBuilder('queue', 1);
  const out = p.array('globalOut', 'i32');
  p.array('globalIn', 'i32', 'readonly');
  p.scalar('batchCount', 'i32');
  const shared = p.shared('shared', 'i32', 4);
  const own = p.pipeline('own', 0);
  const pipeline = p.pipeline('pipeline', 1);
  const copy = (at: number) =>
    memcpyAsync({ to: [shared, p.index(at)], from: [out, p.index(at)], count: p.index(1), pipeline: own });
  const program = p.build([
    makePipeline(own),
    makePipeline(pipeline),
    ...[0, 1, 2].flatMap((at) => [copy(at), pipelineCall('producerCommit', own)]),
    { kind: 'call', intrinsic: 'pipelineConsumerWaitPrior', pipeline: own, prior: 1, range: nowhere },
    {
      kind: 'call',
      intrinsic: 'consumerWait',
      pipeline,
      limit: constant('f64', 100),
      until: false,
      result: null,
      range: nowhere,
    },
  ]);
  const reported: string[] = [];
  observe(program, 'late', {
    bound: (copies, _, phase) => reported.push(`${copies.length} bound to ${phase}`),
    waited: (_thread, sync, phase) => sync instanceof CopyQueue && reported.push(`waited for ${phase}`),
    waitBegan: (_thread, _use, verb, limit) => reported.push(`${verb} ${limit ?? 'without end'}`),
    waitGaveUp: () => reported.push('gave up'),
  });
  const block = [
    '1 bound to 0',
    '1 bound to 1',
    '1 bound to 2',
    'pipelineConsumerWaitPrior without end',
    'waited for 1',
    'consumerWaitFor 100',
    'gave up',
  ];
  expect(reported).toEqual([...block, ...block]);
});
