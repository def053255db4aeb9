// The programs of the examples: the guide's kernels and those of the jobs, as a launch with blocks of 256
// threads would specialise them.

import type { Kernel } from 'warpstage';
import { type Specialised, specialise } from '#warpstage/compiler/specialise.js';
import { affine } from '../../examples/affine.ts';
import { fir } from '../../examples/fir.ts';
import { flights } from '../../examples/flights.ts';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { twoArrays } from '../../examples/guide/two-arrays.ts';
import { vectorSearch } from '../../examples/vector-search.ts';
import { moments } from '../../examples/zscore.ts';

function made(kernel: unknown, constants: Readonly<Record<string, number>> = {}): Specialised {
  return specialise(kernel as Kernel, { block: [256, 1, 1], indexType: 'i32', constants, functions: {} });
}

export const guidePrograms: Readonly<Record<string, Specialised>> = {
  'single-stage': made(withSingleStage),
  staging: made(withStaging),
  'staging-unified': made(withStagingUnified, { stagesCount: 4 }),
  'specialized-staging': made(withSpecializedStaging),
  'staging-scope-thread': made(withStagingScopeThread),
  'two-arrays': made(twoArrays),
};

export const jobPrograms: Readonly<Record<string, Specialised>> = {
  affine: made(affine.definition.kernel),
  fir: made(fir.definition.kernel),
  flights: made(flights.definition.kernel, { bandMiles: 100, binMinutes: 5, earliest: 0 }),
  'vector-search': made(vectorSearch.definition.kernel),
  moments: made(moments.definition.kernel),
};
