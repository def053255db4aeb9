// What a zarr.json says of an array (Zarr's core specification 3): its extents and type, how it is cut into chunks, what
// their files are called, and how each is packed.
//
// What is not known is refused, since the numbers would be others without it: codecs, grids, and members that do not say that
// they need not be understood.

import { problem } from '../diagnostics/problem.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import { pythonText } from './python-text.ts';
import { type Packing, packings } from './zarr-codecs.ts';
import { dtypeOfName, fillBytes } from './zarr-types.ts';

/** How the numbers of a chunk become its bytes. */
export interface Chain {
  /** The extents of what is stored, and of which axis each is: another order where it is transposed. */
  readonly extents: readonly number[];
  readonly axes: readonly number[];
  /** The numbers as they are, or each of several parts by itself. */
  readonly inner: { readonly bigEndian: boolean } | Shard;
  /** What packed the bytes, one after the other. */
  readonly packings: readonly Packing[];
}

/** A chunk that holds smaller ones, and an index of them at one end. */
export interface Shard {
  readonly chain: Chain;
  /** Smaller chunks along each extent of what is stored. */
  readonly counts: readonly number[];
  readonly index: { readonly chain: Chain; readonly bytes: number; readonly atStart: boolean };
}

/** An array that is read. */
export interface ZarrArray {
  /** For messages. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  /** Extents of a chunk, as it is a file. */
  readonly chunk: readonly number[];
  readonly chain: Chain;
  /** The name of a chunk's file, below the array's folder, by its place among the chunks. */
  keyOf(place: readonly number[]): string;
  /** The bytes of an element of a chunk that is missing; undefined where nothing is said to stand for it. */
  readonly fill: Uint8Array | undefined;
}

/** An array as it is listed: with what reads it, where it is of numbers. */
export interface ListedArray {
  readonly shape: readonly number[];
  /** The name of its type. */
  readonly stored: string;
  readonly array?: ZarrArray;
  /** Its chunks and codecs in words. */
  readonly facts: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

/** NumPy has no more. */
const mostExtents = 64;
/** Of a chunk that is unpacked. */
const mostBytes = 2 ** 30;
const mostCodecs = 32;

const known = new Set([
  'zarr_format',
  'node_type',
  'shape',
  'data_type',
  'chunk_grid',
  'chunk_key_encoding',
  'fill_value',
  'codecs',
  'attributes',
  'storage_transformers',
  'dimension_names',
]);

/** Reads what a zarr.json says; `name` is for messages. Throws WS5003 where it is damaged, WS5004 where it is not read. */
export function parseMetadata(name: string, text: string): 'group' | ListedArray {
  const value = parse(name, text);
  if (!isObject(value)) throw damaged(name, 'it is no object');
  const { zarr_format: version, node_type: kind } = value;
  if (version !== 3) throw damaged(name, `its zarr_format is ${shown(version)}, and not 3`);
  if (kind === 'group') return 'group';
  if (kind !== 'array')
    throw damaged(name, `its node_type is ${shown(kind)}, and neither "array" nor "group"`);
  for (const [member, about] of Object.entries(value)) {
    if (known.has(member) || (isObject(about) && about.must_understand === false)) continue;
    throw unread(name, `has a member ${shown(member)}, which may change what its numbers are`);
  }
  if (Array.isArray(value.storage_transformers) && value.storage_transformers.length > 0)
    throw unread(name, 'has storage transformers');
  const shape = extentsOf(name, 'shape', value.shape, 0);
  const grid = named(name, 'chunk_grid', value.chunk_grid);
  if (grid.name !== 'regular') throw unread(name, `has chunks by the grid ${shown(grid.name)}`);
  const chunk = extentsOf(name, 'chunk_shape', grid.configuration.chunk_shape, 1);
  if (chunk.length !== shape.length) {
    throw damaged(name, `it has ${shape.length} extents, and its chunks have ${chunk.length}`);
  }
  const keyOf = keysOf(name, value.chunk_key_encoding);
  const type = value.data_type;
  const stored =
    typeof type === 'string' ? type.slice(0, 40) : isObject(type) ? shown(type.name) : shown(type);
  const dtype = dtypeOfName(type);
  const facts = { chunks: `of (${chunk.join(', ')})`, codecs: codecsInWords(value.codecs) };
  // What it would take to read it does not matter where its elements are no numbers.
  if (dtype === undefined) return { shape, stored, facts };
  const elements = chunk.reduce((product, extent) => product * extent, 1);
  const chain = chainOf(name, value.codecs, chunk, dtype);
  if (!isSharded(chain) && !(elements * dtypeBytes[dtype] <= mostBytes)) {
    throw unread(name, `has chunks of over ${mostBytes / 2 ** 20} MiB`);
  }
  const fill = fillOf(name, dtype, value.fill_value, text);
  return { shape, stored, facts, array: { name, shape, dtype, chunk, chain, keyOf, fill } };
}

/** Whether chunks hold smaller ones, whose places can be read without all of it. */
export function isSharded({ inner, packings, axes }: Chain): boolean {
  return 'index' in inner && packings.length === 0 && axes.every((axis, i) => axis === i);
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw damaged(name, 'it is no JSON', cause);
  }
}

