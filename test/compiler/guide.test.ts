// What the compiler makes of the guide's kernels, as text; and that it makes the same of them
// whatever a build tool has done to their source.

import { readFileSync } from 'node:fs';
import { type TransformOptions, transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import * as warpstage from 'warpstage';
import { printProgram } from '#warpstage/compiler/print.js';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import { compile } from './support.ts';

const text = (kernel: unknown) => printProgram(compile(kernel as Kernel).program);

test('single stage', () => {
  expect(text(withSingleStage)).toMatchInlineSnapshot(`
    "kernel kernel block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[64]
    pipeline pipeline: block scope, 1 stages, unified, group block
    variable batch: i32
    variable batch.2: i32
    variable begin: i32

    pipeline.makePipeline()
    batch = 0
    L0: while (batch < batchCount) {
      batch.2 = batch
      begin = blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.2
      pipeline.producerAcquire()
      memcpyAsync(block, shared.subarray(0), globalIn.subarray(begin), 64, align 4, pipeline)
      pipeline.producerCommit()
      pipeline.consumerWait()
      globalOut[begin + threadRank] = shared[threadRank] * 3 + 1
      pipeline.consumerRelease()
    } update {
      batch = batch + 1
    }
    "
  `);
});

test('two stages', () => {
  expect(text(withStaging)).toMatchInlineSnapshot(`
    "kernel kernel block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[128]
    pipeline pipeline: block scope, 2 stages, unified, group block
    variable batch: i32
    variable batch.2: i32
    variable batch.3: i32
    variable batch.4: i32
    variable batch.5: i32
    variable out: i32
    variable staged: i32
    variable batch.6: i32
    variable batch.7: i32
    variable out.2: i32
    variable staged.2: i32

    pipeline.makePipeline()
    if (batchCount == 0) {
      return
    }
    pipeline.producerAcquire()
    memcpyAsync(block, shared.subarray(0), globalIn.subarray(blockIdx.x * 64), 64, align 4, pipeline)
    pipeline.producerCommit()
    batch = 1
    L2: while (batch < batchCount) {
      pipeline.producerAcquire()
      batch.2 = batch
      batch.3 = batch
      memcpyAsync(block, shared.subarray(batch.2 % 2 * 64), globalIn.subarray(blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.3), 64, align 4, pipeline)
      pipeline.producerCommit()
      pipeline.consumerWait()
      batch.4 = batch - 1
      batch.5 = batch - 1
      out = blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.4
      staged = batch.5 % 2 * 64
      globalOut[out + threadRank] = shared[staged + threadRank] * 3 + 1
      pipeline.consumerRelease()
    } update {
      batch = batch + 1
    }
    pipeline.consumerWait()
    batch.6 = batchCount - 1
    batch.7 = batchCount - 1
    out.2 = blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.6
    staged.2 = batch.7 % 2 * 64
    globalOut[out.2 + threadRank] = shared[staged.2 + threadRank] * 3 + 1
    pipeline.consumerRelease()
    "
  `);
});

test('unified', () => {
  expect(text(withStagingUnified)).toMatchInlineSnapshot(`
    "kernel kernel block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[128]
    pipeline pipeline: block scope, 2 stages, unified, group block
    variable computeBatch: i32
    variable fetchBatch: i32
    variable batch: i32
    variable batch.2: i32
    variable out: i32
    variable staged: i32

    pipeline.makePipeline()
    computeBatch = 0
    fetchBatch = 0
    L0: while (computeBatch < batchCount) {
      L1: while (fetchBatch < batchCount && fetchBatch < computeBatch + 2) {
        pipeline.producerAcquire()
        batch = fetchBatch
        memcpyAsync(block, shared.subarray(fetchBatch % 2 * 64), globalIn.subarray(blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch), 64, align 4, pipeline)
        pipeline.producerCommit()
      } update {
        fetchBatch = fetchBatch + 1
      }
      pipeline.consumerWait()
      batch.2 = computeBatch
      out = blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.2
      staged = computeBatch % 2 * 64
      globalOut[out + threadRank] = shared[staged + threadRank] * 3 + 1
      pipeline.consumerRelease()
    } update {
      computeBatch = computeBatch + 1
    }
    "
  `);
});

test('specialised roles', () => {
  expect(text(withSpecializedStaging)).toMatchInlineSnapshot(`
    "kernel kernel block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[64]
    pipeline pipeline: block scope, 2 stages, role, group block
    variable role: i32
    variable elementsPerBatch: i32
    variable threadIdx: i32
    variable computeBatch: i32
    variable fetchBatch: i32
    variable batch: i32
    variable batch.2: i32
    variable batch.3: i32
    variable batch.4: i32
    variable out: i32
    variable staged: i32

    role = threadRank % 2 == 0 ? 0 : 1
    elementsPerBatch = 32 * gridDim.x
    threadIdx = threadRank / 2
    pipeline.makePipeline(producers: role == 0)
    computeBatch = 0
    fetchBatch = 0
    L0: while (computeBatch < batchCount) {
      L1: while (fetchBatch < batchCount && fetchBatch < computeBatch + 2) {
        if (role == 0) {
          pipeline.producerAcquire()
          batch = fetchBatch
          batch.2 = fetchBatch
          memcpyAsync(thread, shared.subarray(batch % 2 * 32 + threadIdx), globalIn.subarray(elementsPerBatch * batch.2 + 32 * blockIdx.x + threadIdx), 1, align 4, pipeline)
          pipeline.producerCommit()
        }
      } update {
        fetchBatch = fetchBatch + 1
      }
      if (role == 1) {
        pipeline.consumerWait()
        batch.3 = computeBatch
        batch.4 = computeBatch
        out = elementsPerBatch * batch.3 + 32 * blockIdx.x + threadIdx
        staged = shared[batch.4 % 2 * 32 + threadIdx]
        globalOut[out] = staged * 3 + 1
        pipeline.consumerRelease()
      }
    } update {
      computeBatch = computeBatch + 1
    }
    "
  `);
});

test('thread scope', () => {
  expect(text(withStagingScopeThread)).toMatchInlineSnapshot(`
    "kernel kernel block 64x1x1 index i32
    parameter globalOut: i32[]
    parameter globalIn: readonly i32[]
    parameter batchCount: i32
    shared shared: i32[128]
    pipeline pipeline: thread scope, group thread
    variable computeBatch: i32
    variable fetchBatch: i32
    variable batch: i32
    variable batch.2: i32
    variable out: i32
    variable staged: i32

    pipeline.makePipeline()
    computeBatch = 0
    fetchBatch = 0
    L0: while (computeBatch < batchCount) {
      L1: while (fetchBatch < batchCount && fetchBatch < computeBatch + 2) {
        pipeline.producerAcquire()
        batch = fetchBatch
        memcpyAsync(thread, shared.subarray(fetchBatch % 2 * 64 + threadRank), globalIn.subarray(blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch + threadRank), 1, align 4, pipeline)
        pipeline.producerCommit()
      } update {
        fetchBatch = fetchBatch + 1
      }
      pipeline.consumerWait()
      sync(block)
      batch.2 = computeBatch
      out = blockIdx.x * 64 + gridDim.z * gridDim.y * gridDim.x * 64 * batch.2
      staged = computeBatch % 2 * 64
      globalOut[out + threadRank] = shared[staged + threadRank] * 3 + 1
      pipeline.consumerRelease()
      sync(block)
    } update {
      computeBatch = computeBatch + 1
    }
    "
  `);
});

const modules = [
  ['single-stage', 'withSingleStage'],
  ['staging', 'withStaging'],
  ['staging-unified', 'withStagingUnified'],
  ['specialized-staging', 'withSpecializedStaging'],
  ['staging-scope-thread', 'withStagingScopeThread'],
  ['two-arrays', 'twoArrays'],
] as const;

const tools: Readonly<Record<string, TransformOptions>> = {
  'types stripped': {},
  minified: { minify: true },
  'syntax minified': { minifySyntax: true },
  'for an old target': { target: 'es2015' },
  'minified for an old target': { target: 'es2015', minify: true },
  'names kept': { keepNames: true, minify: true },
};

/** A module of the examples, as a tool transforms it. */
function load(name: string, options: TransformOptions): Record<string, Kernel> {
  const source = readFileSync(new URL(`../../examples/guide/${name}.ts`, import.meta.url), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs', ...options });
  const require = (wanted: string) => (wanted === 'warpstage' ? warpstage : load('compute', options));
  const module = { exports: {} as Record<string, Kernel> };
  new Function('module', 'exports', 'require', code)(module, module.exports, require);
  return module.exports;
}

/** What a kernel makes of 3 batches for 2 blocks of 8 threads. */
function outcome(kernel: Kernel): Int32Array {
  const numbers = (scale: number) => Int32Array.from({ length: 96 }, (_, i) => (i * scale) % 101);
  const out = new Int32Array(96);
  const inputs = { globalIn: numbers(7), global0: numbers(5), global1: numbers(3) };
  const { fault } = runKernel(interpreter(), kernel, {
    grid: 2,
    block: 8,
    arguments: { globalOut: out, ...inputs, batchCount: 3, subsetCount: 3 },
  });
  expect(fault).toBeNull();
  return out;
}

describe.each(Object.entries(tools))('%s', (_name, options) => {
  test.each(modules)('%s', (file, name) => {
    const [plain, changed] = [load(file, {})[name]!, load(file, options)[name]!];
    if (options.minify) expect(changed.body.toString()).not.toBe(plain.body.toString());
    expect(outcome(changed)).toEqual(outcome(plain));
    expect(outcome(changed)).not.toEqual(new Int32Array(96));
  });
});
