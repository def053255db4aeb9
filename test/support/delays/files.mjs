// What threads do together: these test files run once more with delays at every step of Atomics.

/** By `npm test` already. */
export const delayed = [
  'test/host/pipeline.test.ts',
  'test/runtime/failures.test.ts',
  'test/runtime/streams.test.ts',
];

/** By `npm run test:long` and `npm run soak` besides: the delays make them take three times as long. */
export const delayedAtLength = ['test/runtime/any-failures.test.ts', 'test/runtime/lifetime.test.ts'];
