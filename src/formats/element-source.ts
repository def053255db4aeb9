// A source of elements that lie in bytes as they lie in memory, converted as they are read where the kernel
// has another type.

import { count, counted } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import type { ByteReader, FilePlace } from './bytes.ts';
import {
  blockLength,
  conversionProblem,
  type Dtype,
  decode,
  describeType,
  dtypeBytes,
  encode,
} from './dtype.ts';
import { lengthOf, type StoredArray } from './format.ts';
import { storeIntegers64, viewIntegers64 } from './integers64.ts';
import type { Source, Wanted } from './source.ts';
import { isWide } from './typed-arrays.ts';

/** Bytes that are read at once where they have to be converted. */
const scratchBytes = 1 << 20;

/** Refuses a type that cannot become the kernel's. */
export function checkConversion(name: string, dtype: Dtype, { parameter, element, convert }: Wanted): void {
  const why = conversionProblem(dtype, element, convert);
  if (why === null) return;
  throw problem(
    'WS5005',
    `${name} holds ${dtype}, and parameter '${parameter}' of the kernel is ${element}[]: ${why}`,
    `have them rounded: --convert nearest (convert: 'nearest' in a program); ` +
      `or declare ${parameter}: 'readonly ${dtype}[]' in the kernel`,
  );
}

/** Refuses the value at a position. */
export function unfit(
  name: string,
  position: number,
  value: number | bigint,
  { parameter, element }: Wanted,
): Error {
  return problem(
    'WS5005',
    `${name}: element ${count(position)} is ${value}, which is no value of ${describeType(element)}, ` +
      `the type of parameter '${parameter}'`,
    'declare the parameter with a wider type, or mend the data',
  );
}

