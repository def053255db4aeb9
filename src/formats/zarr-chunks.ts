// The chunks of a Zarr array, or the smaller ones in its shards: each is read, unpacked, and put where its numbers belong
// among others.
//
// Numbers are moved as bytes, whatever they are. Where they go is a view: for each extent how far apart its numbers are, and
// how many of them there are, which may be fewer than the chunk has. Nothing is taken for a chunk before it is known
// what it may give.

import { WarpstageError } from '../diagnostics/error.ts';
import { dtypeBytes } from './dtype.ts';
import type { FolderFile, FolderFiles } from './folder-files.ts';
import { type Chain, isSharded, type Shard, type ZarrArray } from './zarr-metadata.ts';

/** Where the numbers of a chunk go. */
export interface View {
  readonly bytes: Uint8Array;
  /** Numbers, of the first one that the chunk has. */
  readonly begin: number;
  /** Of each extent: numbers from one to the next, and how many there are. */
  readonly steps: readonly number[];
  readonly counts: readonly number[];
}

/** Of what is packed once more, more than what it was before: packing may lengthen. */
const slack = 2 ** 16;
/** Bytes of indexes that are remembered. */
const mostIndexBytes = 2 ** 24;
/** Says in an index that a chunk is missing. */
const missing = 2n ** 64n - 1n;

export class Chunks {
  /** Extents of what is read by itself. */
  readonly grain: readonly number[];
  readonly #array: ZarrArray;
  readonly #files: FolderFiles;
  readonly #path: string;
  readonly #shard: Shard | undefined;
  readonly #indexes = new Map<string, Promise<BigUint64Array | undefined>>();

  /** `path`: of the array's folder in the store. */
  constructor(array: ZarrArray, files: FolderFiles, path: string) {
    this.#array = array;
    this.#files = files;
    this.#path = path;
    const { chain, chunk } = array;
    this.#shard = isSharded(chain) ? (chain.inner as Shard) : undefined;
    this.grain =
      this.#shard === undefined ? chunk : chunk.map((extent, i) => extent / this.#shard!.counts[i]!);
  }

