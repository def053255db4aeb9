// How elements that lie side by side come into the lanes of a vector and out of them.
//
// A lane has 32 bits, but for f64, of which two make a vector. Elements of 8 and 16 bits are widened as they are loaded, with their sign if they have one, and
// of what is stored the low bits are kept, as for a single thread.

import { bytesOf, isNumberElement } from '../../../kernel/layout.ts';
import { type Element, numberBytes } from '../../../kernel/types.ts';
import type { Code } from '../encoder/code.ts';
import type { Unit } from '../unit.ts';

/** The widths of elements that one instruction, or a few, bring into lanes. */
export function fitsLanes(unit: Unit, element: Element): boolean {
  if (!isNumberElement(element)) return false;
  const bytes = numberBytes[element];
  if (bytes < 4) return unit.does('narrow');
  return bytes === 4 || (element === 'f64' && unit.does('pairs'));
}

/** Whether an element is one number of 32 bits, which fills a lane. */
export function fillsLane(element: Element): boolean {
  return isNumberElement(element) && numberBytes[element] === 4;
}

/** Bytes of the elements of one vector, four of them or two f64. */
export function vectorBytes(element: Element): number {
  return Math.min(4 * bytesOf(element), 16);
}

/** Pops an address and pushes the elements that lie so many bytes from it. */
export function writeLaneLoad(code: Code, element: Element, offset: number): void {
  const bytes = bytesOf(element);
  const sign = element === 'i8' || element === 'i16' ? 's' : 'u';
  if (bytes >= 4) {
    code.memory('v128.load', offset, bytes);
  } else if (bytes === 2) {
    code.memory(`v128.load16x4_${sign}`, offset, 2);
  } else {
    code.memory('v128.load32_zero', offset, 1);
    code.op(`i16x8.extend_low_i8x16_${sign}`, `i32x4.extend_low_i16x8_${sign}`);
  }
}

/** Pops an address and a vector, and stores the elements so many bytes from it. */
export function writeLaneStore(code: Code, element: Element, offset: number): void {
  const bytes = bytesOf(element);
  if (bytes >= 4) {
    code.memory('v128.store', offset, bytes);
    return;
  }
  // The low bytes of all lanes to the front.
  const kept = [0, 1, 2, 3].flatMap((lane) => (bytes === 2 ? [4 * lane, 4 * lane + 1] : [4 * lane]));
  const order = Array.from({ length: 16 }, (_, at) => kept[at % kept.length]!);
  code.withTemporary('v128', (value) => {
    code.tee(value).get(value).shuffle(order);
  });
  if (bytes === 2) code.memoryLane('v128.store64_lane', 0, offset, 2);
  else code.memoryLane('v128.store32_lane', 0, offset, 1);
}
