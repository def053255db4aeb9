// The GPU's clock, with a driver whose answers the test gives.

import { expect, test } from 'vitest';
import { GpuClock } from '#warpstage/runtime/cuda/clock.js';
import type { Driver } from '#warpstage/runtime/cuda/driver.js';
import { EventPool } from '#warpstage/runtime/cuda/driver-stream.js';

/** The answer to whatever is recorded or asked from now on. */
function clock() {
  const answers = { record: 0, elapsed: 0 };
  let [events, records] = [0, 0];
  const driver = {
    check: (result: number) => expect(result).toBe(0),
    cuStreamCreateWithPriority: () => 0,
    cuEventCreate: (event: number[]) => {
      event[0] = ++events;
      return 0;
    },
    cuEventRecord: () => {
      records += 1;
      return answers.record;
    },
    cuEventSynchronize: () => 0,
    cuEventElapsedTime: () => answers.elapsed,
  } as unknown as Driver;
  const made = new GpuClock(driver, new EventPool(driver, 'timed'));
  return { made, answers, events: () => events, records: () => records };
}

const aMinute = 60_000;

test('an event that was not reached has no time', () => {
  const { made, answers } = clock();
  expect(made.timeOf(7)).not.toBeNull();
  answers.elapsed = 600;
  expect(made.timeOf(7)).toBeNull();
});

test('its origin is taken anew when it is old, with events that are used again', () => {
  const { made, events, records } = clock();
  const first = records();
  made.renew(performance.now());
  expect(records()).toBe(first);
  for (let i = 0; i < 20; ++i) made.renew(performance.now() + aMinute);
  expect(records()).toBeGreaterThanOrEqual(first + 20);
  expect(events()).toBeLessThanOrEqual(3);
});

test('on a GPU that has stopped the origin stays, and nothing is thrown where times are read', () => {
  const { made, answers, events } = clock();
  answers.record = 719;
  for (let i = 0; i < 20; ++i) made.renew(performance.now() + aMinute);
  expect(events()).toBeLessThanOrEqual(3);
  expect(made.timeOf(7)).not.toBeNull();
});