  /** Bytes that reading one takes at most. */
  get bytesOfOne(): number {
    const chain = this.#shard?.chain ?? this.#array.chain;
    return 2 * mostOf(chain, this.#size) + (this.#shard === undefined ? 0 : mostIndexBytes);
  }

  get #size(): number {
    return dtypeBytes[this.#array.dtype];
  }

  /** Puts the numbers of one where they belong; false where it is missing. */
  async read(place: readonly number[], view: View): Promise<boolean> {
    const { chain, keyOf } = this.#array;
    const shard = this.#shard;
    const ofFile = shard === undefined ? place : place.map((at, i) => Math.floor(at / shard.counts[i]!));
    const key = this.#path === '' ? keyOf(ofFile) : `${this.#path}/${keyOf(ofFile)}`;
    if (!(await this.#files.has(key))) return false;
    try {
      if (shard === undefined) {
        const most = mostOf(chain, this.#size);
        const bytes = await this.#whole(key, most);
        if (bytes === undefined) return false;
        await put(bytes, chain, view, this.#size);
        return true;
      }
      const index = await this.#indexOf(key, shard);
      const range =
        index &&
        rangeIn(
          index,
          positionIn(
            shard.counts,
            place.map((at, i) => at % shard.counts[i]!),
          ),
        );
      if (range === undefined) return false;
      const bytes = await this.#range(key, range, mostOf(shard.chain, this.#size));
      await put(bytes, shard.chain, view, this.#size);
      return true;
    } catch (error) {
      throw inChunk(key, error);
    }
  }

  async #whole(key: string, most: number): Promise<Uint8Array | undefined> {
    const whole = async (file: FolderFile) => {
      if (file.size > most) throw new Error(`it has ${file.size} bytes, and may have ${most}`);
      return file.part(0, file.size);
    };
    return this.#with(key, whole, most);
  }

  async #range(key: string, [begin, length]: readonly [number, number], most: number): Promise<Uint8Array> {
    if (length > most) throw new Error(`one of its parts has ${length} bytes, and may have ${most}`);
    return (await this.#with(key, (file) => file.part(begin, length))) ?? new Uint8Array();
  }

  /** The index of a shard; several chunks of it may ask for that at once. */
  async #indexOf(key: string, shard: Shard): Promise<BigUint64Array | undefined> {
    let index = this.#indexes.get(key);
    if (index === undefined) {
      if ((this.#indexes.size + 1) * shard.index.bytes > mostIndexBytes) this.#indexes.clear();
      index = this.#with(key, async (file) => {
        const { bytes, atStart } = shard.index;
        if (file.size < bytes) throw new Error(`it has ${file.size} bytes, and its index alone has ${bytes}`);
        return readIndex(await file.part(atStart ? 0 : file.size - bytes, bytes), shard);
      });
      this.#indexes.set(key, index);
    }
    return index;
  }

  /** `most`: where all of a file is read. */
  async #with<T>(key: string, read: (file: FolderFile) => Promise<T>, most?: number): Promise<T | undefined> {
    const file = await this.#files.open(key, most);
    if (file === undefined) return undefined;
    try {
      return await read(file);
    } finally {
      await file.close();
    }
  }
}

/** Bytes that a chunk has at most as it is stored, and in whatever way it is packed meanwhile. */
function mostOf({ extents, inner, packings }: Chain, size: number): number {
  const numbers = extents.reduce((product, extent) => product * extent, size);
  const stored = 'index' in inner ? 2 * numbers + inner.index.bytes + slack : numbers;
  return packings.length === 0 ? stored : 2 * stored + slack;
}

/** Unpacks a chunk, and puts its numbers where they belong. */
async function put(packed: Uint8Array, chain: Chain, view: View, size: number): Promise<void> {
  const { extents, inner, packings, axes } = chain;
  const isShard = 'index' in inner;
  const numbers = extents.reduce((product, extent) => product * extent, size);
  let bytes = packed;
  for (let i = packings.length - 1; i >= 0; i--) {
    const most = i === 0 && !isShard ? numbers : mostOf(chain, size);
    const { name, unpack } = packings[i]!;
    try {
      bytes = await unpack(bytes, most);
    } catch (error) {
      throw inCodec(name, error);
    }
  }
  const stored: View = {
    ...view,
    steps: axes.map((axis) => view.steps[axis]!),
    counts: axes.map((axis) => view.counts[axis]!),
  };
  if (isShard) return putShard(bytes, inner, stored, size);
  if (bytes.length !== numbers)
    throw new Error(`it has ${bytes.length} bytes of numbers, which are ${numbers}`);
  copy(inner.bigEndian ? swapped(bytes, size) : bytes, extents, stored, size);
}

/** The parts of a shard that is in memory. */
async function putShard(bytes: Uint8Array, shard: Shard, view: View, size: number): Promise<void> {
  const { chain, counts, index } = shard;
  if (bytes.length < index.bytes)
    throw new Error(`it has ${bytes.length} bytes, and its index alone has ${index.bytes}`);
  const at = index.atStart ? 0 : bytes.length - index.bytes;
  const places = await readIndex(bytes.subarray(at, at + index.bytes), shard);
  // A chunk's extents as they are before it is transposed by itself.
  const extents = chain.extents.map((_, axis) => chain.extents[chain.axes.indexOf(axis)]!);
  const wanted = view.counts.map((count, i) => Math.ceil(count / extents[i]!));
  for (const place of placesIn(wanted)) {
    const range = rangeIn(places, positionIn(counts, place));
    if (range === undefined) continue;
    const [begin, length] = range;
    if (begin + length > bytes.length)
      throw new Error(`its index points to byte ${begin + length} of ${bytes.length}`);
    await put(bytes.subarray(begin, begin + length), chain, partOf(view, place, extents), size);
  }
}

/** Where a smaller chunk goes. */
export function partOf(view: View, place: readonly number[], extents: readonly number[]): View {
  const begins = place.map((at, i) => at * extents[i]!);
  return {
    bytes: view.bytes,
    begin: begins.reduce((sum, begin, i) => sum + begin * view.steps[i]!, view.begin),
    steps: view.steps,
    counts: view.counts.map((count, i) => Math.min(extents[i]!, count - begins[i]!)),
  };
}

/** All places of a grid, the last extent the fastest. */
export function* placesIn(counts: readonly number[]): Generator<readonly number[]> {
  const all = counts.reduce((product, count) => product * count, 1);
  for (let i = 0; i < all; i++) {
    const place: number[] = [];
    for (let axis = counts.length - 1, left = i; axis >= 0; axis--) {
      place[axis] = left % counts[axis]!;
      left = Math.floor(left / counts[axis]!);
    }
    yield place;
  }
}

function positionIn(counts: readonly number[], place: readonly number[]): number {
  return place.reduce((position, at, i) => position * counts[i]! + at, 0);
}

async function readIndex(bytes: Uint8Array, { counts, index }: Shard): Promise<BigUint64Array> {
  const extents = [...counts, 2];
  const read = new BigUint64Array(extents.reduce((product, extent) => product * extent, 1));
  const steps = extents.map((_, i) => extents.slice(i + 1).reduce((product, extent) => product * extent, 1));
  try {
    await put(
      bytes,
      index.chain,
      { bytes: new Uint8Array(read.buffer), begin: 0, steps, counts: extents },
      8,
    );
  } catch (error) {
    throw new Error(`its index: ${reasonOf(error)}`, { cause: error });
  }
  return read;
}

function rangeIn(
  index: BigUint64Array,
  position: number,
): readonly [begin: number, length: number] | undefined {
  const [begin, length] = [index[2 * position]!, index[2 * position + 1]!];
  return begin === missing && length === missing ? undefined : [Number(begin), Number(length)];
}

/** Copies the numbers of a chunk: as many at once as lie beside each other in both places. */
function copy(
  from: Uint8Array,
  extents: readonly number[],
  { bytes: to, begin, steps, counts }: View,
  size: number,
): void {
  if (counts.includes(0)) return;
  let outer = extents.length;
  let run = 1;
  while (outer > 0 && steps[outer - 1] === run) {
    outer--;
    run *= counts[outer]!;
    if (counts[outer] !== extents[outer]) break;
  }
  const fromSteps = extents.map((_, i) =>
    extents.slice(i + 1).reduce((product, extent) => product * extent, 1),
  );
  const walk = (axis: number, at: number, into: number): void => {
    if (axis === outer) {
      if (run === 1) for (let i = 0; i < size; i++) to[into * size + i] = from[at * size + i]!;
      else to.set(from.subarray(at * size, (at + run) * size), into * size);
      return;
    }
    for (let i = 0; i < counts[axis]!; i++)
      walk(axis + 1, at + i * fromSteps[axis]!, into + i * steps[axis]!);
  };
  walk(0, 0, begin);
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  const own = Buffer.from(bytes);
  if (size === 2) return own.swap16();
  return size === 4 ? own.swap32() : own.swap64();
}

function inCodec(codec: string, error: unknown): unknown {
  return error instanceof WarpstageError
    ? error
    : new Error(`${codec}: ${reasonOf(error)}`, { cause: error });
}

function inChunk(key: string, error: unknown): unknown {
  return error instanceof WarpstageError
    ? error
    : new Error(`chunk ${key}: ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
