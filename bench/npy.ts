// Files for the works that begin with one.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** Writes a .npy of so many GiB of f32, a piece at a time; its bytes. */
export function writeNpy(file: string, gib: number): number {
  const elements = Math.round(gib * 2 ** 28);
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${elements},), }`;
  const header = Buffer.alloc(128, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(118, 8);
  header.write(text, 10, 'latin1');
  header.write('\n', 127);
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, header);
  const piece = Float32Array.from({ length: 2 ** 22 }, (_, index) => Math.fround(Math.sin(index)));
  for (let written = 0; written < elements; written += piece.length) {
    writeSync(descriptor, new Uint8Array(piece.buffer, 0, 4 * Math.min(piece.length, elements - written)));
  }
  // What is written to the disk later would take part in what is measured.
  fsyncSync(descriptor);
  closeSync(descriptor);
  return header.length + 4 * elements;
}
