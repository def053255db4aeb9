// Typed arrays as sinks: one that the caller gave, or one that is made.

import { count } from '../../diagnostics/count.ts';
import { problem } from '../../diagnostics/problem.ts';
import { newArray, setElements } from '../../formats/typed-arrays.ts';
import { type ElementType, hostArrays } from '../../kernel/types.ts';
import { type CopyBytes, copyHere } from '../copy-here.ts';
import type { TypedArray } from '../job.ts';
import { bytesOf, type Sink } from './sink.ts';

/** Collects an output in memory. */
export interface MemorySink extends Sink {
  /** All elements, after `finish()`. */
  result(): TypedArray;
}

/** Fills an array of the caller's. */
export function arraySink(
  parameter: string,
  element: ElementType,
  array: TypedArray,
  copy: CopyBytes = copyHere,
): MemorySink {
  const name = `the array given for '${parameter}'`;
  if (!(array instanceof hostArrays[element])) {
    throw problem('WS5006', `${name} is a ${array.constructor.name}, and the kernel writes ${element}`);
  }
  let position = 0;
  return {
    name,
    async write(data) {
      if (position + data.length > array.length) {
        const hint = 'leave the output away to have an array made';
        throw problem('WS5006', `${name} has ${count(array.length)} elements, and the output has more`, hint);
      }
      const part = array.subarray(position, position + data.length);
      position += data.length;
      await copy(bytesOf(part), bytesOf(data));
    },
    result: () => array.subarray(0, position),
    ...immediate,
  };
}

/** Makes an array; of `length` elements at once where that is known. */
export function collectingSink(
  parameter: string,
  element: ElementType,
  length: number | undefined,
  copy: CopyBytes = copyHere,
): MemorySink {
  const name = `output '${parameter}'`;
  let array = allocate(name, element, length ?? 0);
  let position = 0;
  return {
    name,
    async write(data) {
      const needed = position + data.length;
      if (needed > array.length) {
        const larger = allocate(name, element, Math.max(needed, 2 * array.length));
        setElements(larger, array);
        array = larger;
      }
      const part = array.subarray(position, needed);
      position = needed;
      await copy(bytesOf(part), bytesOf(data));
    },
    result: () => (position === array.length ? array : array.slice(0, position)),
    ...immediate,
  };
}

/** Memory is complete as it is written, and there is nothing to take back. */
const immediate = { async finish() {}, publish() {}, async abandon() {} } as const;

function allocate(name: string, element: ElementType, length: number): TypedArray {
  try {
    return newArray(element, length);
  } catch (cause) {
    const message = `${name} of ${count(length)} elements does not fit into memory`;
    throw problem('WS4001', message, 'write it to a file', cause);
  }
}
