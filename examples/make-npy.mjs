// Makes an .npy file to try the examples on: f32, a wave with seeded noise, of any size. It needs nothing but Node.
//
//   node examples/make-npy.mjs x.npy 16M               16 Mi elements
//   node examples/make-npy.mjs e.npy 200Kx128 --seed 7  200 Ki rows of 128

import { closeSync, openSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
});
const [path, size] = positionals;
const shape = size?.split('x').map(parseCount) ?? [];
if (path === undefined || shape.length < 1 || shape.length > 2 || !shape.every((n) => n >= 1)) {
  console.error(
    'usage: make-npy.mjs <file.npy> <count|rows x width, for example 16M or 200Kx128> [--seed n]',
  );
  process.exit(2);
}
writeNpy(path, shape, Number(values.seed));

/** `64`, `16K`, `4M`, `1G`. */
function parseCount(text) {
  const [, digits, unit = ''] = /^(\d+)([KMG]?)$/i.exec(text) ?? [];
  return Number(digits) * { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit.toUpperCase()];
}

function writeNpy(path, shape, seed) {
  const file = openSync(path, 'w');
  writeSync(file, npyHeader(shape));
  const count = shape.reduce((product, extent) => product * extent, 1);
  const noise = randomNumbers(seed);
  const part = new Float32Array(Math.min(count, 2 ** 20));
  for (let begin = 0; begin < count; begin += part.length) {
    const length = Math.min(part.length, count - begin);
    for (let i = 0; i < length; i++) part[i] = Math.sin((begin + i) / 50) + noise() - 0.5;
    const bytes = Buffer.from(part.buffer, 0, length * 4);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
  }
  closeSync(file);
}

/** Magic, version 1.0, and a dictionary padded so that the data begins at a multiple of 64 bytes. */
function npyHeader(shape) {
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${tuple}), }`;
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 10;
  const header = Buffer.alloc(10 + length, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(length, 8);
  header.write(dictionary, 10);
  header.write('\n', 10 + length - 1);
  return header;
}

/** Marsaglia's xorshift32: the same numbers from the same seed, between 0 and 1. */
function randomNumbers(seed) {
  let state = Math.imul(seed, 0x9e3779b1) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
