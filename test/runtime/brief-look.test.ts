// How long the main thread looks for what is over soon, and when it does not.

import { expect, test } from 'vitest';
import { BriefLook } from '#warpstage/runtime/cpu/brief-look.js';

/** A look in a time of its own, in which each question takes a microsecond. */
function looker() {
  let now = 0;
  let asked = 0;
  const brief = new BriefLook(() => now);
  /** Looks for what is done after so many microseconds: whether it was found, and how many questions that took. */
  const look = (after: number) => {
    const end = now + after / 1000;
    asked = 0;
    const found = brief.look(() => {
      asked += 1;
      now += 0.001;
      return now >= end;
    });
    return { found, asked };
  };
  return look;
}

test('what is done within a moment is found', () => {
  const look = looker();
  expect(look(1)).toEqual({ found: true, asked: 1 });
  expect(look(40)).toEqual({ found: true, asked: 40 });
});

test('what takes longer is left, and then looked for ever less often', () => {
  const look = looker();
  const looks: number[] = [];
  for (let wait = 0; wait < 100; ++wait) {
    const { found, asked } = look(1e6);
    expect(found).toBe(false);
    expect(asked === 0 || (asked >= 50 && asked <= 114)).toBe(true);
    if (asked > 0) looks.push(wait);
  }
  expect(looks).toEqual([0, 2, 6, 14, 30, 46, 62, 78, 94]);
});

test('what was found once is looked for again each time', () => {
  const look = looker();
  for (let wait = 0; wait < 7; ++wait) look(1e6); // looked for at 0, 2 and 6
  const found = Array.from({ length: 10 }, () => look(1).found);
  expect(found).toEqual([false, false, false, false, false, false, false, true, true, true]);
  look(1e6);
  expect([look(1).found, look(1).found]).toEqual([false, true]);
});
