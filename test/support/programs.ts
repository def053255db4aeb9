// A few whole programs of the IR, written by hand: what the front end makes of the guide's
// kernels and of some small ones.

import type { Program } from '#warpstage/compiler/ir.js';
import { elementValueType } from '#warpstage/compiler/ir.js';
import type { ElementType } from '#warpstage/kernel/types.js';
import {
  add,
  atomic,
  binary,
  compare,
  conditional,
  constant,
  finish,
  leave,
  load,
  loop,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  pipelineCall,
  store,
  sync,
  unary,
  when,
} from './ir.ts';

/** `if (i < y.length) y[i] = a * y[i]` */
export function scale({ block = 64, indexType = 'i32' as 'i32' | 'i64' } = {}): Program {
  const p = new ProgramBuilder('scale', block, { indexType });
  const y = p.array('y', 'f32');
  const a = p.scalar('a', 'f32');
  const i = p.variable('i', indexType);
  return p.build([
    i.set(p.gridRank()),
    when(compare('less', i.value, p.length(y)), [store(y, i.value, multiply(a, load(y, i.value)))]),
  ]);
}

/** Each block reverses its part of `y` in shared memory. */
export function reverse({ block = 64, element = 'i32' as ElementType } = {}): Program {
  const p = new ProgramBuilder('reverse', block);
  const y = p.array('y', element);
  const shared = p.shared('shared', element, block);
  const rank = p.builtin('threadRank');
  const mirrored = binary('subtract', p.index(block - 1), rank);
  return p.build([
    store(shared, rank, load(y, p.gridRank())),
    sync(),
    store(y, p.gridRank(), load(shared, mirrored)),
  ]);
}

/** Counts the steps of the Collatz sequence of every element: loops that differ from thread to thread. */
export function collatz({ block = 64 } = {}): Program {
  const p = new ProgramBuilder('collatz', block);
  const y = p.array('y', 'u32');
  const n = p.variable('n', 'u32');
  const steps = p.variable('steps', 'u32');
  const one = constant('u32', 1);
  const label = p.label();
  return p.build([
    when(compare('greaterEqual', p.gridRank(), p.length(y)), [finish()]),
    n.set(load(y, p.gridRank())),
    loop(label, null, [
      when(compare('lessEqual', n.value, one), [leave('break', label)]),
      steps.set(add(steps.value, one)),
      when(compare('equal', binary('and', n.value, one), one), [
        n.set(add(multiply(n.value, constant('u32', 3)), one)),
        leave('continue', label),
      ]),
      n.set(binary('shiftRight', n.value, one)),
    ]),
    store(y, p.gridRank(), steps.value),
  ]);
}

/** `bins[values[i] % bins.length] += 1`, by a shared histogram for each block. */
export function histogram({ block = 64, bins = 16 } = {}): Program {
  const p = new ProgramBuilder('histogram', block);
  const counts = p.array('counts', 'u32');
  const values = p.array('values', 'u32', 'readonly');
  const shared = p.shared('shared', 'u32', bins);
  const b = p.variable('b', 'i32');
  const own = (from: number) =>
    p.countUp(
      b,
      p.builtin('threadRank'),
      compare('less', b.value, p.index(bins)),
      from === 0
        ? [store(shared, b.value, constant('u32', 0)), b.set(add(b.value, p.index(block - 1)))]
        : [atomic('add', [counts, b.value], load(shared, b.value)), b.set(add(b.value, p.index(block - 1)))],
    );
  const value = load(values, p.gridRank());
  return p.build([
    ...own(0),
    sync(),
    when(compare('less', p.gridRank(), p.length(values)), [
      atomic(
        'add',
        [
          shared,
          {
            kind: 'convert',
            operand: binary('remainder', value, constant('u32', bins)),
            type: 'i32',
            range: value.range,
          },
        ],
        constant('u32', 1),
      ),
    ]),
    sync(),
    ...own(1),
  ]);
}

/** What the guide's kernels here compute of each staged element. */
export function tripled(value: ReturnType<typeof load>) {
  const of = (n: number) =>
    constant(value.type, value.type === 'i64' || value.type === 'u64' ? BigInt(n) : n);
  return add(multiply(value, of(3)), of(1));
}

