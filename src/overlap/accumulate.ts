// Accumulators: arrays that stay on the device from the first chunk to the last, and become the
// job's result.
//
// There is one array of each, whatever the depth: kernels of a job with accumulators run one
// after the other, in the order of their chunks. So a block finds what the same block of the
// chunk before left, and the result does not depend on how the chunks' copies overlapped.

import { type ElementType, elementBytes } from '../kernel/types.ts';
import type { Device, DeviceArray, Stream } from '../runtime/device.ts';
import { type ElementValue, fillElements, newArray, setElement } from './elements.ts';
import type { AccumulatorDeclaration, JobContext, TypedArray } from './job.ts';
import { count, problem } from './problem.ts';

/** An accumulator with its memory on the device. */
export class Accumulator {
  readonly name: string;
  readonly array: DeviceArray;
  /** Blocks that it has room for. */
  readonly blocks: number;
  readonly #declaration: AccumulatorDeclaration;
  readonly #element: ElementType;
  /** Elements of one block, or of all. */
  readonly #length: number;

  constructor(
    device: Device,
    name: string,
    element: ElementType,
    declaration: AccumulatorDeclaration,
    context: JobContext,
    blocks: number,
  ) {
    this.name = name;
    this.#element = element;
    this.#declaration = declaration;
    this.#length = lengthOfAccumulator(name, declaration, context);
    this.blocks = declaration.per === 'block' ? blocks : Infinity;
    this.array = device.alloc(element, this.#length * (declaration.per === 'block' ? blocks : 1));
  }

  /** Sets the elements to their initial value. The host's array must live until the stream is through. */
  initialise(stream: Stream): void {
    stream.memcpyAsync(this.array, initialArray(this.#element, this.#declaration, this.array.length));
  }

  /** Brings the elements back, with those of different blocks combined. */
  async collect(stream: Stream): Promise<TypedArray> {
    const host = newArray(this.#element, this.array.length);
    stream.memcpyAsync(host, this.array);
    await stream.synchronize();
    const { combine = 'sum', per } = this.#declaration;
    if (per !== 'block' || combine === 'concat') return host;
    // A fold of the user's own takes what its array holds, as TypeScript cannot follow.
    const fold = (typeof combine === 'function' ? combine : folds[combine]) as Fold;
    const result = host.slice(0, this.#length);
    for (let i = 0; i < this.#length; i++) {
      // In f64, so that the sum of many blocks is rounded once.
      let value: ElementValue = host[i]!;
      for (let at = i + this.#length; at < host.length; at += this.#length) value = fold(value, host[at]!);
      setElement(result, i, value);
    }
    return result;
  }
}

/** What an accumulator of so many elements holds before the first chunk. */
export function initialArray(
  element: ElementType,
  { initial, combine }: AccumulatorDeclaration,
  length: number,
): TypedArray {
  const host = newArray(element, length);
  fillElements(host, initial ?? neutral(combine, element));
  return host;
}

type Fold = (a: ElementValue, b: ElementValue) => ElementValue;

const folds = {
  sum: (a: ElementValue, b: ElementValue) => (a as number) + (b as number),
  min: lesser,
  max: greater,
} satisfies Record<string, Fold>;

/** Math.min takes no bigints. */
function lesser(a: ElementValue, b: ElementValue): ElementValue {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  return a < b ? a : b;
}

function greater(a: ElementValue, b: ElementValue): ElementValue {
  if (typeof a === 'number' && typeof b === 'number') return Math.max(a, b);
  return a > b ? a : b;
}

/** What combining leaves unchanged. */
function neutral(combine: AccumulatorDeclaration['combine'], element: ElementType): ElementValue {
  if (combine !== 'min' && combine !== 'max') return 0;
  if (element.startsWith('f')) return combine === 'min' ? Infinity : -Infinity;
  const bits = BigInt(8 * elementBytes[element]);
  const signed = element.startsWith('i');
  if (combine === 'min') return 2n ** (signed ? bits - 1n : bits) - 1n;
  return signed ? -(2n ** (bits - 1n)) : 0n;
}

/** Elements of an accumulator, of one block or of all. */
export function lengthOfAccumulator(
  name: string,
  { length = 1 }: AccumulatorDeclaration,
  context: JobContext,
): number {
  const elements =
    typeof length === 'function'
      ? length(context)
      : typeof length === 'string'
        ? context.settings[length]
        : length;
  if (typeof elements === 'number' && Number.isSafeInteger(elements) && elements > 0) return elements;
  const value = typeof elements === 'number' ? count(elements) : String(elements);
  throw problem(
    'WS5007',
    `accumulators.${name}.length of the job must give a positive count of elements, and gave ${value}`,
  );
}
