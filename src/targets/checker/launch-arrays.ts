// The arrays of a launch, distinguished by identity: what each is in the program, and where arrays
// of the launch lie in the same memory.

import type { ArrayReference, Program } from '../../compiler/ir.ts';
import { smallestBytes } from '../../kernel/layout.ts';
import { elementOf } from '../analysis/elements.ts';
import type { Launch } from '../interpreter/launch.ts';
import type { Elements } from '../interpreter/memory.ts';
import type { Thread } from '../interpreter/thread.ts';

/** What an array is in the program, of those that a thread has. Blocks that run together have shared arrays each. */
export function referenceOf(
  { whole: array }: Elements,
  { block: { launch }, localArrays }: Thread,
): ArrayReference {
  const global = launch.arrays.indexOf(array);
  if (global >= 0) return { space: 'global', id: global };
  const local = localArrays.indexOf(array);
  if (local >= 0) return { space: 'local', id: local };
  return { space: 'shared', id: launch.sharedArrays.indexOf(array) };
}

/** Arrays that overlap in memory. Most lie alone. */
export interface Region {
  /** The address of its first byte. */
  readonly begin: number;
  readonly end: number;
  /** Bytes that are accessed together: a whole element, or the smallest one where sizes differ. */
  readonly cellBytes: number;
  /** Parameters of the program. */
  readonly parameters: readonly number[];
}

/** The launch's global arrays by the memory that they lie in. */
export function regionsOf({ arrays, program }: Launch): Region[] {
  const placed = [...arrays.entries()].flatMap(([id, array]) => {
    if (array === undefined) return [];
    const { byteOffset: begin, byteLength } = array.bytes;
    const cellBytes = cellBytesOf(program, { space: 'global', id });
    return [{ begin, end: begin + byteLength, cellBytes, parameters: [id] }];
  });
  placed.sort((a, b) => a.begin - b.begin || a.end - b.end);
  const regions: Region[] = [];
  for (const one of placed) {
    const last = regions.at(-1);
    if (last === undefined || one.begin >= last.end) {
      regions.push(one);
      continue;
    }
    regions[regions.length - 1] = {
      begin: last.begin,
      end: Math.max(last.end, one.end),
      // Addresses are multiples of the element's size, and sizes are powers of two.
      cellBytes: Math.min(last.cellBytes, one.cellBytes),
      parameters: [...last.parameters, ...one.parameters],
    };
  }
  return regions;
}

/** The smallest number that is accessed in an array, whatever it is seen as. */
export function cellBytesOf(program: Program, { space, id }: ArrayReference): number {
  const views = (program.views ?? []).filter((view) => view.space === space && view.id === id);
  const elements = [elementOf(program, { space, id }), ...views.map(({ as }) => as!)];
  return Math.min(...elements.map(smallestBytes));
}
