// Values of 64 bits in lanes: two in a vector, so that a value of a vector's four threads is two vectors, a pair.
//
// What is counted in pairs is twice as many as the vectors of a group: pair 2v has the first two threads of vector v,
// pair 2v + 1 the others. A test gives a mask of four lanes, whatever it compares.

import type { ValueType } from '../../../compiler/ir.ts';
import type { Code } from '../encoder/code.ts';

/** How many vectors the values of four threads take. */
export function vectorsOf(type: ValueType): 1 | 2 {
  return type === 'f64' ? 2 : 1;
}

const bytes = (...firsts: readonly number[]) =>
  firsts.flatMap((first) => [first, first + 1, first + 2, first + 3]);

function writeShuffled(code: Code, order: readonly number[]): void {
  code.withTemporary('v128', (value) => void code.tee(value).get(value).shuffle(order));
}

/** Brings the 32-bit values of a pair's threads to the first two lanes. */
export function writePairOf(code: Code, pair: number): void {
  if (pair % 2 === 1) writeShuffled(code, bytes(8, 12, 8, 12));
}

/** Makes a mask of four lanes that of a pair: each of its lanes twice. */
export function writeMaskOfPair(code: Code, pair: number): void {
  writeShuffled(code, pair % 2 === 0 ? bytes(0, 0, 4, 4) : bytes(8, 8, 12, 12));
}

/** Makes the masks of two pairs that of four lanes. */
export function writeJoinedMasks(code: Code): void {
  code.shuffle(bytes(0, 8, 16, 24));
}

/** Makes the first two lanes of two vectors the four of one. */
export function writeJoinedLanes(code: Code): void {
  code.shuffle(bytes(0, 4, 16, 20));
}
