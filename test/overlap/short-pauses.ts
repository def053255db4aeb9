// Pauses before another try that take no time, and how long they were to be.

import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach } from 'vitest';

/** Has all pauses of a file's tests take no time. Gives those of the test that runs, in milliseconds. */
export function useShortPauses(): number[] {
  const asked: number[] = [];
  const original = timers.setTimeout;
  beforeAll(() => {
    const short: typeof original = (milliseconds = 0, value, options) => {
      asked.push(milliseconds);
      return original(0, value, options);
    };
    timers.setTimeout = short;
    syncBuiltinESMExports();
  });
  afterAll(() => {
    timers.setTimeout = original;
    syncBuiltinESMExports();
  });
  beforeEach(() => {
    asked.length = 0;
  });
  return asked;
}