/** Elements of a type, one after the other from where `bytes` stands. */
export class ElementSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly rate: number | undefined;
  readonly decodingBytes: number;
  readonly #bytes: ByteReader;
  readonly #wanted: Wanted;
  readonly #scratch: Uint8Array | undefined;
  readonly #block = new Float64Array(blockLength);
  #position = 0;

  constructor(
    name: string,
    bytes: ByteReader,
    dtype: Dtype,
    array: Pick<StoredArray, 'shape' | 'length' | 'rate'>,
    wanted: Wanted,
    heldBytes = 0,
  ) {
    checkConversion(name, dtype, wanted);
    this.decodingBytes = heldBytes + scratchBytes;
    this.name = name;
    this.dtype = dtype;
    this.shape = array.shape;
    this.length = lengthOf(array);
    this.rate = array.rate;
    this.#bytes = bytes;
    this.#wanted = wanted;
    if (dtype !== wanted.element) this.#scratch = new Uint8Array(scratchBytes);
  }

  async read(into: TypedArray): Promise<number> {
    const asked =
      this.length === undefined ? into.length : Math.min(into.length, this.length - this.#position);
    const got =
      this.#scratch === undefined
        ? await this.#readSame(into, asked)
        : await this.#readConverted(into, asked, this.#scratch);
    if (got < asked && this.length !== undefined) throw this.endedEarly(this.#position + got);
    this.#position += got;
    if (this.#position === this.length) await this.#bytes.finish?.();
    return got;
  }

  async skip(elements: number): Promise<number> {
    const left = this.length === undefined ? elements : Math.min(elements, this.length - this.#position);
    const width = dtypeBytes[this.dtype];
    let skipped = left;
    if (this.#bytes.skip !== undefined) this.#bytes.skip(left * width);
    else skipped = await this.#readAside(left * width);
    this.#position += skipped;
    return skipped;
  }

  /** Reads bytes that nobody wants, where only that leads behind them. */
  async #readAside(bytes: number): Promise<number> {
    const scratch = this.#scratch ?? new Uint8Array(scratchBytes);
    let done = 0;
    while (done < bytes) {
      const wanted = scratch.subarray(0, bytes - done);
      const read = await this.#bytes.read(wanted);
      done += read;
      if (read < wanted.length) break;
    }
    return this.#whole(done, 0);
  }

  place(): FilePlace | undefined {
    return this.#scratch === undefined ? this.#bytes.place?.() : undefined;
  }

  endedEarly(elements: number): Error {
    const actual = elements * dtypeBytes[this.dtype];
    if (this.#bytes.size === undefined)
      return truncated(this.name, this.shape ?? [this.length!], this.dtype, actual);
    return problem(
      'WS5003',
      `${this.name} ended after ${count(actual)} of ${count(this.length! * dtypeBytes[this.dtype])} bytes`,
      'something shortened it while it was read',
    );
  }

  async #readSame(into: TypedArray, asked: number): Promise<number> {
    const width = dtypeBytes[this.dtype];
    const bytes = await this.#bytes.read(new Uint8Array(into.buffer, into.byteOffset, asked * width));
    return this.#whole(bytes, 0);
  }

  async #readConverted(into: TypedArray, asked: number, scratch: Uint8Array): Promise<number> {
    const width = dtypeBytes[this.dtype];
    let done = 0;
    while (done < asked) {
      const bytes = await this.#bytes.read(scratch.subarray(0, (asked - done) * width));
      const got = this.#whole(bytes, done);
      if (isWide(into) && (this.dtype === 'i64' || this.dtype === 'u64'))
        this.#copyIntegers(this.dtype, scratch, got, into, done);
      else this.#convert(scratch, got, into, done);
      done += got;
      if (bytes < scratch.length) break;
    }
    return done;
  }

  #convert(scratch: Uint8Array, count: number, into: TypedArray, done: number): void {
    const { element, convert } = this.#wanted;
    const block = this.#block;
    for (let begin = 0; begin < count; begin += blockLength) {
      const length = Math.min(blockLength, count - begin);
      const inexact = decode(this.dtype, element, scratch, begin, length, block);
      if (inexact >= 0 && convert === 'exact') throw this.#inexact(scratch, done, begin + inexact);
      const bad = encode(block, length, this.dtype, into, element, done + begin, convert);
      if (bad >= 0) throw unfit(this.name, this.#position + done + begin + bad, block[bad]!, this.#wanted);
    }
  }

  #copyIntegers(
    dtype: 'i64' | 'u64',
    scratch: Uint8Array,
    count: number,
    into: BigInt64Array | BigUint64Array,
    done: number,
  ): void {
    const integers = viewIntegers64(dtype, scratch, count);
    const bad = storeIntegers64(integers, count, into, done);
    if (bad >= 0) throw unfit(this.name, this.#position + done + bad, integers[bad]!, this.#wanted);
  }

  #inexact(scratch: Uint8Array, done: number, at: number): Error {
    const view = new DataView(scratch.buffer, scratch.byteOffset + at * 8, 8);
    const value = this.dtype === 'i64' ? view.getBigInt64(0, true) : view.getBigUint64(0, true);
    return unfit(this.name, this.#position + done + at, value, this.#wanted);
  }

  /** Elements in so many bytes; bytes that are no whole element are an error at the end of a stream. */
  #whole(bytes: number, before: number): number {
    const width = dtypeBytes[this.dtype];
    if (bytes % width === 0) return bytes / width;
    throw notWhole(this.name, (this.#position + before) * width + bytes, this.dtype);
  }
}

/** The error of a file with fewer bytes than what it says of itself takes. */
export function truncated(name: string, shape: readonly number[], dtype: Dtype, actual: number): Error {
  const expected = shape.reduce((product, extent) => product * extent, dtypeBytes[dtype]);
  return problem(
    'WS5003',
    `${name} is truncated: its header announces ${counted(expected, 'byte')} of data ` +
      `(shape (${shape.join(', ')}), ${dtype}), and ${count(actual)} are there`,
    'copy or download it again',
  );
}

/** The error of bytes that are no whole elements. */
export function notWhole(name: string, bytes: number, dtype: Dtype): Error {
  return problem(
    'WS5003',
    `${name} has ${counted(bytes, 'byte')}, which is no whole number of ${dtype} elements (${dtypeBytes[dtype]} bytes each)`,
    'name the type of its elements with --dtype (dtype of the input in a program)',
  );
}
