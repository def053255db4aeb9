// The memory of a checked launch: its arrays, record and shared memory, as targets/executable.ts
// lays them out. It is made once and set back before each run.
//
// Arrays of the caller that lie in one buffer lie in the same way here, so that arguments that
// overlap still do.

import type { Program } from '../compiler/ir.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { bytesOf, hostForm } from '../kernel/layout.ts';
import { type ArrayPlace, kernelInWords } from '../runtime/launch.ts';
import { encodeRecord } from '../runtime/launch-record.ts';
import { checkSeenArrays } from '../runtime/seen-arrays.ts';
import { placeSharedArrays } from '../runtime/shared-arrays.ts';
import { synchronisesGrid } from '../targets/grid.ts';
import { poisonBytes } from '../targets/interpreter/memory.ts';
import { arrayAlignment as alignment } from '../targets/shared-alignment.ts';
import { type BoundLaunch, type LaunchArray, limits } from './launch.ts';

const pageBytes = 65536;
const mostPages = 65536;

export class LaunchMemory {
  readonly memory: WebAssembly.Memory;
  /** Addresses. */
  readonly record: number;
  readonly arena: number;
  /** Parameters whose arrays hold nothing at first. */
  readonly unfilled: ReadonlySet<number>;
  /** All that lies before the arena. */
  readonly #initial: Uint8Array;

  constructor({ program, sources, values, grid }: BoundLaunch) {
    const layout = new Layout();
    const buffers = placeBuffers(values, layout);
    const placed = values.map((value) =>
      typeof value === 'object' ? placeOf(value, buffers, layout) : value,
    );
    checkSeenArrays(program, `check of ${kernelInWords(program.name)}`, (id) => placed[id] as ArrayPlace);
    const shared = placeSharedArrays(program, sources, placed, grid, limits);
    // Blocks that run together have an arena each.
    const arenas = synchronisesGrid(program) ? grid[0] * grid[1] * grid[2] : 1;
    const arenaStride = Math.ceil(shared.bytes / alignment) * alignment;
    const record = encodeRecord(program, { grid, values: placed, shared: shared.places, arenaStride });
    this.record = layout.place(record.byteLength);
    this.arena = layout.place(arenaStride * arenas);
    this.memory = newMemory(program, layout.end);

    const { buffer } = this.memory;
    const bytes = new Uint8Array(buffer);
    for (const [from, { address, begin, end }] of buffers) {
      bytes.set(new Uint8Array(from, begin, end - begin), address);
    }
    values.forEach((value, id) => {
      const place = placed[id];
      if (typeof value === 'object' && typeof place === 'object') fill(value, buffer, place.address);
    });
    bytes.set(record, this.record);
    this.#initial = bytes.slice(0, this.arena);
    this.unfilled = new Set(
      values.flatMap((value, id) => (typeof value === 'object' && value.unfilled ? [id] : [])),
    );
  }

  /** Makes everything as it was before the first run. */
  reset(): void {
    new Uint8Array(this.memory.buffer).set(this.#initial);
  }
}

/** Places things in memory, one after the other. */
class Layout {
  end = alignment;

  place(byteLength: number): number {
    const address = Math.ceil(this.end / alignment) * alignment;
    this.end = address + byteLength;
    return address;
  }
}

/** The part of a caller's buffer that arguments lie in, and where it lies here. */
interface BufferPlace {
  readonly begin: number;
  readonly end: number;
  readonly address: number;
}

function placeBuffers(values: BoundLaunch['values'], layout: Layout): Map<ArrayBufferLike, BufferPlace> {
  const parts = new Map<ArrayBufferLike, { begin: number; end: number }>();
  for (const value of values) {
    if (typeof value !== 'object' || value.data === null) continue;
    const { buffer, byteOffset, byteLength } = value.data;
    const known = parts.get(buffer) ?? { begin: byteOffset, end: byteOffset };
    parts.set(buffer, {
      begin: Math.min(known.begin, byteOffset),
      end: Math.max(known.end, byteOffset + byteLength),
    });
  }
  return new Map(
    Array.from(parts, ([buffer, { begin, end }]) => {
      // A single array begins where a device would let it; several keep their distances.
      const address = layout.place(end - begin);
      return [buffer, { begin, end, address }];
    }),
  );
}

function placeOf(
  { element, length, data }: LaunchArray,
  buffers: ReadonlyMap<ArrayBufferLike, BufferPlace>,
  layout: Layout,
): ArrayPlace {
  if (data === null) return { address: layout.place(length * bytesOf(element)), length };
  const { begin, address } = buffers.get(data.buffer)!;
  return { address: address + data.byteOffset - begin, length };
}

/**
 * What an array without data holds: small numbers, none of them zero, of which no power of two is a period.
 * (Floats of 16 bits are filled with their bits, and so are tiny.)
 */
function fill({ element, length, data, unfilled }: LaunchArray, buffer: ArrayBuffer, address: number): void {
  if (data !== null) return;
  const { Values, numbers } = hostForm(element);
  const values = new Values(buffer, address, length * numbers);
  const small = (i: number) => 1 + (i % 113);
  if (unfilled) poisonBytes(buffer, address, values.byteLength);
  else if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    for (let i = 0; i < values.length; i += 1) values[i] = BigInt(small(i));
  } else for (let i = 0; i < values.length; i += 1) values[i] = small(i);
}

function newMemory(program: Program, byteLength: number): WebAssembly.Memory {
  const pages = Math.ceil(byteLength / pageBytes);
  if (pages <= mostPages) {
    try {
      return new WebAssembly.Memory({ initial: pages, maximum: pages });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  throw new WarpstageError({
    code: 'WS4001',
    message: `check of ${kernelInWords(program.name)}: its arrays need ${Math.ceil(byteLength / 2 ** 20)} MiB, which this process has not`,
    hint: 'check a smaller launch: the same faults show with fewer batches and blocks',
  });
}
