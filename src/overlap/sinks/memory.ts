// Typed arrays as sinks: one that the caller gave, or one that is made.

import { type ElementType, hostArrays } from '../../kernel/types.ts';
import type { TypedArray } from '../job.ts';
import { count, problem } from '../problem.ts';
import type { Sink } from './sink.ts';

/** Collects an output in memory. */
export interface MemorySink extends Sink {
  /** All elements, after `finish()`. */
  result(): TypedArray;
}

/** Fills an array of the caller's. */
export function arraySink(parameter: string, array: TypedArray): MemorySink {
  const name = `the array given for '${parameter}'`;
  let position = 0;
  return {
    name,
    async write(data) {
      if (position + data.length > array.length) {
        throw problem(
          'WS5006',
          `${name} has ${count(array.length)} elements, and the output has more`,
          'leave the output away to have an array made',
        );
      }
      array.set(data, position);
      position += data.length;
    },
    async finish() {},
    publish() {},
    async abandon() {},
    result: () => (position === array.length ? array : array.subarray(0, position)),
  };
}

/** Makes an array; of `length` elements at once where that is known. */
export function collectingSink(
  parameter: string,
  element: ElementType,
  length: number | undefined,
): MemorySink {
  const Constructor: new (length: number) => TypedArray = hostArrays[element];
  let array: TypedArray = new Constructor(length ?? 0);
  let position = 0;
  return {
    name: `output '${parameter}'`,
    async write(data) {
      const needed = position + data.length;
      if (needed > array.length) {
        const larger = new Constructor(Math.max(needed, 2 * array.length));
        larger.set(array);
        array = larger;
      }
      array.set(data, position);
      position = needed;
    },
    async finish() {},
    publish() {},
    async abandon() {},
    result: () => (position === array.length ? array : array.slice(0, position)),
  };
}
