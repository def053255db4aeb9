// Files that follow one another along their first dimension, read as one input.
//
// All are looked at before anything is read, so that what does not fit together is found then; but only one is open at
// a time, whatever their number. What they hold is what one file of all their rows would: where one ends within a chunk, the
// next goes on. Their lengths say where a run begins again.

import { count, counted } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Dtype } from '../formats/dtype.ts';
import type { Source } from '../formats/source.ts';
import type { TypedArray } from './job.ts';

/** A file of a list, as it was when it was looked at. */
export interface ListedFile {
  readonly file: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly rate: number | undefined;
  readonly decodingBytes: number;
}

/** A source that is open. */
export interface OpenPart {
  readonly source: Source;
  /** Never throws. */
  close(): Promise<void>;
}

/** Reads files one behind the other. */
export class ListSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly rate: number | undefined;
  readonly decodingBytes: number;
  readonly #files: readonly ListedFile[];
  readonly #open: (position: number) => Promise<OpenPart>;
  #position = 0;
  #part: Promise<OpenPart> | undefined;
  #closed = false;

  /** `open`: opens the file at a position of the list. */
  constructor(files: readonly ListedFile[], open: (position: number) => Promise<OpenPart>) {
    const [first, ...others] = files as readonly [ListedFile, ...ListedFile[]];
    for (const other of others) checkAlike(first, other);
    this.name = `${first.file} and ${counted(others.length, 'more file')}`;
    this.dtype = first.dtype;
    const rows = total(files.map(({ shape }) => shape?.[0]));
    this.shape = first.shape && rows !== undefined ? [rows, ...first.shape.slice(1)] : undefined;
    this.length = total(files.map(({ length }) => length));
    this.rate = files.every(({ rate }) => rate === first.rate) ? first.rate : undefined;
    this.decodingBytes = Math.max(...files.map(({ decodingBytes }) => decodingBytes));
    this.#files = files;
    this.#open = open;
  }

  async read(into: TypedArray): Promise<number> {
    let done = 0;
    while (done < into.length && this.#position < this.#files.length) {
      const wanted = into.subarray(done) as TypedArray;
      const read = await (await this.#source()).read(wanted);
      done += read;
      if (read < wanted.length) await this.#next();
    }
    return done;
  }

  /** Files before the first element that is read are not opened, where their lengths are known. */
  async skip(elements: number): Promise<number> {
    let left = elements;
    while (left > 0 && this.#position < this.#files.length) {
      const { length = Infinity } = this.#files[this.#position]!;
      if (this.#part === undefined && length <= left) {
        left -= length;
        this.#position++;
        continue;
      }
      const skipped = await (await this.#source()).skip!(left);
      left -= skipped;
      if (left > 0) await this.#next();
    }
    return elements - left;
  }

  /** Closes what is open. Never throws. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#part?.then(
      (part) => part.close(),
      () => {},
    );
  }

  async #source(): Promise<Source> {
    const file = this.#files[this.#position]!;
    this.#part ??= this.#open(this.#position);
    const { source, close } = await this.#part;
    if (this.#closed) {
      await close();
      throw problem('WS5003', `${file.file} was closed while it was read`);
    }
    if (source.dtype !== file.dtype || source.length !== file.length || !sameShape(source.shape, file.shape))
      throw problem('WS5003', `${file.file} changed while files before it were read`, 'run it again');
    return source;
  }

  async #next(): Promise<void> {
    await (await this.#part)!.close();
    this.#part = undefined;
    this.#position++;
  }
}

/** The sum; undefined where one is not known. */
function total(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce<number | undefined>(
    (sum, one) => (sum === undefined || one === undefined ? undefined : sum + one),
    0,
  );
}

/** Refuses files that cannot follow one another: of different types, or with rows of different shapes. */
function checkAlike(first: ListedFile, other: ListedFile): void {
  const pair = 'they are given as one input, and';
  if (first.dtype !== other.dtype) {
    throw problem(
      'WS5005',
      `${first.file} holds ${first.dtype}, and ${other.file} ${other.dtype}: ${pair} must have one type`,
      'convert one of them, or leave it out of the list',
    );
  }
  if (first.shape?.length === 0 || other.shape?.length === 0) {
    const single = first.shape?.length === 0 ? first : other;
    throw problem(
      'WS5005',
      `${single.file} is a single number (shape ()): ${pair} follow one another along their first dimension`,
      'give it one: numpy.save(name, numpy.atleast_1d(x))',
    );
  }
  if (sameShape(first.shape?.slice(1), other.shape?.slice(1))) return;
  throw problem(
    'WS5005',
    `${first.file} has ${rowsOf(first)}, and ${other.file} ${rowsOf(other)}: ${pair} must have rows of one shape`,
    'their shapes may differ in the first extent alone',
  );
}

function rowsOf({ shape }: ListedFile): string {
  return shape === undefined ? 'no shape' : `shape (${shape.map(count).join(', ')})`;
}

function sameShape(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((extent, i) => extent === b[i]);
}
