// Where a kernel's text comes from.
//
// Everything the compiler says refers to offsets in the text of one function, as
// Function.prototype.toString gives it. A KernelSource turns such an offset into a place in
// the user's own file where the runtime can tell it, and into a line of that text where not.

/** A part of one kernel's or device function's text: offsets into `KernelSource.text`. */
export interface Range {
  /** Which of the program's sources: 0 is the kernel itself, the others are device functions. */
  readonly source: number;
  readonly start: number;
  readonly end: number;
}

/** A place in a file (or, if no file is known, in the function's text), counted from 1. */
export interface Place {
  /** Path of the user's file; absent where the runtime cannot tell it. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  /** The whole text that `line` counts in: the file's, or the function's. */
  readonly text: string;
}

/** The text of one kernel or device function, and the way back to the user's file. */
export interface KernelSource {
  readonly name: string;
  readonly text: string;
  /** The place of an offset into `text`. */
  locate(offset: number): Place;
}
