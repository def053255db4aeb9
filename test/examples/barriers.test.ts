// The kernels with barriers: right on every target and under every delivery, whatever the sizes.

import { describe, expect, test } from 'vitest';
import { deviceFunction } from 'warpstage';
import { producerConsumer } from '../../examples/guide/barrier-producer-consumer.ts';
import { splitArrive } from '../../examples/guide/barrier-split-arrive.ts';
import { runEverywhere } from '../support/everywhere.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

const grid = 2;
const counting = (length: number) => Int32Array.from({ length }, (_, i) => (i * 7 + 3) % 50);

describe('an arrival apart from its wait', () => {
  /** Reads the element of the thread on the other end of the block, so that a missing wait shows. */
  const compute = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
    const block = cuda.thisThreadBlock();
    out[block.threadRank()] = staged[block.size() - 1 - block.threadRank()]! * 3 + 1;
  });

  test.each([
    [32, 5],
    [96, 1],
    [7, 4],
    [64, 0],
  ])('blocks of %i threads, %i batches', (block, batchCount) => {
    const globalIn = counting(grid * block * batchCount);
    const globalOut = new Int32Array(globalIn.length);
    const data = { globalOut, globalIn, batchCount, compute };
    const run = runEverywhere(splitArrive, { grid, block, arguments: data });
    expect(run.fault).toBeNull();
    expect(run.mode).toBe('regions');
    const partner = (i: number) => i - (i % block) + block - 1 - (i % block);
    expect(run.arguments.globalOut).toEqual(globalIn.map((_, i) => globalIn[partner(i)]! * 3 + 1));
  });
});

describe('a producer warp and its consumers', () => {
  test.each([
    [64, 6, 2],
    [96, 5, 3],
    [64, 3, 1],
    [64, 1, 4],
    [128, 0, 2],
  ])('blocks of %i threads, %i batches, %i stages', (block, batchCount, stagesCount) => {
    const globalIn = counting(grid * (block - 32) * batchCount);
    const globalOut = new Int32Array(globalIn.length);
    const data = { globalOut, globalIn, batchCount, stagesCount };
    const run = runEverywhere(producerConsumer, { grid, block, arguments: data });
    expect(run.fault).toBeNull();
    expect(run.mode).toBe('states');
    expect(run.arguments.globalOut).toEqual(globalIn.map((x) => x * 3 + 1));
  });
});
