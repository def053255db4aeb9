// What job-kills.mjs runs: jobs, and where their outputs go. Each work says what is asked of it in commands of their own; of
// several, as pieces and their merging, one follows the other.

import { mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const library = join(import.meta.dirname, '../dist/index.js');

/** Numbers from 0 to 1, the same for a seed. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The jobs. `steps`: how much is computed of each row. */
export function moduleOf(steps) {
  const mixed = `let v = x;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;`;
  return `import { job, kernel, map, reduce } from ${JSON.stringify(library)};
const mixed = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]!;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
export const mix = job({ kernel: mixed, inputs: { x: {} }, outputs: { y: {} } });
export const odd = map({ y: 'i32', kept: 'u8', x: 'i32' }, ({ x }) => {
  ${mixed}
  return { y: v, kept: v % 3 === 0 };
}, { keep: 'kept' });
export const total = reduce({ sum: 'f64', x: 'i32' }, ({ x }) => {
  ${mixed}
  return v / 7;
});
export const two = map({ low: 'i32', high: 'i32', x: 'i32' }, ({ x }) => {
  ${mixed}
  return { low: v & 65535, high: v >> 16 };
});
const grey = kernel({ y: 'u8[]', x: 'readonly i32[]', width: 'index' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]!;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  y[i] = v & 255;
});
export const bytes = job({ kernel: grey, inputs: { x: { width: 'width' } }, outputs: { y: { width: 'width' } } });
export const near = map({ y: 'i32', x: 'i32[-3..2]' }, ({ x }) => {
  let v = x[-3]! + 5 * x[0]! + 7 * x[2]!;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  return v;
});
export const bins = reduce({ sum: 'i64', key: 'i32', x: 'i32' }, ({ x }, cuda) => {
  ${mixed}
  return { sum: cuda.i64(v), key: v & 63 };
}, { by: 'key', groups: 64 });
const around = kernel({ y: 'i32[]', x: 'readonly i32[]', width: 'index' }, ({ y, x, width }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  const at = Math.trunc(i / width) * (width + 2) + (i % width);
  let v = x[at]! + 3 * x[at + width + 3]! + 5 * x[at + 2 * (width + 2) + 2]!;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
export const field = job({
  kernel: around,
  inputs: { x: { width: 'width', halo: { rows: [1, 1], columns: [1, 1] }, edge: 'clamp' } },
  outputs: { y: { width: 'width' } },
});
`;
}

/** Each with the sizes of chunks that it is run with: rows. */
export const large = [
  { job: 'mix', outputs: ['y.i32'] },
  { job: 'mix', outputs: ['y.npy'] },
  { job: 'odd', outputs: ['y.npy'] },
  { job: 'total', outputs: [] },
].flatMap((work) =>
  [2 ** 16, 2 ** 20, 2 ** 23].map((chunk) => ({
    ...{ ...work, chunk, input: 'x.i32', ways: ['resume'], more: [] },
    name: `${work.job} to ${work.outputs[0]?.slice(2) ?? 'a value'} in chunks of ${chunk}`,
  })),
);

/** Rows of the inputs that every work of the small ones reads, and of a row of pictures and of fields. */
const [rows, width] = [3_000_000, 1500];
const fewer = ['--rows', '400000'];
const chunk = 150_000;

const small = [
  { job: 'bytes', outputs: ['y.png'], input: 'field.zarr', chunk: 100 },
  { job: 'bytes', outputs: ['y.tif'], input: 'field.zarr', chunk: 100 },
  { job: 'mix', outputs: ['s3://data/y.npy'] },
  { job: 'odd', outputs: ['s3://data/y.parquet'] },
  { job: 'mix', outputs: ['y.zarr'] },
  { job: 'mix', outputs: ['y.gz.zarr'] },
  { job: 'mix', outputs: ['y.gz.zarr'], input: 'x.zarr', more: ['--checksum'] },
  { job: 'two', outputs: ['all.npz'] },
  { job: 'two', outputs: ['low.npy', 'high.zarr'], more: ['--checksum'] },
  { job: 'mix', outputs: ['y.parquet'] },
  { job: 'odd', outputs: ['y.parquet'] },
  { job: 'mix', outputs: ['y.arrow'] },
  { job: 'mix', outputs: ['y.csv.gz'], more: fewer, chunk: 20_000 },
  { job: 'odd', outputs: ['y.zarr'] },
  { job: 'odd', outputs: ['y.ndjson'], more: fewer, chunk: 20_000 },
  { job: 'bins', outputs: [] },
  { job: 'near', outputs: ['y.npy'], more: ['--checksum'] },
  { job: 'field', outputs: ['y.zarr'], input: 'field.zarr', chunk: 100 },
].map((work) => ({ input: 'x.i32', more: [], chunk, ways: ['plain', 'resume'], ...work }));
const inPieces = [
  { job: 'mix', outputs: ['y.zarr'], more: [] },
  { job: 'mix', outputs: ['y.npy'], more: ['--checksum'] },
  { job: 'two', outputs: ['all.npz'], more: [] },
  { job: 'field', outputs: ['y.tif'], input: 'field.zarr', more: [], chunk: 100 },
].map((work) => ({ input: 'x.i32', chunk, ways: ['pieces'], ...work }));
/** Those that are not gone on with, and say so. */
const plain = [
  { job: 'mix', outputs: ['s3://data/y.zarr'], more: [], input: 'x.i32', chunk, ways: ['plain'] },
];

/** Each in one of the ways that it can be run in. */
export const others = [...inPieces, ...plain, ...small].flatMap((work) =>
  work.ways
    // Uploads of killed runs that nobody goes on with are ended by a rule of the bucket.
    .filter(
      (way) => !(way === 'plain' && work.outputs[0]?.startsWith('s3:') && !work.outputs[0].endsWith('zarr')),
    )
    .filter((way) => !(way === 'resume' && /\.png$/.test(work.outputs[0] ?? '')))
    .map((way) => ({
      ...{ ...work, ways: [way] },
      name: `${work.job} of ${work.input} to ${work.outputs.join(' and ') || 'a value'}, ${way}`,
    })),
);

/** The commands of a work, whose files are in `own`. `isOld`: of what is there before. */
export function commandsOf({ job, input, outputs, chunk, more, ways: [way] }, folder, own, isOld) {
  const at = (name) => (name.startsWith('s3:') ? name : join(own, name));
  const run = (...args) => [
    ...['run', join(folder, 'works.ts'), '--job', job, join(folder, input), ...outputs.map(at)],
    ...['--chunk', `${chunk}`, ...more, ...args, '--json', '--quiet', '--threads', '2'],
  ];
  if (isOld) return [run('--rows', '200')];
  if (way === 'plain') return [run('--trace', join(own, 't.json'))];
  if (way === 'resume') {
    if (outputs.length === 0) return [run('--journal', join(own, 'sums'))];
    return [run('--resume')];
  }
  const pieces = [1, 2, 3].map((n) => run('--shard', `${n}/3`).filter((option) => option !== '--checksum'));
  const checksum = more.filter((option) => option === '--checksum');
  return [...pieces, ['merge', ...outputs.map(at), '--remove', ...checksum]];
}

/** Writes the module and the inputs into a folder. */
export function prepare(folder, { bytes, steps, seed, isLarge }) {
  writeFileSync(join(folder, 'works.ts'), moduleOf(steps));
  const random = randomOf(seed);
  const numbers = (count) =>
    new Uint8Array(Int32Array.from({ length: count }, () => random() * 2 ** 32).buffer);
  const file = openSync(join(folder, 'x.i32'), 'w');
  const length = isLarge ? bytes / 4 : rows;
  for (let at = 0; at < length; at += 2 ** 20) writeSync(file, numbers(Math.min(2 ** 20, length - at)));
  if (isLarge) return;
  writeStore(join(folder, 'x.zarr'), numbers, [rows], [rows / 4], [rows / 20]);
  writeStore(
    join(folder, 'field.zarr'),
    numbers,
    [rows / width, width],
    [rows / width / 4, width / 2],
    [100, 250],
  );
}

/** A Zarr array in shards, each with chunks in it. */
function writeStore(path, numbers, shape, shard, inner) {
  mkdirSync(path);
  const bytes = { name: 'bytes', configuration: { endian: 'little' } };
  const sharding = { chunk_shape: inner, codecs: [bytes], index_codecs: [bytes], index_location: 'end' };
  const about = {
    ...{ zarr_format: 3, node_type: 'array', shape, data_type: 'int32', fill_value: 0 },
    chunk_grid: { name: 'regular', configuration: { chunk_shape: shard } },
    chunk_key_encoding: { name: 'default', configuration: { separator: '.' } },
    codecs: [{ name: 'sharding_indexed', configuration: sharding }],
  };
  writeFileSync(join(path, 'zarr.json'), JSON.stringify(about));
  const product = (extents) => extents.reduce((all, extent) => all * extent, 1);
  const chunks = product(shard) / product(inner);
  const keys = shape
    .map((extent, i) => Array.from({ length: extent / shard[i] }, (_, at) => at))
    .reduce((before, places) => before.flatMap((key) => places.map((at) => [...key, at])), [[]]);
  for (const key of keys) {
    const size = 4 * product(inner);
    const index = BigUint64Array.from({ length: 2 * chunks }, (_, i) =>
      BigInt(i % 2 === 0 ? (i / 2) * size : size),
    );
    const parts = [numbers(product(shard)), new Uint8Array(index.buffer)];
    writeFileSync(join(path, ['c', ...key].join('.')), Buffer.concat(parts));
  }
}
