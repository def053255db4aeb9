// A source of elements that must be decoded: a unit of its array at a time, converted as it is read.

import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { TypedArray } from '../kernel/types.ts';
import { blockLength, type Dtype, encode, roundsAgain } from './dtype.ts';
import { checkConversion, unfit } from './element-source.ts';
import { type DecodedValues, type ElementsInUnits, lengthOf, type StoredArray } from './format.ts';
import { numberToRound, storeIntegers64 } from './integers64.ts';
import type { Source, Wanted } from './source.ts';
import { isWide, setElements } from './typed-arrays.ts';

/** The most elements of a unit that is decoded within some milliseconds. */
const shortUnit = 1 << 20;

/** Decodes the units of an array as they are read. */
export class UnitSource implements Source {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[] | undefined;
  readonly length: number | undefined;
  readonly rate: number | undefined;
  /** How many units there are, where that is known. */
  readonly units: number | undefined;
  readonly decodingBytes: number;
  /** Whether it comes in several units of known lengths, each of which takes a moment to decode. */
  readonly hasShortUnits: boolean;
  readonly #wanted: Wanted;
  readonly #elements: ElementsInUnits;
  readonly #block = new Float64Array(blockLength);
  #nextUnit = 0;
  #values: DecodedValues = [];
  /** Of the values, those that were read. */
  #taken = 0;
  /** Elements that were read, of the whole. */
  #position = 0;

  /** `heldBytes`: what reading holds beside what decoding does. */
  constructor(
    name: string,
    dtype: Dtype,
    array: StoredArray,
    elements: ElementsInUnits,
    wanted: Wanted,
    heldBytes = 0,
  ) {
    checkConversion(name, dtype, wanted);
    this.name = name;
    this.dtype = dtype;
    this.shape = array.shape;
    this.length = lengthOf(array) ?? elements.lengths?.reduce((sum, length) => sum + length, 0);
    this.rate = array.rate;
    this.units = elements.lengths?.length;
    // A unit as it is stored, unpacked, and as values.
    this.decodingBytes =
      heldBytes +
      (elements.decodingBytes ??
        24 * (elements.lengths?.reduce((most, length) => Math.max(most, length), 0) ?? 0));
    const { lengths = [] } = elements;
    this.hasShortUnits = lengths.length > 1 && lengths.every((length) => length <= shortUnit);
    this.#elements = elements;
    this.#wanted = wanted;
  }