function extentsOf(name: string, what: string, value: unknown, least: number): number[] {
  const isList = Array.isArray(value) && value.length <= mostExtents;
  if (!isList || !value.every((one) => Number.isSafeInteger(one) && (one as number) >= least)) {
    throw damaged(name, `its ${what} is ${shown(value)}`);
  }
  const extents = value as number[];
  if (!Number.isSafeInteger(extents.reduce((product, extent) => product * extent, 1))) {
    throw damaged(name, `its ${what} (${extents.join(', ')}) is too large`);
  }
  return extents;
}

/** What has a name and a configuration. */
function named(name: string, what: string, value: unknown): { name: unknown; configuration: Json } {
  // A name alone stands for one without a configuration.
  if (typeof value === 'string') return { name: value, configuration: {} };
  if (!isObject(value) || typeof value.name !== 'string')
    throw damaged(name, `its ${what} is ${shown(value)}`);
  const { configuration = {} } = value;
  if (!isObject(configuration))
    throw damaged(name, `its ${what} has the configuration ${shown(configuration)}`);
  return { name: value.name, configuration };
}

function keysOf(name: string, value: unknown): ZarrArray['keyOf'] {
  const encoding = named(name, 'chunk_key_encoding', value);
  const isDefault = encoding.name === 'default';
  if (!isDefault && encoding.name !== 'v2') {
    throw unread(name, `names the files of its chunks by ${shown(encoding.name)}`);
  }
  const { separator = isDefault ? '/' : '.' } = encoding.configuration;
  if (separator !== '/' && separator !== '.') throw damaged(name, `its separator is ${shown(separator)}`);
  return isDefault ? (place) => ['c', ...place].join(separator) : (place) => place.join(separator) || '0';
}

function chainOf(name: string, value: unknown, chunk: readonly number[], dtype: Dtype): Chain {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostCodecs) {
    throw damaged(name, `its codecs are ${shown(value)}`);
  }
  let extents = chunk;
  let axes = chunk.map((_, axis) => axis);
  let inner: Chain['inner'] | undefined;
  const packed: Packing[] = [];
  for (const one of value as readonly unknown[]) {
    const { name: codec, configuration } = named(name, 'codecs', one);
    const packing = Object.hasOwn(packings, String(codec)) ? packings[String(codec)] : undefined;
    if (codec === 'transpose' && inner === undefined) {
      const order = orderOf(name, configuration.order, chunk.length);
      extents = order.map((axis) => extents[axis]!);
      axes = order.map((axis) => axes[axis]!);
    } else if (codec === 'bytes' && inner === undefined) {
      const { endian } = configuration;
      const isOne = dtypeBytes[dtype] === 1;
      if (endian !== 'little' && endian !== 'big' && !(isOne && endian === undefined)) {
        throw damaged(name, `the endian of its bytes is ${shown(endian)}`);
      }
      inner = { bigEndian: endian === 'big' && !isOne };
    } else if (codec === 'sharding_indexed' && inner === undefined) {
      inner = shardOf(name, configuration, extents, dtype);
    } else if (packing !== undefined && inner !== undefined) packed.push(packing);
    else if (
      packing !== undefined ||
      codec === 'transpose' ||
      codec === 'bytes' ||
      codec === 'sharding_indexed'
    )
      throw damaged(name, `its codec ${shown(codec)} stands where it cannot be`);
    else throw unread(name, `is packed by the codec ${shown(codec)}`);
  }
  if (inner === undefined) throw damaged(name, 'none of its codecs makes bytes of numbers');
  return { extents, axes, inner, packings: packed };
}

