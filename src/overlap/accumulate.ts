// Accumulators: arrays that stay on the device from the first chunk to the last, and become the
// job's result.
//
// There is one array of each on a device, whatever the depth: kernels of a job with accumulators
// run one after the other, in the order of their chunks. So a block finds what the same block of the
// chunk before left, and the result does not depend on how the chunks' copies overlapped. Several
// devices take the chunks in rotation, and what they found is combined as that of blocks is: the
// result depends on their number, but not on which was faster.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { type ElementValue, fillElements, newArray, setElement } from '../formats/typed-arrays.ts';
import { bytesOf } from '../kernel/layout.ts';
import type { ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, Stream } from '../runtime/device.ts';
import type { AccumulatorDeclaration, AnyDefinition, JobContext, TypedArray } from './job.ts';

/** An accumulator, with its memory on every device of a run. */
export class Accumulator {
  readonly name: string;
  /** Elements on a device. */
  readonly length: number;
  /** Blocks that it has room for. */
  readonly blocks: number;
  readonly #declaration: AccumulatorDeclaration;
  readonly #element: ElementType;
  /** Elements of what the blocks are combined to. */
  readonly #resultLength: number;

  constructor(
    name: string,
    element: ElementType,
    declaration: AccumulatorDeclaration,
    context: JobContext,
    blocks: number,
  ) {
    this.name = name;
    this.#element = element;
    this.#declaration = declaration;
    const length = lengthOfAccumulator(name, declaration, context);
    const isOfBlocks = declaration.per === 'block';
    this.blocks = isOfBlocks ? blocks : Infinity;
    this.length = length * (isOfBlocks ? blocks : 1);
    this.#resultLength = isOfBlocks && declaration.combine !== 'concat' ? length : this.length;
  }

  /** Its memory on a device. */
  allocate(device: Device): DeviceArray {
    return device.alloc(this.#element, this.length);
  }

  /**
   * Sets its memory on a device to the initial value. What the caller said counts
   * once: where the elements of several devices are combined, those of all but the `first` begin with
   * what combining leaves unchanged, as far as that is known.
   */
  begin(array: DeviceArray, stream: Stream, first: boolean): void {
    const { combine, initial } = this.#declaration;
    const isKnown = typeof combine !== 'function';
    const begin = first || !isKnown || initial === undefined ? this.#declaration : { combine };
    stream.memcpyAsync(array, initialArray(this.#element, begin as AccumulatorDeclaration, this.length));
  }

  /** Memory of the host for what a device has of it. */
  host(): TypedArray {
    return newArray(this.#element, this.length);
  }

  /** Brings the elements back from the devices that took part, with those of different blocks combined. */
  async collect(
    parts: readonly { readonly array: DeviceArray; readonly stream: Stream }[],
  ): Promise<TypedArray> {
    const hosts = await Promise.all(
      parts.map(async ({ array, stream }) => {
        const host = this.host();
        stream.memcpyAsync(host, array);
        await stream.synchronize();
        return host;
      }),
    );
    const [first, ...others] = hosts as [TypedArray, ...TypedArray[]];
    const length = this.#resultLength;
    if (others.length === 0 && length === this.length) return first;
    const { combine = 'sum' } = this.#declaration;
    // A fold of the user's own takes what its array holds, as TypeScript cannot follow. That of
    // 'concat' never comes to pass: it leaves blocks as they are, and is for one device alone.
    const fold = (typeof combine === 'function' ? combine : folds[combine as keyof typeof folds]) as Fold;
    const result = first.slice(0, length);
    for (let i = 0; i < length; i++) {
      // In f64, so that the sum of many blocks is rounded once.
      let value: ElementValue = first[i]!;
      for (let at = i + length; at < first.length; at += length) value = fold(value, first[at]!);
      for (const other of others) {
        for (let at = i; at < other.length; at += length) value = fold(value, other[at]!);
      }
      setElement(result, i, value);
    }
    return result;
  }
}

/** What parts of a reduction have found, each on its own, combined in their order. */
export function combineParts(
  { combine = 'sum' }: AccumulatorDeclaration,
  parts: readonly TypedArray[],
): TypedArray {
  const fold = (typeof combine === 'function' ? combine : folds[combine as keyof typeof folds]) as Fold;
  const [first, ...others] = parts as [TypedArray, ...TypedArray[]];
  const result = first.slice();
  for (let i = 0; i < result.length; i++) {
    let value: ElementValue = first[i]!;
    for (const other of others) value = fold(value, other[i]!);
    setElement(result, i, value);
  }
  return result;
}

/**
 * Refuses accumulators that several devices cannot have, or several pieces of the rows: what each of them found must be
 * combined, and only the job knows how.
 */
export function checkCombinable(
  { name, accumulators = {} }: Pick<AnyDefinition, 'name' | 'accumulators'>,
  parts: 'devices' | 'pieces' = 'devices',
): void {
  for (const [accumulator, { per = 'job', combine }] of Object.entries(accumulators)) {
    const subject = `accumulator '${accumulator}' of ${name === undefined ? 'the job' : `job \`${name}\``}`;
    if (combine === 'concat') {
      throw problem(
        'WS5007',
        `${subject} leaves the elements of different blocks as they are, and those of several ${parts} have no order`,
        `run it ${parts === 'devices' ? 'on one device' : 'without --queue'}, or have the elements combined: 'sum', 'min', 'max' or a function`,
      );
    }
    if (per === 'job' && combine === undefined) {
      throw problem(
        'WS5007',
        `${subject} does not say how what several ${parts} found becomes one result`,
        "say in the job what its kernel does to the elements: combine: 'sum', 'min', 'max' or a function",
      );
    }
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
  const bits = BigInt(8 * bytesOf(element));
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
