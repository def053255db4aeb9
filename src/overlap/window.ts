// An input cut into chunks with a halo: every chunk with the rows before and after it that its
// kernel sees as well.
//
// The source is read once. Rows that two chunks share are kept between them: after a chunk, the
// window holds the last `before` rows of what it covered and all that was read beyond it, and
// the next chunk begins with those. What lies beyond the first and last row is zeros or the
// nearest row again; so is what lies beside the first and last column of each row, which rows get when they are read.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Source } from '../formats/source.ts';
import { fillElements, newArray, setElements } from '../formats/typed-arrays.ts';
import type { ElementType } from '../kernel/types.ts';
import { Head } from './head.ts';
import type { TypedArray } from './job.ts';

export interface WindowShape {
  /** Elements of a row. */
  readonly width: number;
  /** Rows before and after a chunk. */
  readonly before: number;
  readonly after: number;
  /** Elements beside each row, a column of so many after the other. */
  readonly left?: number;
  readonly right?: number;
  readonly channels?: number;
  readonly edge: 'zero' | 'clamp';
}

/** Reads the chunks of one input, in their order. */
export class WindowReader {
  readonly source: Source;
  readonly #shape: Required<WindowShape>;
  /** Elements of a row with what is beside it. */
  readonly #stride: number;
  readonly #read: Pick<Source, 'read' | 'skip'>;
  /** Elements that the next chunk begins with; before the first chunk, nothing. */
  #carry: TypedArray | undefined;
  /** Rows of the carry that belong to the next chunk and what follows. */
  #ahead = 0;
  #ended = false;

  /** `head`: only the first so many rows. */
  constructor(source: Source, shape: WindowShape, head?: number) {
    this.source = source;
    this.#shape = { left: 0, right: 0, channels: 1, ...shape };
    this.#stride = shape.width + this.#shape.left + this.#shape.right;
    this.#read = head === undefined ? source : new Head(source, head * shape.width);
  }

  /**
   * Fills `into` with the next chunk of up to `rows` rows and its halo, and resolves with the
   * rows of the chunk: fewer than asked for only at the end. `into` has room for the full window.
   */
  async next(into: TypedArray, rows: number): Promise<number> {
    const { before, after } = this.#shape;
    const stride = this.#stride;
    if (before + after === 0) return this.#readRows(into.subarray(0, rows * stride));
    const first = this.#carry === undefined;
    if (this.#carry !== undefined) setElements(into, this.#carry);
    const missing = rows + after - this.#ahead;
    const begin = (before + this.#ahead) * stride;
    const got =
      this.#ended || missing <= 0 ? 0 : await this.#readRows(into.subarray(begin, begin + missing * stride));
    if (got < missing) this.#ended = true;
    const available = this.#ahead + got;
    const core = Math.min(rows, available);
    if (core === 0) return 0;
    if (first) this.#fill(into, 0, before, before);
    this.#fill(into, before + available, before + core + after, before + available - 1);
    this.#carry = into.slice(core * stride, (before + available) * stride);
    this.#ahead = available - core;
    return core;
  }

  /** Begins at a row instead of the first one; before anything was read, of a source that can skip. */
  async skip(rows: number, element: ElementType): Promise<void> {
    const { width, before, after } = this.#shape;
    const kept = Math.min(before, rows);
    await this.#read.skip!((rows - kept) * width);
    if (before + after === 0) return;
    const stride = this.#stride;
    const carry = newArray(element, before * stride);
    if (kept > 0) await this.#readRows(carry.subarray((before - kept) * stride));
    this.#fill(carry, 0, before - kept, before - kept);
    this.#carry = carry;
  }

  /** Fills rows `begin` to `end` with the edge; `nearest` is the row that lies nearest. */
  #fill(into: TypedArray, begin: number, end: number, nearest: number): void {
    const stride = this.#stride;
    if (this.#shape.edge === 'zero') {
      if (begin < end) fillElements(into, 0, begin * stride, end * stride);
      return;
    }
    for (let row = begin; row < end; row++) {
      into.copyWithin(row * stride, nearest * stride, (nearest + 1) * stride);
    }
  }

  async #readRows(into: TypedArray): Promise<number> {
    const { width } = this.#shape;
    const rows = into.length / this.#stride;
    // Rows are read one behind the other, to the end of where they belong, and moved forward to their places.
    const behind = rows * (this.#stride - width);
    const elements = await this.#read.read(behind === 0 ? into : (into.subarray(behind) as TypedArray));
    if (elements % width === 0) {
      if (behind > 0) this.#spread(into, behind, elements / width);
      return elements / width;
    }
    throw problem(
      'WS5005',
      `${this.source.name} ends within a row: its last row has ${count(elements % width)} of ${count(width)} elements`,
    );
  }

  /** Moves rows that begin at a place to where they belong, from the first on, and puts the edge beside each. */
  #spread(into: TypedArray, begin: number, rows: number): void {
    const { width, left, right, channels, edge } = this.#shape;
    for (let row = 0; row < rows; row++) {
      const from = begin + row * width;
      const at = row * this.#stride + left;
      into.copyWithin(at, from, from + width);
      const end = at + width;
      if (edge === 'zero') {
        fillElements(into, 0, at - left, at);
        fillElements(into, 0, end, end + right);
        continue;
      }
      for (let i = at - left; i < at; i += channels) into.copyWithin(i, at, at + channels);
      for (let i = end; i < end + right; i += channels) into.copyWithin(i, end - channels, end);
    }
  }
}
