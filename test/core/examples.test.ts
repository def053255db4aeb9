// The examples under the rule for a CPU: what they become as regions, and as cohorts, is clean in any order, and
// gives what they give as they were written.

import { expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { affine } from '../../examples/affine.ts';
import { fir } from '../../examples/fir.ts';
import { flights } from '../../examples/flights.ts';
import { producerConsumer } from '../../examples/guide/barrier-producer-consumer.ts';
import { splitArrive } from '../../examples/guide/barrier-split-arrive.ts';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { twoArrays } from '../../examples/guide/two-arrays.ts';
import { vectorSearch } from '../../examples/vector-search.ts';
import { blockReduction } from '../../examples/warps/block-reduction.ts';
import { gridReduction } from '../../examples/warps/grid-reduction.ts';
import { warpReduction } from '../../examples/warps/warp-reduction.ts';
import { moments } from '../../examples/zscore.ts';
import { interpreter } from '../support/interpreter.ts';
import { interpreted, regionsOf, threadsOf } from '../support/lowered.ts';
import { type KernelLaunch, runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';

const block = 64;
const batchCount = 4;
const integers = (length: number) => Int32Array.from({ length }, (_, i) => (i * 7 + 3) % 50);
// Small integers, so that their sums are exact in any order.
const floats = (length: number) => Float32Array.from({ length }, (_, i) => ((i * 37) % 101) - 40);
const staged = (length: number) => ({
  globalIn: integers(length),
  globalOut: new Int32Array(length),
  batchCount,
});

interface Example {
  readonly kernel: unknown;
  readonly launch: KernelLaunch;
  /** Whether all threads of a block meet wherever threads meet. */
  readonly regions: boolean;
}

const one = (kernel: unknown, data: KernelLaunch['arguments'], regions = true, rest = {}): Example => ({
  kernel,
  launch: { grid: 2, block, arguments: data, ...rest },
  regions,
});

const examples: Readonly<Record<string, Example>> = {
  'single stage': one(withSingleStage, staged(2 * block * batchCount)),
  staging: one(withStaging, staged(2 * block * batchCount)),
  'staging, unified': one(withStagingUnified, { ...staged(2 * block * batchCount), stagesCount: 3 }),
  'staging, scope thread': one(withStagingScopeThread, { ...staged(2 * block * batchCount), stagesCount: 3 }),
  'specialised staging': one(withSpecializedStaging, { ...staged(block * batchCount), stagesCount: 2 }, true),
  'two arrays': one(
    twoArrays,
    {
      global0: integers(block * 3),
      global1: integers(block * 3),
      globalOut: new Int32Array(block * 3),
      subsetCount: 3,
    },
    true,
    { grid: 1 },
  ),
  'producer and consumers': one(
    producerConsumer,
    { ...staged(2 * (block - 32) * batchCount), stagesCount: 2 },
    false,
  ),
  'split arrival': one(splitArrive, staged(2 * block * batchCount)),
  'reduction in warps': one(warpReduction, { x: floats(100), sums: new Float32Array(4) }),
  'reduction in blocks': one(blockReduction, { x: floats(120), sums: new Float32Array(2) }, false),
  'reduction in a grid': one(
    gridReduction,
    { x: floats(1000), total: new Float32Array(1), partial: new Float32Array(2) },
    false,
    { cooperative: true },
  ),
  affine: one(affine.definition.kernel, { x: floats(100), y: new Float32Array(100), a: 2, b: 1 }),
  fir: one(fir.definition.kernel, { x: floats(108), y: new Float32Array(100), weights: floats(9) }),
  flights: one(flights.definition.kernel, {
    delay: integers(300),
    distance: integers(300),
    counts: new Int32Array(100),
    totals: new Int32Array(10),
    bands: 10,
    bins: 10,
    bandMiles: 5,
    binMinutes: 5,
    earliest: 0,
  }),
  'vector search': one(vectorSearch.definition.kernel, {
    embeddings: floats(4 * 50),
    queries: floats(8),
    scores: new Float32Array(2 * block * 6),
    rows: new Int32Array(2 * block * 6),
    width: 4,
    k: 3,
    firstRow: 0,
  }),
  moments: one(moments.definition.kernel, {
    x: floats(300),
    sums: new Float64Array(2),
    squares: new Float64Array(2),
  }),
};

function outcome(target: Target, { kernel, launch }: Example): unknown {
  const given = Object.fromEntries(
    Object.entries(launch.arguments).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? (value as Int32Array).slice() : value,
    ]),
  );
  const { fault } = runKernel(target, kernel as Kernel, { ...launch, arguments: given });
  return { fault, arrays: Object.values(given).filter((value) => ArrayBuffer.isView(value)) };
}

test.each(Object.entries(examples))('%s', (_, example) => {
  const right = outcome(interpreter('late'), example);
  expect(right).toMatchObject({ fault: null });
  let regions = false;
  const asRegions = (program: Program) => {
    const lowered = regionsOf(program);
    regions = lowered !== null;
    return lowered ?? program;
  };
  for (const lower of [asRegions, threadsOf]) {
    for (const delivery of ['eager', 'late', 1] as const) {
      const found: string[] = [];
      const target = interpreted(lower.name, delivery, ({ message }) => void found.push(message), lower);
      expect(outcome(target, example), target.name).toEqual(right);
      expect(found, target.name).toEqual([]);
    }
  }
  expect(regions).toBe(example.regions);
});
