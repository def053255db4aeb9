// What a kernel sees of an input beside its chunk: rows before and after it, and columns to the left and right of each row.
//
// A chunk has whole rows, so that nothing of a row lies in another chunk: columns beside it are always the edge.

/** What is beside a chunk, in two directions. */
export interface HaloDeclaration {
  /** Rows before and after the chunk. Default `[0, 0]`. */
  readonly rows?: readonly [before: number, after: number];
  /**
   * Columns to the left and right of each row, zeros or the nearest column again: with `[1, 2]`, column `c` of a row is
   * column `c + 1` of it in the array, whose rows are 3 columns longer. Default `[0, 0]`.
   */
  readonly columns?: readonly [left: number, right: number];
  /** Elements of a column, as of pixels with 3 channels. Default 1. */
  readonly channels?: number;
}

/** What is beside a chunk: rows, and elements of each row. */
export interface Halo {
  readonly before: number;
  readonly after: number;
  readonly left: number;
  readonly right: number;
  /** Elements of a column. */
  readonly channels: number;
}

/** A halo in its long form. */
export function haloOf(halo: readonly [before: number, after: number] | HaloDeclaration = {}): Halo {
  const {
    rows = [0, 0],
    columns = [0, 0],
    channels = 1,
  }: HaloDeclaration = 'length' in halo ? { rows: halo } : halo;
  const [before, after] = rows;
  const [left, right] = columns;
  return { before, after, left: left * channels, right: right * channels, channels };
}