  async read(into: TypedArray): Promise<number> {
    let done = 0;
    while (done < into.length) {
      if (this.#taken === this.#values.length) {
        if (await this.#decodeNext()) continue;
        if (this.length !== undefined && this.#position < this.length) throw this.#endedEarly();
        break;
      }
      const left = Math.min(into.length - done, this.#values.length - this.#taken);
      const isSame = this.dtype === this.#wanted.element && this.#values.constructor === into.constructor;
      const length = isSame ? left : Math.min(blockLength, left);
      if (isSame) {
        // Numbers as they are: nothing is converted, and none of them is null.
        setElements(into, (this.#values as TypedArray).subarray(this.#taken, this.#taken + length), done);
      } else if (isWide(into) && (this.dtype === 'i64' || this.dtype === 'u64'))
        this.#copyIntegers(length, into, done);
      else this.#convert(length, into, done);
      this.#taken += length;
      this.#position += length;
      done += length;
    }
    return done;
  }

  /** Units before the first element that is read are not decoded, where their lengths are known. */
  async skip(elements: number): Promise<number> {
    const { lengths } = this.#elements;
    let left = elements;
    for (;;) {
      const here = Math.min(left, this.#values.length - this.#taken);
      this.#taken += here;
      left -= here;
      while (left > 0 && lengths !== undefined && left >= (lengths[this.#nextUnit] ?? Infinity)) {
        left -= lengths[this.#nextUnit++]!;
      }
      if (left === 0 || !(await this.#decodeNext())) break;
    }
    this.#position += elements - left;
    return elements - left;
  }

  /** Decodes the next unit; false behind the last. All values of the one before were taken. */
  async #decodeNext(): Promise<boolean> {
    const unit = this.#nextUnit;
    const { lengths } = this.#elements;
    if (lengths !== undefined && unit >= lengths.length) return false;
    const length = lengths?.[unit];
    let values: DecodedValues | undefined;
    try {
      values = await this.#elements.decode(unit);
    } catch (cause) {
      if (cause instanceof WarpstageError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `${this.name} cannot be decoded ${this.#rowsOf(length)}: ${why}`;
      throw problem('WS5003', message, 'is the file damaged?', cause);
    }
    if (values === undefined) return false;
    if (length !== undefined && values.length !== length) {
      throw problem(
        'WS5003',
        `${this.name} has ${count(values.length)} values ${this.#rowsOf(length)}, which are ${count(length)}`,
        'is the file damaged?',
      );
    }
    this.#nextUnit++;
    this.#values = values;
    this.#taken = 0;
    return true;
  }

  #convert(length: number, into: TypedArray, done: number): void {
    this.#fillBlock(length);
    const { element, convert } = this.#wanted;
    const bad = encode(this.#block, length, this.dtype, into, element, done, convert);
    if (bad >= 0) throw unfit(this.name, this.#position + bad, this.#block[bad]!, this.#wanted);
  }

  #copyIntegers(length: number, into: BigInt64Array | BigUint64Array, done: number): void {
    const { nulls } = this.#wanted;
    const integers = Array.from({ length }, (_, i) => {
      const value = this.#values[this.#taken + i] ?? nulls;
      if (value === undefined) throw this.#firstNull();
      if (typeof value === 'number' && !Number.isInteger(value)) {
        throw unfit(this.name, this.#position + i, value, this.#wanted);
      }
      return BigInt(value);
    });
    const bad = storeIntegers64(integers, length, into, done);
    if (bad >= 0) throw unfit(this.name, this.#position + bad, integers[bad]!, this.#wanted);
  }

  #fillBlock(length: number): void {
    const block = this.#block;
    const values = this.#values;
    const { nulls, convert, element } = this.#wanted;
    const again = roundsAgain(element);
    if (values instanceof Float32Array || values instanceof Float64Array || values instanceof Int32Array) {
      block.set(values.subarray(this.#taken, this.#taken + length));
      return;
    }
    for (let i = 0; i < length; i++) {
      const value = values[this.#taken + i];
      if (typeof value === 'number') block[i] = value;
      else if (typeof value === 'bigint') {
        block[i] = Number(value);
        const large = Math.abs(block[i]!) > Number.MAX_SAFE_INTEGER;
        if (large && convert === 'exact' && BigInt(block[i]!) !== value) {
          throw unfit(this.name, this.#position + i, value, this.#wanted);
        }
        if (large && again) block[i] = numberToRound(value);
      } else if (value === null || value === undefined) {
        if (nulls === undefined) throw this.#firstNull();
        block[i] = nulls;
      } else block[i] = value === true ? 1 : 0;
    }
  }

  #firstNull(): Error {
    const values = this.#values;
    let nulls = 0;
    for (let i = 0; i < values.length; i++) if (values[i] === null || values[i] === undefined) nulls++;
    const begin = this.#position - this.#taken;
    return hasNulls(
      this.name,
      `${count(nulls)} in rows ${count(begin)} to ${count(begin + values.length - 1)}`,
    );
  }

  #rowsOf(length: number | undefined): string {
    const begin = this.#position;
    return length === undefined
      ? `from row ${count(begin)} on`
      : `in rows ${count(begin)} to ${count(begin + length)}`;
  }

  #endedEarly(): Error {
    return problem(
      'WS5003',
      `${this.name} ended after ${count(this.#position)} of ${count(this.length!)} elements`,
      'is the file damaged?',
    );
  }
}

/** What to do about a row that holds no number among rows that do. */
export const correctRow = 'correct the row, or leave the field empty and say what stands for it: --nulls 0';

/** The error of nulls for which nothing stands. */
export function hasNulls(name: string, where: string): Error {
  return problem(
    'WS5005',
    `${name} has nulls: ${where}`,
    'say what stands for a null: --nulls 0 (inputs: { …: { nulls: 0 } } in the job)',
  );
}
