// Checksums: the same for the same bytes, however they come, and another for others.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Checksum } from '#warpstage/files/checksum.js';

function sumOf(...pieces: readonly Uint8Array[]): string {
  const checksum = new Checksum();
  for (const piece of pieces) checksum.update(piece);
  return checksum.value;
}

/** Bytes that begin anywhere in their memory. */
const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(7))
  .map(([content, before]) => new Uint8Array([...new Uint8Array(before), ...content]).subarray(before));

test('does not depend on the pieces, nor on where they lie, nor on being asked for', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(300), { maxLength: 6 }), (content, cuts) => {
      const places = [
        0,
        ...cuts.filter((cut) => cut <= content.length).sort((a, b) => a - b),
        content.length,
      ];
      const checksum = new Checksum();
      for (const [i, begin] of places.slice(0, -1).entries()) {
        checksum.update(content.slice(begin, places[i + 1]));
        expect(checksum.value).toBe(checksum.copy().value);
      }
      expect(checksum.value).toBe(sumOf(content));
      expect(checksum.value).toBe(sumOf(Uint8Array.from(content)));
    }),
  );
});

test('is another when a bit changes, bytes move, or zeros are added', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 40 }), (content, place, more) => {
      const sum = sumOf(content);
      expect(sumOf(content, new Uint8Array(more))).not.toBe(sum);
      if (content.length === 0) return;
      const flipped = Uint8Array.from(content);
      flipped[place % content.length]! ^= 1 << (place & 7);
      expect(sumOf(flipped)).not.toBe(sum);
      const turned = Uint8Array.from([...content.subarray(1), content[0]!]);
      if (turned.some((byte, i) => byte !== content[i])) expect(sumOf(turned)).not.toBe(sum);
    }),
  );
});

test('of large pieces out of place is that of the same in place', () => {
  const large = Uint8Array.from({ length: 200_003 }, (_, i) => (i * i) >> 3);
  expect(sumOf(large.subarray(0, 1), large.subarray(1))).toBe(sumOf(large));
});
