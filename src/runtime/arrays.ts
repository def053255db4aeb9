// Arrays: the device's and the page-locked ones of the host.
//
// An array is a view of an owner, and subarrays are further views of the same owner. A device
// array's owner is an Allocation: it counts the commands in flight that use it and gives its
// memory back when it was freed and the last of them is settled. A page-locked array's owner
// is a SharedArrayBuffer of its own, so that a view kept beyond `free()` can write into nobody
// else's memory.

import { WarpstageError } from '../diagnostics/error.ts';
import { alignmentOf, bytesOf, hostForm } from '../kernel/layout.ts';
import { elementCalled } from '../kernel/other-names.ts';
import { isStruct } from '../kernel/parameters.ts';
import { type CheckedShape, checkedShape, type HostShape } from '../kernel/shaped.ts';
import type { RecordOf, Struct, StructFields } from '../kernel/struct.ts';
import type { ElementType } from '../kernel/types.ts';
import { type Element, elementsInWords, type HostArray, isElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, PinnedArray, ShapedArray } from './device.ts';

/** How other devices of the kind reach a device's memory: as a buffer, or by the same addresses. */
export type Reach =
  | { readonly kind: 'buffer'; readonly buffer: () => SharedArrayBuffer }
  | { readonly kind: 'everywhere'; readonly admit: (device: Device) => void };

/** A stretch of a device's memory. */
export class Allocation {
  readonly address: number;
  readonly bytes: number;
  readonly reach: Reach;
  readonly #giveBack: () => void;
  #uses = 0;
  #freed = false;

  constructor(address: number, bytes: number, reach: Reach, giveBack: () => void) {
    this.address = address;
    this.bytes = bytes;
    this.reach = reach;
    this.#giveBack = giveBack;
  }

  get freed(): boolean {
    return this.#freed;
  }

  /** A command in flight uses it. */
  retain(): void {
    ++this.#uses;
  }

