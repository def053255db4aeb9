// Reading an input whole, as a job does: in requests of a few elements.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostArrays } from '#warpstage/kernel/types.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import type { InputDeclaration } from '#warpstage/overlap/job.js';
import type { InputData } from '#warpstage/overlap/options.js';
import type { NumberArray, PlainElement } from '../support/run-program.ts';
import { temporaryDirectory } from './support.ts';

export const arrayOf = (element: PlainElement, length: number): NumberArray =>
  new (hostArrays[element] as new (length: number) => NumberArray)(length);

/** Reads all of an input in requests of a few elements. */
export async function readAll(
  data: InputData,
  element: PlainElement = 'f32',
  declaration: InputDeclaration = {},
  request = 1000,
  patience?: number,
) {
  const inputs = new OpenInputs(undefined, patience);
  try {
    const source = await inputs.open(data, wantedOf('x', element, declaration));
    const values: number[] = [];
    for (;;) {
      const into = arrayOf(element, request);
      const got = await source.read(into);
      for (const value of into.subarray(0, got)) values.push(value);
      if (got < request) return { source, values };
    }
  } finally {
    await inputs.close();
  }
}

/** A file of its own folder. */
export function file(name: string, contents: Uint8Array): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, contents);
  return path;
}

export const floats = Float32Array.from({ length: 2500 }, (_, i) => i / 4 - 100);
