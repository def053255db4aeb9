// The text of the IR.

import { expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import {
  add,
  atomic,
  binary,
  block,
  compare,
  conditional,
  constant,
  convert,
  finish,
  leave,
  load,
  loop,
  math,
  multiply,
  ProgramBuilder,
  print,
  quit,
  store,
  sync,
  unary,
  when,
} from '../support/ir.ts';
import { collatz, stagingSpecialized, stagingUnified } from '../support/programs.ts';

test('the guide’s unified kernel', () => {
  expect(printProgram(stagingUnified({ stages: 4, alignment: 16 }))).toMatchInlineSnapshot(`
    "kernel withStagingUnified block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[4 * 64]
    pipeline pipeline: block scope, 4 stages, unified, group block
    variable computeBatch: i32
    variable fetchBatch: i32

    pipeline.makePipeline()
    fetchBatch = 0
    computeBatch = 0
    L2: while (computeBatch < batchCount) {
      L1: while (fetchBatch < batchCount && fetchBatch < computeBatch + 4) {
        pipeline.producerAcquire()
        memcpyAsync(block, shared.subarray(fetchBatch % 4 * 64), globalIn.subarray(blockIdx.x * 64 + gridDim.x * 64 * fetchBatch), 64, align 16, pipeline)
        pipeline.producerCommit()
      } update {
        fetchBatch = fetchBatch + 1
      }
      pipeline.consumerWait()
      globalOut[blockIdx.x * 64 + gridDim.x * 64 * computeBatch + threadRank] = shared[computeBatch % 4 * 64 + threadRank] * 3 + 1
      pipeline.consumerRelease()
    } update {
      computeBatch = computeBatch + 1
    }
    "
  `);
});

test('roles', () => {
  expect(printProgram(stagingSpecialized())).toMatchInlineSnapshot(`
    "kernel withSpecializedStaging block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[64]
    pipeline pipeline: block scope, 2 stages, role, group block
    variable batch: i32

    pipeline.makePipeline(producers: (threadRank & 1) == 0)
    if ((threadRank & 1) == 0) {
      batch = 0
      L1: while (batch < batchCount) {
        pipeline.producerAcquire()
        memcpyAsync(thread, shared.subarray(batch % 2 * 32 + (threadRank >> 1)), globalIn.subarray(blockIdx.x * 32 + gridDim.x * 32 * batch + (threadRank >> 1)), 1, align 4, pipeline)
        pipeline.producerCommit()
      } update {
        batch = batch + 1
      }
    } else {
      batch = 0
      L2: while (batch < batchCount) {
        pipeline.consumerWait()
        globalOut[blockIdx.x * 32 + gridDim.x * 32 * batch + (threadRank >> 1)] = shared[batch % 2 * 32 + (threadRank >> 1)] * 3 + 1
        pipeline.consumerRelease()
      } update {
        batch = batch + 1
      }
    }
    "
  `);
});

test('loops and jumps', () => {
  expect(printProgram(collatz())).toMatchInlineSnapshot(`
    "kernel collatz block 64x1x1 index i32
    parameter y: u32[]
    variable n: u32
    variable steps: u32

    if (blockIdx.x * 64 + threadRank >= y.length) {
      return
    }
    n = y[blockIdx.x * 64 + threadRank]
    L1: while (true) {
      if (n <= 1u) {
        break L1
      }
      steps = steps + 1u
      if ((n & 1u) == 1u) {
        n = n * 3u + 1u
        continue L1
      }
      n = n >> 1u
    }
    y[blockIdx.x * 64 + threadRank] = steps
    "
  `);
});

test('every other form, with types and precedence to be read from the text', () => {
  const p = new ProgramBuilder('forms', [8, 4, 1], { indexType: 'i64' });
  const a = p.array('a', 'u8');
  const x = p.scalar('x', 'f64');
  const flag = p.scalar('flag', 'bool');
  const own = p.local('own', 'f32', 4);
  const pipeline = p.pipeline('p', 0);
  const i = p.variable('i', 'i32');
  const again = p.variable('i', 'u64');
  const taken = p.variable('i.2', 'bool');
  const outer = p.label();
  const inner = p.label();
  const u = constant('u32', 3);
  const program = p.build([
    i.set(multiply(binary('subtract', i.value, binary('subtract', i.value, constant('i32', -1))), i.value)),
    again.set(binary('shiftLeft', constant('u64', 1n), again.value)),
    taken.set(
      conditional(flag, unary('not', compare('less', x, constant('f64', 2))), constant('bool', false)),
    ),
    taken.set(conditional(flag, constant('bool', true), taken.value)),
    store(own, p.index(1), convert(math('atan2', x, unary('negate', x)), 'f32')),
    store(
      own,
      p.index(2),
      conditional(flag, constant('f32', 1), binary('max', constant('f32', -0), constant('f32', Number.NaN))),
    ),
    block(outer, [
      loop(inner, flag, [leave('continue', inner), leave('break', outer)], [], false),
      when(flag, [finish()], [sync({ kind: 'tile', size: 4 })]),
    ]),
    atomic('cas', [a, p.index(0)], u, { compare: add(u, u), result: i }),
    quit(pipeline, taken),
    print('a "quoted" line', p.length(a), load(a, p.index(0))),
  ]);
  expect(printProgram(program)).toMatchInlineSnapshot(`
    "kernel forms block 8x4x1 index i64
    parameter a: u8[]
    parameter x: f64
    parameter flag: bool
    local own: f32[4]
    pipeline p: thread scope, group thread
    variable i: i32
    variable i.2: u64
    variable i.2.2: bool

    i = (i - (i - -1)) * i
    i.2 = 1un << i.2
    i.2.2 = flag && !(x < 2.0)
    i.2.2 = flag || i.2.2
    own[1n] = f32(atan2(x, -x))
    own[2n] = flag ? 1f : max(-0f, NaNf)
    L1: {
      L2: do {
        continue L2
        break L1
      } while (flag)
      if (flag) {
        return
      } else {
        sync(tile(4))
      }
    }
    i = atomicCAS(a[0n], 3u + 3u, 3u)
    i.2.2 = p.quit()
    print("a \\"quoted\\" line", a.length, a[0n])
    "
  `);
});
