// Launches of one abort signal, in the order in which they are cancelled.

import { expect, test } from 'vitest';
import { Cancellations } from '#warpstage/runtime/cancellations.js';
import type { LaunchWork } from '#warpstage/runtime/launch.js';

test('what was launched last is cancelled first, so that nothing begins where another is stopped', () => {
  const controller = new AbortController();
  const cancellations = new Cancellations();
  const cancelled: number[] = [];
  const work = { kind: 'launch', name: 'step' } as LaunchWork;
  const callOff = [0, 1, 2, 3].map((n) =>
    cancellations.add(work, controller.signal, () => {
      cancelled.push(n);
    }),
  );
  callOff[2]!();
  controller.abort();
  expect(cancelled).toEqual([3, 1, 0]);
});
