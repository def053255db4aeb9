// The verbs of a host pipeline, in one thread.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePipeline, pipelineSharedState } from '#warpstage/host/index.js';

describe('verbs', () => {
  test('the stages of a unified pipeline of one thread go round, and waiting again gives the same stage', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 255 }), fc.integer({ min: 0, max: 600 }), (stages, batches) => {
        const pipeline = makePipeline(pipelineSharedState(stages, 1));
        for (let batch = 0; batch < batches; ++batch) {
          expect([pipeline.producerAcquire(), pipeline.producerAcquire()]).toEqual([
            batch % stages,
            batch % stages,
          ]);
          pipeline.producerCommit();
          expect([pipeline.consumerWait(), pipeline.consumerWait()]).toEqual([
            batch % stages,
            batch % stages,
          ]);
          pipeline.consumerRelease();
        }
        expect(pipeline.quit()).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('a wait with a time-out gives up, changes nothing, and succeeds later', () => {
    const pipeline = makePipeline(pipelineSharedState(2, 1));
    for (const nanoseconds of [0, -1, 2e6]) expect(pipeline.consumerWaitFor(nanoseconds)).toBe(false);
    expect(pipeline.consumerWaitUntil(Date.now() * 1e6)).toBe(false);
    pipeline.producerAcquire();
    pipeline.producerCommit();
    for (const nanoseconds of [0, -1, 2e6]) expect(pipeline.consumerWaitFor(nanoseconds)).toBe(true);
    expect(pipeline.consumerWait()).toBe(0);
  });

  test.each([
    [
      'a consumer that commits',
      () => makePipeline(pipelineSharedState(1, { producers: 1, consumers: 1 }), 'consumer').producerCommit(),
      'producerCommit belongs to a producer, and this thread is a consumer',
    ],
    [
      'a verb after quit',
      () => {
        const pipeline = makePipeline(pipelineSharedState(1, 1));
        pipeline.quit();
        pipeline.producerAcquire();
      },
      'producerAcquire was called after quit',
    ],
    [
      'no role',
      () => makePipeline(pipelineSharedState(1, { producers: 1, consumers: 1 })),
      'a partitioned pipeline was made without a role',
    ],
    [
      'a role too many',
      () => makePipeline(pipelineSharedState(1, 1), 'producer'),
      "a unified pipeline was made with the role 'producer'",
    ],
    [
      'a thread too many',
      () => {
        const state = pipelineSharedState(1, 1);
        makePipeline(state);
        makePipeline(state);
      },
      'all 1 participant places of the pipeline are taken',
    ],
    ['no stage', () => pipelineSharedState(0, 1), 'stages must be an integer from 1 to 255, and 0 was given'],
    [
      '256 stages',
      () => pipelineSharedState(256, 1),
      'stages must be an integer from 1 to 255, and 256 was given',
    ],
    [
      'no consumer',
      () => pipelineSharedState(1, { producers: 1, consumers: 0 }),
      'consumers must be an integer from 1 to 65535, and 0 was given',
    ],
    [
      'a duration that is no number',
      () => makePipeline(pipelineSharedState(1, 1)).consumerWaitFor(Number.NaN),
      'a duration must be a number of nanoseconds',
    ],
  ])('%s is an error', (_, act, message) => {
    expect(act).toThrow(message);
  });
});
