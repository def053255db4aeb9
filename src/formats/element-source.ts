// A source of elements over bytes: raw data, and .npy files behind their header.

import { count, counted, problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import type { ByteReader } from './bytes.ts';
import {
  blockLength,
  conversionProblem,
  type Dtype,
  decode,
  describeType,
  dtypeBytes,
  encode,
} from './dtype.ts';
import { type NpyHeader, readNpyHeader } from './npy-header.ts';
import type { Source, Wanted } from './source.ts';

/** Bytes that are read at once where they have to be converted. */
const scratchBytes = 1 << 20;

/** Elements without a header. */
export function rawSource(bytes: ByteReader, dtype: Dtype, wanted: Wanted): Source {
  const width = dtypeBytes[dtype];
  if (bytes.size !== undefined && bytes.size % width !== 0) throw notWhole(bytes.name, bytes.size, dtype);
  return new ElementSource(bytes, dtype, wanted, undefined, bytes.size && bytes.size / width);
}

/** Elements behind a .npy header, which is read here. */
export async function npySource(bytes: ByteReader, wanted: Wanted): Promise<Source> {
  const header = await readNpyHeader(bytes);
  if (bytes.size !== undefined) checkComplete(bytes.name, header, bytes.size - header.headerBytes);
  return new ElementSource(bytes, header.dtype, wanted, header, header.length);
}

/** Refuses a type that cannot become the kernel's. */
export function checkConversion(name: string, dtype: Dtype, { parameter, element, convert }: Wanted): void {
  const why = conversionProblem(dtype, element, convert);
  if (why === null) return;
  throw problem(
    'WS5005',
    `${name} holds ${dtype}, and parameter '${parameter}' of the kernel is ${element}[]: ${why}`,
    `save the data as ${element}, declare the parameter as ${dtype === 'f64' ? 'f64' : element}[], ` +
      `or let values be rounded with convert: 'nearest' in the job`,
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

class ElementSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly #bytes: ByteReader;
  readonly #wanted: Wanted;
  readonly #header: NpyHeader | undefined;
  readonly #scratch: Uint8Array | undefined;
  #position = 0;

  constructor(
    bytes: ByteReader,
    dtype: Dtype,
    wanted: Wanted,
    header: NpyHeader | undefined,
    length: number | undefined,
  ) {
    checkConversion(bytes.name, dtype, wanted);
    this.name = bytes.name;
    this.dtype = dtype;
    this.shape = header?.shape;
    this.length = length;
    this.#bytes = bytes;
    this.#wanted = wanted;
    this.#header = header;
    if (dtype !== wanted.element) this.#scratch = new Uint8Array(scratchBytes);
  }

  async read(into: TypedArray): Promise<number> {
    const asked =
      this.length === undefined ? into.length : Math.min(into.length, this.length - this.#position);
    const got =
      this.#scratch === undefined
        ? await this.#readSame(into, asked)
        : await this.#readConverted(into, asked, this.#scratch);
    if (got < asked && this.length !== undefined) this.#endedEarly(got);
    this.#position += got;
    return got;
  }

  async skip(elements: number): Promise<void> {
    this.#bytes.skip!(elements * dtypeBytes[this.dtype]);
    this.#position += elements;
  }

  async #readSame(into: TypedArray, asked: number): Promise<number> {
    const width = dtypeBytes[this.dtype];
    const bytes = await this.#bytes.read(new Uint8Array(into.buffer, into.byteOffset, asked * width));
    return this.#whole(bytes, 0);
  }

  async #readConverted(into: TypedArray, asked: number, scratch: Uint8Array): Promise<number> {
    const width = dtypeBytes[this.dtype];
    const block = new Float64Array(blockLength);
    let done = 0;
    while (done < asked) {
      const bytes = await this.#bytes.read(scratch.subarray(0, (asked - done) * width));
      const got = this.#whole(bytes, done);
      for (let begin = 0; begin < got; begin += blockLength) {
        const length = Math.min(blockLength, got - begin);
        const { element, convert } = this.#wanted;
        const inexact = decode(this.dtype, scratch, begin, length, block);
        if (inexact >= 0 && convert === 'exact') throw this.#inexact(scratch, done, begin + inexact);
        const bad = encode(block, length, this.dtype, into, element, done + begin, convert);
        if (bad >= 0) throw unfit(this.name, this.#position + done + begin + bad, block[bad]!, this.#wanted);
      }
      done += got;
      if (bytes < scratch.length) break;
    }
    return done;
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

  #endedEarly(got: number): never {
    const width = dtypeBytes[this.dtype];
    const actual = (this.#position + got) * width;
    if (this.#header !== undefined) checkComplete(this.name, this.#header, actual);
    const hint = 'something shortened it while it was read';
    throw problem(
      'WS5003',
      `${this.name} ended after ${count(actual)} of ${count(this.length! * width)} bytes`,
      hint,
    );
  }
}

function checkComplete(name: string, header: NpyHeader, actual: number): void {
  const expected = header.length * dtypeBytes[header.dtype];
  if (actual >= expected) return;
  throw problem(
    'WS5003',
    `${name} is truncated: its header announces ${counted(expected, 'byte')} of data ` +
      `(shape (${header.shape.join(', ')}), ${header.dtype}), and ${count(actual)} are there`,
    'copy or download it again',
  );
}

function notWhole(name: string, bytes: number, dtype: Dtype): Error {
  return problem(
    'WS5003',
    `${name} has ${counted(bytes, 'byte')}, which is no whole number of ${dtype} elements (${dtypeBytes[dtype]} bytes each)`,
    'name the type of its elements with --dtype (dtype of the input in a program)',
  );
}
