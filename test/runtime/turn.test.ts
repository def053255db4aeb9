// That who never leaves still lets the event loop turn, now and then.

import { expect, test } from 'vitest';
import { Turns } from '#warpstage/runtime/turn.js';

/** Keeps the event loop from turning for so many milliseconds. */
function busyFor(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

test('a turn is due when there was none for a millisecond, and others have it then', async () => {
  const turns = new Turns();
  expect(turns.due()).toBeNull();
  busyFor(2);
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  await turns.due();
  expect(hadTurn).toBe(true);
  // It counts anew.
  expect(turns.due()).toBeNull();
});

test('none is due where the event loop turns by itself', async () => {
  const turns = new Turns();
  for (let wait = 0; wait < 5; ++wait) {
    expect(turns.due()).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
});
