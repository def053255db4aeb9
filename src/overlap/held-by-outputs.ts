// What outputs hold of the host's memory beside the chunks in flight, at most, where memory is scarce: what encodes them, and
// what is on its way to a folder or to an object.

import { isObject } from '../formats/url.ts';
import { layoutOf } from '../kernel/layout.ts';
import type { OutputData, OutputFile } from './options.ts';
import { isTaken, type OutputShape } from './output-data.ts';
import { encodingOf, outputFile } from './outputs.ts';
import { heldByFolder } from './sinks/folder.ts';
import { heldByObject } from './sinks/upload.ts';

/** An output, as far as is known before it is opened. */
export type HeldOutput = Pick<OutputShape, 'parameter' | 'element' | 'rate' | 'shape'>;

/** Of a format that does not say it. */
const usualBytes = 2 ** 23;

/** Bytes of all outputs. `isKept`: for another run; `isPiece`: they are pieces, and in no format. */
export function heldByOutputs(
  outputs: readonly HeldOutput[],
  destinations: ReadonlyMap<string, OutputData>,
  { isKept, isPiece }: { readonly isKept: boolean; readonly isPiece: boolean },
): number {
  let bytes = 0;
  for (const about of outputs) {
    const data = destinations.get(about.parameter);
    if (isTaken(data)) continue;
    const { file, format } = outputFile(data as string | OutputFile);
    if (isPiece) {
      if (isObject(file)) bytes += heldByObject(isKept);
      continue;
    }
    const { folder, encode, heldBytes } = encodingOf(file, format, about);
    // A row may be longer than what is encoded at once.
    const row = about.shape.slice(1).reduce((product, one) => product * one, layoutOf(about.element).bytes);
    if (folder === undefined && isObject(file)) bytes += heldByObject(isKept);
    // What is sent to objects is not used again.
    if (folder !== undefined) bytes += heldByFolder(folder, about.shape, isKept || isObject(file));
    else if (encode !== undefined) bytes += (heldBytes?.(about.shape) ?? usualBytes) + 2 * row;
  }
  return bytes;
}