/** The guide's `with_staging_unified`: `globalOut[i] = globalIn[i] * 3 + 1`, staged batch by batch. */
export function stagingUnified({
  block = 64,
  stages = 2,
  element = 'i32' as ElementType,
  alignment = 4,
  indexType = 'i32' as 'i32' | 'i64',
} = {}): Program {
  const p = new ProgramBuilder('withStagingUnified', block, { indexType });
  const globalOut = p.array('globalOut', element);
  const globalIn = p.array('globalIn', element, 'readonly');
  const batchCount = p.scalar('batchCount', indexType);
  const size = p.index(block);
  const shared = p.shared('shared', element, multiply(p.index(stages), size));
  const pipeline = p.pipeline('pipeline', stages);
  const computeBatch = p.variable('computeBatch', indexType);
  const fetchBatch = p.variable('fetchBatch', indexType);
  const fetchLabel = p.label();
  const blockBatch = (batch: ReturnType<typeof load>) =>
    add(multiply(p.builtin('blockIdx.x'), size), multiply(multiply(p.builtin('gridDim.x'), size), batch));
  const stageOf = (batch: ReturnType<typeof load>) =>
    multiply(binary('remainder', batch, p.index(stages)), size);
  const rank = p.builtin('threadRank');
  const advance = (variable: typeof fetchBatch) => variable.set(add(variable.value, p.index(1)));
  return p.build([
    makePipeline(pipeline),
    fetchBatch.set(p.index(0)),
    ...p.countUp(computeBatch, p.index(0), compare('less', computeBatch.value, batchCount), [
      loop(
        fetchLabel,
        conditional(
          compare('less', fetchBatch.value, batchCount),
          compare('less', fetchBatch.value, add(computeBatch.value, p.index(stages))),
          constant('bool', false),
        ),
        [
          pipelineCall('producerAcquire', pipeline),
          memcpyAsync({
            to: [shared, stageOf(fetchBatch.value)],
            from: [globalIn, blockBatch(fetchBatch.value)],
            count: size,
            alignment,
            pipeline,
          }),
          pipelineCall('producerCommit', pipeline),
        ],
        [advance(fetchBatch)],
      ),
      pipelineCall('consumerWait', pipeline),
      store(
        globalOut,
        add(blockBatch(computeBatch.value), rank),
        tripled(load(shared, add(stageOf(computeBatch.value), rank))),
      ),
      pipelineCall('consumerRelease', pipeline),
    ]),
  ]);
}

/**
 * The guide's `with_specialized_staging_unified`: even ranks produce, odd ranks consume; a batch is half a
 * block's size. Roles by `makePipeline(group, state, role)`, or by a count of producers.
 */
export function stagingSpecialized({
  block = 64,
  stages = 2,
  partition = 'role' as 'role' | 'count',
  element = 'i32' as ElementType,
} = {}): Program {
  const p = new ProgramBuilder('withSpecializedStaging', block);
  const globalOut = p.array('globalOut', element);
  const globalIn = p.array('globalIn', element, 'readonly');
  const batchCount = p.scalar('batchCount', 'i32');
  const half = block / 2;
  const shared = p.shared('shared', element, stages * half);
  const pipeline = p.pipeline('pipeline', stages, partition);
  const batch = p.variable('batch', 'i32');
  const rank = p.builtin('threadRank');
  const own = binary('shiftRight', rank, p.index(1));
  const produces = compare('equal', binary('and', rank, p.index(1)), p.index(0));
  const globalIndex = add(
    add(
      multiply(p.builtin('blockIdx.x'), p.index(half)),
      multiply(multiply(p.builtin('gridDim.x'), p.index(half)), batch.value),
    ),
    own,
  );
  const sharedIndex = add(multiply(binary('remainder', batch.value, p.index(stages)), p.index(half)), own);
  const forEachBatch = (body: Parameters<ProgramBuilder['build']>[0]) =>
    p.countUp(batch, p.index(0), compare('less', batch.value, batchCount), body);
  return p.build([
    makePipeline(pipeline, partition === 'role' ? produces : p.index(half)),
    when(
      produces,
      forEachBatch([
        pipelineCall('producerAcquire', pipeline),
        memcpyAsync({
          group: { kind: 'thread' },
          to: [shared, sharedIndex],
          from: [globalIn, globalIndex],
          count: p.index(1),
          pipeline,
        }),
        pipelineCall('producerCommit', pipeline),
      ]),
      forEachBatch([
        pipelineCall('consumerWait', pipeline),
        store(globalOut, globalIndex, tripled(load(shared, sharedIndex))),
        pipelineCall('consumerRelease', pipeline),
      ]),
    ),
  ]);
}