function orderOf(name: string, value: unknown, length: number): readonly number[] {
  const isOrder =
    Array.isArray(value) &&
    value.length === length &&
    [...(value as number[])].sort((a, b) => a - b).every((axis, i) => axis === i);
  if (!isOrder) throw damaged(name, `it is transposed by ${shown(value)}`);
  return value as number[];
}

function shardOf(name: string, configuration: Json, extents: readonly number[], dtype: Dtype): Shard {
  const {
    chunk_shape: shape,
    codecs,
    index_codecs: indexCodecs,
    index_location: location = 'end',
  } = configuration;
  const inner = extentsOf(name, 'chunk_shape', shape, 1);
  const counts = extents.map((extent, i) => extent / inner[i]!);
  if (inner.length !== extents.length || !counts.every(Number.isInteger)) {
    throw damaged(name, `its shards of (${extents.join(', ')}) are cut into chunks of (${inner.join(', ')})`);
  }
  if (location !== 'start' && location !== 'end')
    throw damaged(name, `its index_location is ${shown(location)}`);
  if (!(inner.reduce((product, extent) => product * extent, 1) * dtypeBytes[dtype] <= mostBytes)) {
    throw unread(name, `has chunks of over ${mostBytes / 2 ** 20} MiB`);
  }
  const index = chainOf(name, indexCodecs, [...counts, 2], 'u64');
  // Its place is known by its length: nothing may make that another.
  const isFixed = !('index' in index.inner) && index.packings.every((one) => one.name === 'crc32c');
  if (!isFixed) throw unread(name, 'has an index that is compressed');
  const bytes = counts.reduce((product, extent) => product * extent, 16) + 4 * index.packings.length;
  if (bytes > mostBytes) throw unread(name, `has an index of over ${mostBytes / 2 ** 20} MiB`);
  return {
    chain: chainOf(name, codecs, inner, dtype),
    counts,
    index: { chain: index, bytes, atStart: location === 'start' },
  };
}

function fillOf(name: string, dtype: Dtype, value: unknown, text: string): Uint8Array | undefined {
  if (value === null || value === undefined) return undefined;
  const isLarge = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  const isWide = dtype === 'i64' || dtype === 'u64';
  const bytes = fillBytes(dtype, value, isLarge && isWide ? digitsOf(name, value, text) : undefined);
  if (bytes === undefined) throw damaged(name, `its fill_value is ${shown(value)}, which is no ${dtype}`);
  return bytes;
}

/** The digits of a number of 64 bits, which JSON.parse rounds. */
function digitsOf(name: string, value: number, text: string): string {
  const all = [...text.matchAll(/"fill_value"\s*:\s*(-?\d+)\s*[,}]/g)].map(([, digits]) => digits!);
  // An attribute may be called the same.
  const [digits, ...others] = new Set(all.filter((one) => Number(one) === value));
  if (digits !== undefined && others.length === 0) return digits;
  throw unread(name, `has the fill_value ${value}, which cannot be read exactly`);
}

function codecsInWords(value: unknown): string {
  if (!Array.isArray(value)) return shown(value);
  return value
    .slice(0, mostCodecs)
    .map((one: unknown) => {
      const { name, configuration } = (isObject(one) ? one : { name: one }) as Json;
      const inner = isObject(configuration) && name === 'sharding_indexed' ? configuration : undefined;
      const called = typeof name === 'string' ? name.slice(0, 40) : shown(name);
      const { chunk_shape: shape, codecs } = inner ?? {};
      if (!Array.isArray(shape) || !Array.isArray(codecs) || codecs === value) return called;
      const names = codecs
        .slice(0, mostCodecs)
        .map((codec: unknown) => (isObject(codec) ? shown(codec.name) : shown(codec)));
      return `${called} of (${shape.slice(0, mostExtents).map(shown).join(', ')}) by ${names.join(', ').replaceAll('"', '')}`;
    })
    .join(', ');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as people read it, and no longer than that. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function damaged(name: string, why: string, cause?: unknown): Error {
  return problem('WS5003', `the zarr.json of ${name} is damaged: ${why}`, 'copy or download it again', cause);
}

function unread(name: string, what: string): Error {
  return problem(
    'WS5004',
    `${name} ${what}, which is not read`,
    `write it anew: zarr.save('plain.zarr', zarr.open(${pythonText(name)}, mode='r')[...])`,
  );
}
