// An output as rows of text: how its columns are called, and the lines of its numbers.

import { bytesOf } from '../kernel/layout.ts';
import type { NumberElement, TypedArray } from '../kernel/types.ts';
import type { OutputDescription } from './format.ts';
import { elementTexts } from './text-values.ts';

/**
 * The names of an output's columns: its parameter's for a number a row, with the place of each (`y.0`, `y.1`) where a
 * row has several.
 */
export function columnsOf({ parameter }: OutputDescription, shape: readonly number[]): string[] {
  const width = shape.slice(1).reduce((product, extent) => product * extent, 1);
  return width === 1 ? [parameter] : Array.from({ length: width }, (_, i) => `${parameter}.${i}`);
}

/** Rows whose text is made at once: what a chunk's would take together is many times the chunk. */
const rowsAtOnce = 8192;

/** What the texts of so many numbers take, and those before until they are given back: seen are 45 MiB. */
export const heldByRows = 2 ** 26;

/** What a group of so many rows takes that is held, put in columns and encoded, and those that were written. */
export function heldByGroup(rows: number, element: NumberElement, shape: readonly number[]): number {
  const numbers = shape.slice(1).reduce((product, extent) => product * extent, rows);
  return numbers * (6 * bytesOf(element) + 8) + 2 ** 25;
}

/** Lines depend on nothing before them. */
export const nothingKept = () => new Uint8Array();

/** The lines of elements, so many in a row, each made of a row's numbers as text. */
export function encodeRows(
  elements: TypedArray,
  element: OutputDescription['element'],
  width: number,
  lineOf: (texts: readonly string[]) => string,
): Uint8Array {
  const blocks: Uint8Array[] = [];
  const step = rowsAtOnce * width;
  for (let begin = 0; begin < elements.length; begin += step) {
    const texts = elementTexts(elements.subarray(begin, begin + step) as TypedArray, element);
    let lines = '';
    for (let at = 0; at < texts.length; at += width) lines += lineOf(texts.slice(at, at + width));
    blocks.push(Buffer.from(lines));
  }
  return Buffer.concat(blocks);
}
