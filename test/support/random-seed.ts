// Property tests draw the same values in every run: WARPSTAGE_RANDOM_SEED draws others.
//
// A value that nobody has seen yet may show a defect, but not in a run that decides whether a change is good:
// `npm run test:long` has another seed, and `npm run soak` a new one each time.

import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.WARPSTAGE_RANDOM_SEED ?? 20_240_517) });
