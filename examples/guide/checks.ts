// Small launches of the guide's kernels, for the checker: `npx warpstage check examples/guide/checks.ts`.

import { checkCase } from 'warpstage/check';
import { producerConsumer } from './barrier-producer-consumer.ts';
import { splitArrive } from './barrier-split-arrive.ts';
import { pipelinedPair, pipelinedRoles, pipelinedStaging, pipelinedThreads } from './pipelined.ts';
import { withSingleStage } from './single-stage.ts';
import { withSpecializedStaging } from './specialized-staging.ts';
import { withStaging } from './staging.ts';
import { withStagingScopeThread } from './staging-scope-thread.ts';
import { withStagingUnified } from './staging-unified.ts';
import { twoArrays } from './two-arrays.ts';

// More batches than stages, so that every stage is used again.
const shape = { grid: 2, block: 64 };
const batchCount = 5;
const [whole, half] = [{ length: 2 * 64 * batchCount }, { length: 2 * 32 * batchCount }];
const staged = { globalOut: whole, globalIn: whole, batchCount };
/** Of kernels in which half of the threads copy. */
const parted = { globalOut: half, globalIn: half, batchCount };

export const singleStage = checkCase(withSingleStage, { ...shape, arguments: staged });
export const staging = checkCase(withStaging, { ...shape, arguments: staged });
export const unified = checkCase(withStagingUnified, {
  ...shape,
  arguments: { ...staged, stagesCount: 3 },
});
export const scopeThread = checkCase(withStagingScopeThread, {
  ...shape,
  arguments: { ...staged, stagesCount: 3 },
});
export const specialized = checkCase(withSpecializedStaging, {
  ...shape,
  arguments: { ...parted, stagesCount: 3 },
});
export const split = checkCase(splitArrive, { ...shape, arguments: staged });
export const queue = checkCase(producerConsumer, {
  ...shape,
  arguments: { ...parted, stagesCount: 3 },
});
export const pair = checkCase(twoArrays, {
  grid: 1,
  block: 64,
  arguments: { globalOut: whole, global0: whole, global1: whole, subsetCount: 10 },
});
export const shortStaging = checkCase(pipelinedStaging, {
  ...shape,
  arguments: { ...staged, stagesCount: 3 },
});
export const shortThreads = checkCase(pipelinedThreads, {
  ...shape,
  arguments: { ...staged, stagesCount: 3 },
});
export const shortRoles = checkCase(pipelinedRoles, {
  ...shape,
  arguments: { ...parted, stagesCount: 3 },
});
export const shortPair = checkCase(pipelinedPair, {
  grid: 1,
  block: 64,
  arguments: { globalOut: whole, global0: whole, global1: whole, subsetCount: 10 },
});
