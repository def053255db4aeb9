import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Allocator, alignment } from '#warpstage/runtime/allocator.js';

describe('the allocator', () => {
  test('hands out aligned stretches of its range', () => {
    const allocator = new Allocator(1, 16 * alignment);
    const a = allocator.allocate(alignment + 36)!;
    const b = allocator.allocate(1)!;
    expect(a % alignment).toBe(0);
    expect(a).toBeGreaterThan(0);
    expect(b).toBe(a + 2 * alignment);
    expect(allocator.allocated).toBe(3 * alignment);
    expect(allocator.count).toBe(2);
  });

  test('takes the smallest stretch that fits', () => {
    const allocator = new Allocator(0, 100 * alignment);
    const [large, , small] = [10, 1, 2, 1].map((times) => allocator.allocate(times * alignment)!);
    allocator.free(large!);
    allocator.free(small!);
    expect(allocator.allocate(2 * alignment)).toBe(small);
    expect(allocator.allocate(2 * alignment)).toBe(large);
  });

  test('says null when nothing fits, and is as before', () => {
    const allocator = new Allocator(0, 1024);
    expect(allocator.allocate(1025)).toBeNull();
    expect(allocator.allocate(1024)).toBe(0);
    expect(allocator.allocate(1)).toBeNull();
    expect(allocator.largestFree).toBe(0);
  });

  test('refuses what it did not hand out', () => {
    const allocator = new Allocator(0, 1024);
    const address = allocator.allocate(64)!;
    allocator.free(address);
    expect(() => allocator.free(address)).toThrow('no allocation begins at 0');
  });

  test('never overlaps, accounts for every byte, and joins what comes back', () => {
    const end = 64 * alignment;
    const operation = fc.oneof(
      fc.record({
        kind: fc.constant('allocate' as const),
        bytes: fc.integer({ min: 0, max: 11 * alignment }),
      }),
      fc.record({ kind: fc.constant('free' as const), pick: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const allocator = new Allocator(0, end);
        const owner = new Int32Array(end / alignment);
        const live = new Map<number, number>();
        for (const step of operations) {
          if (step.kind === 'allocate') {
            const units = Math.max(1, Math.ceil(step.bytes / alignment));
            const largest = longestRun(owner);
            const address = allocator.allocate(step.bytes);
            expect(address !== null).toBe(units <= largest);
            if (address === null) continue;
            const first = address / alignment;
            expect(owner.subarray(first, first + units).every((id) => id === 0)).toBe(true);
            owner.fill(1, first, first + units);
            live.set(address, units);
          } else if (live.size > 0) {
            const [address, units] = [...live][step.pick % live.size]!;
            allocator.free(address);
            live.delete(address);
            owner.fill(0, address / alignment, address / alignment + units);
          }
          expect(allocator.allocated).toBe(alignment * owner.reduce((sum, id) => sum + id, 0));
          expect(allocator.largestFree).toBe(alignment * longestRun(owner));
          expect(allocator.count).toBe(live.size);
        }
        for (const address of live.keys()) allocator.free(address);
        expect(allocator.allocate(end)).toBe(0);
      }),
    );
  });
});

function longestRun(owner: Int32Array): number {
  let longest = 0;
  let run = 0;
  for (const id of owner) {
    run = id === 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
