// Where a job's results go: elements in their order, and then either all of them or nothing.

import type { FilePlace } from '../../formats/bytes.ts';
import type { Encoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';

/** How far a file is. */
export interface SinkMark {
  readonly bytes: number;
  /** What the next bytes depend on, as it is now: see `Encoding.keep`. */
  readonly state: () => Uint8Array;
}

/** Takes the elements of one output, in their order. */
export interface Sink {
  /** For messages, for example `out/y.npy`. */
  readonly name: string;
  /** Appends elements. They may be overwritten as soon as the promise resolves. One call at a time. */
  write(data: TypedArray): Promise<void>;
  /**
   * Where the next elements go in an open file, as they lie in memory; undefined where they are written otherwise. So
   * they can be written from elsewhere, before it is finished, and are left out here. Absent likewise.
   */
  place?(): FilePlace | undefined;
  /** Leaves out the next bytes. */
  skip?(bytes: number): void;
  /** Puts bytes at a place of the file, or reads them; what is put beyond the last ones is to be left out. Only files can do that. */
  writeAt?(bytes: Uint8Array, position: number): Promise<void>;
  readAt?(into: Uint8Array, position: number): Promise<void>;
  /** Everything was written; `shape` is that of the whole. Nothing has its final name yet. */
  finish(shape: readonly number[]): Promise<void>;
  /** Gives what was finished its final name where that takes a request, before any other has its own. Default: `publish` does. */
  complete?(): Promise<void>;
  /** Gives what was finished its final name. At once, so that several outputs appear together. */
  publish(): void;
  /** Removes what was written, unless the next run is to go on from it. Never throws; after `publish()` it does nothing. */
  abandon(): Promise<void>;
  /** How far it is, for a run that goes on from there. Likewise. */
  mark?(): SinkMark;
  /** What was written is on the disk when it resolves, whatever becomes of the machine. Only files and objects can do that. */
  sync?(): Promise<void>;
  /** Removes what was left to the next run, which would find nothing to go on from. Never throws. Absent where that is a file. */
  discard?(): Promise<void>;
  /** So is its final name when this has returned. Likewise. */
  syncName?(): void;
}

/** The view of a typed array's bytes. */
export function bytesOf(data: TypedArray): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Bytes of elements that are encoded at once, where a row has no more. */
const encodedAtOnce = 2 ** 20;

/**
 * The bytes of elements, as a format has them. `shape`: that of the whole. Whole rows are encoded some at a time: what a
 * chunk takes, as text or packed, may be many times the chunk.
 */
export async function* encoded(
  data: TypedArray,
  { encode }: Encoding,
  shape: readonly number[],
): AsyncGenerator<Uint8Array> {
  if (encode === undefined) {
    yield bytesOf(data);
    return;
  }
  const row = Math.max(
    1,
    shape.slice(1).reduce((product, extent) => product * extent, 1),
  );
  const step = Math.max(1, Math.floor(encodedAtOnce / (row * data.BYTES_PER_ELEMENT))) * row;
  for (let at = 0; at < data.length; at += step)
    yield await encode(data.subarray(at, at + step) as TypedArray);
}

/** What a format writes that has no header, or nothing behind the last element. */
export const nothing = new Uint8Array();
