// Where a job's data comes from: elements in their order, already of the kernel's type.
//
// A Source is read from beginning to end, one request at a time; the requests are a chunk large,
// so a source may answer one with several reads side by side. Whatever its format, it writes
// straight into the page-locked array that is copied to the device.

import type { ElementType, TypedArray } from '../kernel/types.ts';
import type { FilePlace } from './bytes.ts';
import type { Conversion, Dtype } from './dtype.ts';

/** Elements of one input, in their order. */
export interface Source {
  /** For messages, for example `data/x.npy`. */
  readonly name: string;
  /** The type of the elements where they are stored. */
  readonly dtype: Dtype;
  /** Extents, for formats that have them. */
  readonly shape: readonly number[] | undefined;
  /** Elements; undefined if only the end tells. */
  readonly length: number | undefined;
  /** Rows a second, where the file says it. */
  readonly rate?: number | undefined;
  /** Bytes that reading takes, beside what it reads into. Default: hardly any. */
  readonly decodingBytes?: number;
  /**
   * Fills `into` with the next elements and resolves with how many they were: fewer than asked
   * for only at the end. One call at a time.
   */
  read(into: TypedArray): Promise<number>;
  /** Leaves out the next elements, and resolves with how many there were. Absent where it comes as a program gives it. */
  skip?(elements: number): Promise<number>;
  /** Where the next elements are in an open file, as they lie in memory. Absent or undefined where they are in none. */
  place?(): FilePlace | undefined;
  /** The error of a file that had only so many elements when it was read. Of sources that have a place. */
  endedEarly?(elements: number): Error;
}

/** What a source has to give: the side of the kernel. */
export interface Wanted {
  /** The parameter, for messages. */
  readonly parameter: string;
  readonly element: ElementType;
  readonly convert: Conversion;
  /** Of files with columns: which one, and what stands for a null. */
  readonly column: string;
  readonly nulls: number | undefined;
}