/** The guide's `with_staging_scope_thread`, with the block sync that it lacks; each thread reads its neighbour's element. */
export function stagingThreadScope({ block = 64, stages = 2, element = 'i32' as ElementType } = {}): Program {
  const p = new ProgramBuilder('withStagingScopeThread', block);
  const globalOut = p.array('globalOut', element);
  const globalIn = p.array('globalIn', element, 'readonly');
  const batchCount = p.scalar('batchCount', 'i32');
  const size = p.index(block);
  const shared = p.shared('shared', element, stages * block);
  const pipeline = p.pipeline('pipeline', 0);
  const computeBatch = p.variable('computeBatch', 'i32');
  const fetchBatch = p.variable('fetchBatch', 'i32');
  const rank = p.builtin('threadRank');
  const neighbour = binary('remainder', add(rank, p.index(1)), size);
  const blockBatch = (batch: ReturnType<typeof load>) =>
    add(multiply(p.builtin('blockIdx.x'), size), multiply(multiply(p.builtin('gridDim.x'), size), batch));
  const stageOf = (batch: ReturnType<typeof load>) =>
    multiply(binary('remainder', batch, p.index(stages)), size);
  return p.build([
    makePipeline(pipeline),
    ...p.countUp(computeBatch, p.index(0), compare('less', computeBatch.value, batchCount), [
      loop(
        p.label(),
        conditional(
          compare('less', fetchBatch.value, batchCount),
          compare('less', fetchBatch.value, add(computeBatch.value, p.index(stages))),
          constant('bool', false),
        ),
        [
          pipelineCall('producerAcquire', pipeline),
          memcpyAsync({
            group: { kind: 'thread' },
            to: [shared, add(stageOf(fetchBatch.value), rank)],
            from: [globalIn, add(blockBatch(fetchBatch.value), rank)],
            count: p.index(1),
            pipeline,
          }),
          pipelineCall('producerCommit', pipeline),
        ],
        [fetchBatch.set(add(fetchBatch.value, p.index(1)))],
      ),
      pipelineCall('consumerWait', pipeline),
      sync(),
      store(
        globalOut,
        add(blockBatch(computeBatch.value), rank),
        tripled(load(shared, add(stageOf(computeBatch.value), neighbour))),
      ),
      pipelineCall('consumerRelease', pipeline),
      sync(),
    ]),
  ]);
}

/** Reads one element beyond the end in the last thread. */
export function readsBeyond({ block = 64 } = {}): Program {
  const p = new ProgramBuilder('readsBeyond', block);
  const y = p.array('y', 'f32');
  return p.build([store(y, p.gridRank(), load(y, add(p.gridRank(), p.index(1))))]);
}

/** `y[i] = 100 / y[i]`, which fails where an element is zero. */
export function divides({ block = 64 } = {}): Program {
  const p = new ProgramBuilder('divides', block);
  const y = p.array('y', 'i32');
  return p.build([store(y, p.gridRank(), binary('divide', constant('i32', 100), load(y, p.gridRank())))]);
}

/** Acquires one stage more than there are: every thread waits for a release that none can reach. */
export function acquiresTooMany({ block = 64, stages = 2 } = {}): Program {
  const p = new ProgramBuilder('acquiresTooMany', block);
  const pipeline = p.pipeline('pipeline', stages);
  const stage = p.variable('stage', 'i32');
  return p.build([
    makePipeline(pipeline),
    ...p.countUp(stage, p.index(0), compare('lessEqual', stage.value, p.index(stages)), [
      pipelineCall('producerAcquire', pipeline),
      pipelineCall('producerCommit', pipeline),
    ]),
  ]);
}

/** Thread 0 leaves before the others wait for its commit. */
export function leavesEarly({ block = 64 } = {}): Program {
  const p = new ProgramBuilder('leavesEarly', block);
  const pipeline = p.pipeline('pipeline', 2);
  return p.build([
    makePipeline(pipeline),
    pipelineCall('producerAcquire', pipeline),
    when(compare('equal', p.builtin('threadRank'), p.index(0)), [finish()]),
    pipelineCall('producerCommit', pipeline),
    pipelineCall('consumerWait', pipeline),
  ]);
}

/** What a float's value looks like when it is negated, and its square root. */
export function roots({ block = 64, element = 'f32' as 'f32' | 'f64' } = {}): Program {
  const p = new ProgramBuilder('roots', block);
  const y = p.array('y', element);
  const value = load(y, p.gridRank());
  const zero = constant(elementValueType(element), 0);
  return p.build([
    store(
      y,
      p.gridRank(),
      conditional(compare('less', value, zero), unary('negate', value), unary('sqrt', value)),
    ),
  ]);
}
