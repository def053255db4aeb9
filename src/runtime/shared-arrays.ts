// Where a block's shared arrays lie in its arena, and how long they are in this launch.

import { DivisionByZero, type Value } from '../compiler/arithmetic.ts';
import { evaluateAtLaunch } from '../compiler/evaluate.ts';
import type { Program } from '../compiler/ir.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { type KernelSource, locationOf } from '../diagnostics/source.ts';
import { bytesOf } from '../kernel/layout.ts';
import type { Extent3 } from '../kernel/types.ts';
import { sharedAlignments } from '../targets/shared-alignment.ts';
import type { DeviceProperties } from './device.ts';
import { type ArrayPlace, kernelInWords, type SharedPlace } from './launch.ts';

/** What vectors of the CPU want. */
const leastAlignment = 16;

/** Places the shared arrays. Throws WS2004 if they do not fit the device's shared memory. */
export function placeSharedArrays(
  program: Program,
  sources: readonly KernelSource[],
  values: readonly (ArrayPlace | Value)[],
  grid: Extent3,
  properties: Pick<DeviceProperties, 'sharedMemoryPerBlock'>,
): { readonly places: readonly SharedPlace[]; readonly bytes: number } {
  const scalars = values.map((value) => (typeof value === 'object' ? undefined : value));
  const places: SharedPlace[] = [];
  const alignments = sharedAlignments(program, leastAlignment);
  let bytes = 0;
  for (const [id, { name, element, count, range }] of program.sharedArrays.entries()) {
    const problem = (message: string, hint: string) =>
      new WarpstageError({
        code: 'WS2004',
        message: `launch of ${kernelInWords(program.name)}: ${message}`,
        hint,
        location: locationOf(sources, range),
      });
    let length: number;
    try {
      length = Number(evaluateAtLaunch(count, { scalars, grid }));
    } catch (error) {
      if (!(error instanceof DivisionByZero)) throw error;
      throw problem(
        `the size of shared array \`${name}\` divides by zero`,
        'check the arguments it is made of',
      );
    }
    if (length < 0) {
      throw problem(
        `shared array \`${name}\` would have ${length} elements`,
        'check the arguments that its size is made of',
      );
    }
    const offset = Math.ceil(bytes / alignments[id]!) * alignments[id]!;
    places.push({ offset, length });
    bytes = offset + Math.ceil((length * bytesOf(element)) / leastAlignment) * leastAlignment;
    if (bytes > properties.sharedMemoryPerBlock) {
      throw problem(
        `with shared array \`${name}\` (${length} elements of ${element}) a block needs ${bytes} bytes of shared memory; ` +
          `the device has ${properties.sharedMemoryPerBlock}`,
        'use smaller blocks, fewer stages or smaller tiles',
      );
    }
  }
  return { places, bytes };
}
