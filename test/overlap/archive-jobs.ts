// Jobs of several outputs, what goes into them, and what an archive of their outputs has.

import { readFileSync } from 'node:fs';
import { map } from 'warpstage';
import { groups } from './jobs.ts';

export const three = map({ twice: 'f64', odd: 'u8', half: 'f32', x: 'i32' }, ({ x }) => ({
  twice: 2 * x,
  odd: x & 1,
  half: x / 2,
}));
export const some = map(
  { twice: 'f64', half: 'f32', kept: 'u8', x: 'i32' },
  ({ x }) => ({ twice: 2 * x, half: x / 2, kept: x & 1 }),
  { keep: 'kept' },
);
export const ofRows = groups(3, 2, 'partial');
export const elements = { twice: 'f64', odd: 'u8', half: 'f32', sums: 'i32', places: 'i32' } as const;

export const numbers = (rows: number) =>
  Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 7919) % 1000);

/** An input as an array, whose length is known, or as a stream. */
export function inputOf(data: Int32Array, isStream: boolean) {
  const bytes = new Uint8Array(data.buffer);
  return isStream ? { stream: [bytes.subarray(0, 40), bytes.subarray(40)] } : data;
}

/** The names in the index of an archive, in its order. */
export function entriesOf(path: string): string[] {
  const bytes = readFileSync(path);
  const names: string[] = [];
  for (
    let i = bytes.indexOf('PK\x01\x02', 'latin1');
    i >= 0;
    i = bytes.indexOf('PK\x01\x02', i + 4, 'latin1')
  )
    names.push(bytes.toString('latin1', i + 46, i + 46 + bytes.readUInt16LE(i + 28)));
  return names;
}
