// What the cache of the host's processor is taken to hold.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMemory } from '#warpstage/runtime/model/recent-memory.js';

const unit = 256 * 1024;

test('memory is held until as much other memory was touched as the cache holds', () => {
  const cache = new RecentMemory(4 * unit);
  const [a, b] = [{}, {}];
  expect(cache.touch(a, 0, unit)).toBe(1);
  expect(cache.touch(b, 0, 2 * unit)).toBe(1);
  expect(cache.touch(a, 0, unit)).toBe(1);
  expect(cache.touch(b, 8 * unit, 4 * unit)).toBe(0);
  expect(cache.touch(a, 0, unit)).toBe(0);
  // What was touched again is there again, and half of what lies half beyond it.
  expect(cache.touch(a, 0, 2 * unit)).toBe(0.5);
});

test('what is copied again and again is held if it fits, and not if it does not', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 }), (size, parts) => {
      const cache = new RecentMemory(size * unit);
      const host = {};
      const round = () => Array.from({ length: parts }, (_, i) => cache.touch(host, i * unit, unit));
      round();
      round();
      // In turn, what comes next is what was touched the longest ago.
      expect(round()).toEqual(Array.from({ length: parts }, () => (parts <= size ? 1 : 0)));
    }),
  );
});