  /** That command is settled. */
  release(): void {
    if (--this.#uses === 0 && this.#freed) this.#giveBack();
  }

  /** Gives it back as soon as no command in flight uses it. */
  free(): void {
    this.#freed = true;
    if (this.#uses === 0) this.#giveBack();
  }
}

/** The elements of a part, checked as `subarray` of typed arrays is not: a bound outside is an error. */
function partOf(length: number, begin: number, end: number): void {
  if (!Number.isInteger(begin) || !Number.isInteger(end) || begin < 0 || end < begin || end > length) {
    throw new WarpstageError({
      code: 'WS4007',
      message: `subarray(${begin}, ${end}) does not lie within an array of ${length} elements`,
      hint: 'give whole numbers with 0 <= begin <= end <= length',
    });
  }
}

/** Throws unless elements may begin so many bytes from an allocation's beginning. */
function checkBeginning(
  array: { readonly element: Element; readonly length: number },
  offset: number,
  element: Element,
): void {
  const alignment = alignmentOf(element);
  if (offset % alignment === 0) return;
  throw new WarpstageError({
    code: 'WS4007',
    message: `this ${describe(array)} begins ${offset} bytes from the beginning of its memory, and ${element} begins at multiples of ${alignment}`,
    hint: `take a part that begins at a multiple of ${Math.max(1, alignment / bytesOf(array.element))} elements`,
  });
}

function describe(array: { readonly element: Element; readonly length: number }): string {
  return `${array.element} array of ${array.length} elements`;
}

/** Throws unless a length is a whole number that an array may have. */
export function checkLength(length: number): void {
  if (Number.isSafeInteger(length) && length >= 0) return;
  throw new WarpstageError({
    code: 'WS4007',
    message: `the length of an array must be a whole number of elements, not ${length}`,
  });
}

/** The element type that is named, or that of a type of records. Throws if there is none. */
export function elementOf(type: ElementType | Struct): Element {
  if (isStruct(type)) return type.element;
  const element = type;
  if (isElementType(element)) return element;
  const meant = elementCalled(String(element));
  throw new WarpstageError({
    code: 'WS4007',
    message: `there is no element type '${element}'`,
    hint: `${meant === undefined ? 'use' : `did you mean '${meant}'? it is`} one of ${elementsInWords}`,
  });
}

/** An array in the memory of a device, or a part of one. */
export class DeviceMemoryArray<E extends Element = Element> implements DeviceArray<E> {
  readonly kind = 'device';
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly byteLength: number;
  readonly allocation: Allocation;
  /** Bytes from the allocation's beginning. */
  readonly offset: number;
  readonly #whole: DeviceMemoryArray | null;

  constructor(
    device: Device,
    element: E,
    length: number,
    allocation: Allocation,
    whole: DeviceMemoryArray | null = null,
    offset = 0,
  ) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.byteLength = length * bytesOf(element);
    this.allocation = allocation;
    this.#whole = whole;
    this.offset = offset;
  }

  /** Where its first element lies in the device's memory. */
  get address(): number {
    return this.allocation.address + this.offset;
  }

  /** Throws WS4002 if it was freed. `purpose` says what it was wanted for. */
  check(purpose: string): void {
    if (!this.allocation.freed) return;
    throw new WarpstageError({
      code: 'WS4002',
      message: `${purpose}: the ${describe(this)} was freed`,
      hint: 'free an array after the last call that names it; commands already issued are safe',
    });
  }

  subarray(begin: number, end: number = this.length): DeviceArray<E> {
    this.check('subarray');
    partOf(this.length, begin, end);
    const offset = this.offset + begin * bytesOf(this.element);
    const whole = this.#whole ?? this;
    return new DeviceMemoryArray(this.device, this.element, end - begin, this.allocation, whole, offset);
  }

  as<F extends StructFields>(type: Struct<F>): DeviceArray<RecordOf<F>>;
  as<A extends ElementType>(element: A): DeviceArray<A>;
  as(type: ElementType | Struct): DeviceArray {
    this.check('as');
    const element = elementOf(type);
    checkBeginning(this, this.offset, element);
    const length = Math.floor(this.byteLength / bytesOf(element));
    const whole: DeviceMemoryArray = this.#whole ?? this;
    return new DeviceMemoryArray<Element>(this.device, element, length, this.allocation, whole, this.offset);
  }

  shaped<const S extends HostShape>(shape: S, pitch?: number): ShapedArray<E, S> {
    this.check('shaped');
    return new ShapedMemoryArray(this, checkedShape(shape, pitch, this.length)) as ShapedArray<
      Element,
      HostShape
    > as ShapedArray<E, S>;
  }

  free(): void {
    if (this.#whole !== null) {
      throw new WarpstageError({
        code: 'WS4007',
        message: `free: this ${describe(this)} is a part of an ${describe(this.#whole)}`,
        hint: 'free the whole array; its parts go with it',
      });
    }
    this.check('free');
    this.allocation.free();
  }

  [Symbol.dispose](): void {
    if (this.#whole === null && !this.allocation.freed) this.allocation.free();
  }
}

/** An array of a device with its shape; none of it ever changes. */
export class ShapedMemoryArray<E extends Element = Element> implements ShapedArray<E> {
  readonly array: DeviceMemoryArray<E>;
  readonly shape: HostShape;
  readonly pitch: number;

  constructor(array: DeviceMemoryArray<E>, { shape, pitch }: CheckedShape) {
    this.array = array;
    this.shape = shape as unknown as HostShape;
    this.pitch = pitch;
    Object.freeze(this);
  }
}

type ViewConstructor<A> = new (buffer: SharedArrayBuffer, offset: number, length: number) => A;

/** What the views of one page-locked array share. */
export interface PinnedOwner {
  /** Null when it was freed. */
  buffer: SharedArrayBuffer | null;
  /** Where the array's memory begins in it. */
  readonly begin: number;
  /** Called when it was. */
  readonly freed: () => void;
}

/** An array in page-locked host memory, or a part of one. */
export class PinnedMemoryArray<E extends Element = Element> implements PinnedArray<E> {
  readonly kind = 'pinned';
  readonly element: E;
  readonly length: number;
  readonly #owner: PinnedOwner;
  readonly #offset: number;
  readonly #isPart: boolean;
  #array: HostArray<E> | null = null;

  constructor(element: E, length: number, owner: PinnedOwner, part: { offset: number } | null = null) {
    this.element = element;
    this.length = length;
    this.#owner = owner;
    this.#offset = part?.offset ?? owner.begin;
    this.#isPart = part !== null;
  }

  get byteLength(): number {
    return this.length * bytesOf(this.element);
  }

  /** Who frees it. */
  get owner(): PinnedOwner {
    return this.#owner;
  }

  /** Bytes from the beginning of `buffer`. */
  get offset(): number {
    return this.#offset;
  }

  /** The owner's memory. Throws WS4002 if it was freed. */
  buffer(purpose: string): SharedArrayBuffer {
    if (this.#owner.buffer !== null) return this.#owner.buffer;
    throw new WarpstageError({
      code: 'WS4002',
      message: `${purpose}: the page-locked ${describe(this)} was freed`,
      hint: 'free an array after its last use',
    });
  }

  get array(): HostArray<E> {
    const buffer = this.buffer('array');
    const { Values, numbers } = hostForm(this.element);
    const TypedArray = Values as unknown as ViewConstructor<HostArray<E>>;
    this.#array ??= new TypedArray(buffer, this.#offset, this.length * numbers);
    return this.#array;
  }

  subarray(begin: number, end: number = this.length): PinnedArray<E> {
    this.buffer('subarray');
    partOf(this.length, begin, end);
    const offset = this.#offset + begin * bytesOf(this.element);
    return new PinnedMemoryArray(this.element, end - begin, this.#owner, { offset });
  }

  as<F extends StructFields>(type: Struct<F>): PinnedArray<RecordOf<F>>;
  as<A extends ElementType>(element: A): PinnedArray<A>;
  as(type: ElementType | Struct): PinnedArray {
    this.buffer('as');
    const element = elementOf(type);
    checkBeginning(this, this.#offset - this.#owner.begin, element);
    const length = Math.floor(this.byteLength / bytesOf(element));
    return new PinnedMemoryArray<Element>(element, length, this.#owner, { offset: this.#offset });
  }

  free(): void {
    if (this.#isPart) {
      throw new WarpstageError({
        code: 'WS4007',
        message: `free: this ${describe(this)} is a part of a page-locked array`,
        hint: 'free the whole array; its parts go with it',
      });
    }
    this.buffer('free');
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#isPart || this.#owner.buffer === null) return;
    this.#owner.buffer = null;
    this.#array = null;
    this.#owner.freed();
  }
}
