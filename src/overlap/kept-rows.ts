// Jobs that keep some of their rows: the kernel says by a number for each row which, and the others are left out of all
// outputs when a chunk is written. Chunks are written in their order, so that what is left is in the order of the input,
// whatever computed it.

import type { AnyDefinition, OutputDeclaration, TypedArray } from './job.ts';
import type { Sink } from './sinks/sink.ts';

/** What the kernel writes for each row: the outputs, and which rows are kept. */
export function writtenArrays({
  outputs = {},
  keep,
}: AnyDefinition): Readonly<Record<string, OutputDeclaration>> {
  return keep === undefined ? outputs : { ...outputs, [keep]: {} };
}

/** How many rows are kept. */
export function countKept(mask: TypedArray): number {
  let count = 0;
  for (let row = 0; row < mask.length; row++) if (mask[row] !== 0) count++;
  return count;
}

/** Moves the rows that are kept to the front of the array, in their order, and gives that part of it. */
export function keptRows(data: TypedArray, mask: TypedArray): TypedArray {
  const width = data.length / Math.max(1, mask.length);
  let end = 0;
  for (let row = 0; row < mask.length; ) {
    const first = row;
    while (row < mask.length && mask[row] !== 0) row++;
    if (end !== first) data.copyWithin(end * width, first * width, row * width);
    end += row - first;
    while (row < mask.length && mask[row] === 0) row++;
  }
  return data.subarray(0, end * width) as TypedArray;
}

/** Where the mask goes: nowhere, it is for the others alone. */
export function maskSink(name: string): Sink {
  return { name: `'${name}'`, async write() {}, async finish() {}, publish() {}, async abandon() {} };
}
