// Copies and sets: the operands that a stream was given, checked and brought to bytes.
//
// Here every mistake that can be seen from the operands alone becomes an error, before a
// command exists: element types or lengths that differ, a pitch smaller than its row, a box that
// leaves its array, an array that was freed or belongs to another device.

import { WarpstageError } from '../diagnostics/error.ts';
import { bytesOf, hostForm, layoutOf } from '../kernel/layout.ts';
import { type Element, isRecordType, type NumberElement } from '../kernel/types.ts';
import { type Allocation, DeviceMemoryArray, PinnedMemoryArray, type PinnedOwner } from './arrays.ts';
import { type Box, boxBytes, flattened, type Layout } from './box.ts';
import type { Device, DeviceArray, HostOperand, Pitched, Pitched3D } from './device.ts';

/** Memory on one side of a copy, from the first byte that the operand covers. */
export type Memory =
  | { readonly kind: 'device'; readonly allocation: Allocation; readonly address: number }
  /** Host memory that the engines can reach. */
  | {
      readonly kind: 'shared';
      readonly buffer: SharedArrayBuffer;
      readonly offset: number;
      /** Of page-locked memory: whoever frees it. */
      readonly owner?: PinnedOwner;
      /** Where it is the memory of another device: what is used of it. */
      readonly allocation?: Allocation;
    }
  /** Host memory that only the main thread can reach. */
  | { readonly kind: 'pageable'; readonly bytes: Uint8Array };

export interface Side extends Layout {
  readonly memory: Memory;
}

export type Direction = 'host to device' | 'device to host' | 'device to device' | 'host to host';

export interface CopyWork {
  readonly kind: 'copy';
  readonly direction: Direction;
  readonly destination: Side;
  readonly source: Side;
  readonly box: Box;
  /** One side is another GPU's memory. */
  readonly peer: boolean;
}

export interface SetWork {
  readonly kind: 'set';
  readonly allocation: Allocation;
  readonly address: number;
  readonly bytes: number;
  readonly byte: number;
}

type Operand = DeviceArray | HostOperand;

/** An operand's memory, and the words for it in messages. */
interface Resolved {
  readonly memory: Memory;
  /** Whether it is the memory of another device. */
  readonly peer?: boolean;
  readonly element: Element;
  readonly length: number;
  /** A typed array of the host says what its numbers are, but not whether they are parts of vectors. */
  readonly isTyped?: true;
}

const elementOfTag: Readonly<Record<string, NumberElement>> = {
  Int8Array: 'i8',
  Uint8Array: 'u8',
  Uint8ClampedArray: 'u8',
  Int16Array: 'i16',
  Uint16Array: 'u16',
  Int32Array: 'i32',
  Uint32Array: 'u32',
  BigInt64Array: 'i64',
  BigUint64Array: 'u64',
  Float16Array: 'f16',
  Float32Array: 'f32',
  Float64Array: 'f64',
};

function mismatch(message: string, hint?: string): WarpstageError {
  return new WarpstageError({ code: 'WS4004', message, ...(hint === undefined ? {} : { hint }) });
}

function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
}

function resolve(device: Device, operand: Operand, purpose: string): Resolved {
  if (operand instanceof DeviceMemoryArray) {
    if (operand.device !== device) return resolvePeer(device, operand, purpose);
    operand.check(purpose);
    const { allocation, address, element, length } = operand;
    return { memory: { kind: 'device', allocation, address }, element, length };
  }
  if (operand instanceof PinnedMemoryArray) {
    const { owner, offset } = operand;
    const memory = { kind: 'shared', buffer: operand.buffer(purpose), offset, owner } as const;
    return { memory, element: operand.element, length: operand.length };
  }
  if (ArrayBuffer.isView(operand)) {
    const typed = operand as Uint8Array;
    const element = elementOfTag[typed[Symbol.toStringTag]];
    if (element !== undefined) {
      const { buffer, byteOffset, byteLength, length } = typed;
      if (isShared(buffer))
        return { memory: { kind: 'shared', buffer, offset: byteOffset }, element, length, isTyped: true };
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      return { memory: { kind: 'pageable', bytes }, element, length, isTyped: true };
    }
  }
  const given = operand === null || typeof operand !== 'object' ? String(operand) : operand.constructor?.name;
  throw mismatch(
    `${purpose} must be a device array, a page-locked array or a typed array, not ${given}`,
    'typed arrays are Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array, Float32Array and Float64Array',
  );
}

/** An array of another device: one whose memory this device reaches. */
function resolvePeer(device: Device, operand: DeviceMemoryArray, purpose: string): Resolved {
  const { allocation, address, element, length } = operand;
  const { reach } = allocation;
  const same = operand.device.properties.kind === device.properties.kind;
  if (!same) {
    throw new WarpstageError({
      code: 'WS2005',
      message: `${purpose} is an array of a device of another kind (${operand.device.properties.name})`,
      hint: 'copy between a GPU and the CPU device through an array of the host',
    });
  }
  operand.check(purpose);
  const memory: Memory =
    reach.kind === 'buffer'
      ? { kind: 'shared', buffer: reach.buffer(), offset: address, allocation }
      : { kind: 'device', allocation, address };
  if (reach.kind === 'everywhere') reach.admit(device);
  return { memory, element, length, peer: true };
}

function isOnDevice({ memory, peer }: Resolved): boolean {
  return memory.kind === 'device' || peer === true;
}

function direction(destination: Resolved, source: Resolved): Direction {
  if (isOnDevice(source)) return isOnDevice(destination) ? 'device to device' : 'device to host';
  return isOnDevice(destination) ? 'host to device' : 'host to host';
}

/** A typed array of the host as elements of the other side: as vectors, or as the bits of floats of 16. */
function asElements(call: string, side: string, one: Resolved, element: Element): Resolved {
  if (one.isTyped === undefined || one.element === element) return one;
  if (one.element === 'u16' && (element === 'f16' || element === 'bf16')) return { ...one, element };
  const { Values, numbers: components } = hostForm(element);
  const number = layoutOf(element).parts[0]!.element;
  if (components === 1 || (isRecordType(element) ? 'u8' : number) !== one.element) return one;
  if (one.length % components === 0) return { ...one, element, length: one.length / components };
  throw mismatch(
    `${call}: the ${side} has ${one.length} numbers, which are no whole elements (${element})`,
    `an element takes ${components} numbers of a ${Values.name}`,
  );
}

function resolveBoth(device: Device, call: string, destination: Operand, source: Operand) {
  const given = resolve(device, destination, `${call}: the destination`);
  const from = asElements(call, 'source', resolve(device, source, `${call}: the source`), given.element);
  const to = asElements(call, 'destination', given, from.element);
  if (to.element !== from.element) {
    throw mismatch(
      `${call}: the destination has elements of ${to.element}, the source of ${from.element}`,
      'a copy moves bytes and converts nothing; use arrays of one element type',
    );
  }
  return { to, from };
}

/** The work of `memcpyAsync`. */
export function copyWork(device: Device, destination: Operand, source: Operand): CopyWork {
  const { to, from } = resolveBoth(device, 'memcpyAsync', destination, source);
  if (to.length !== from.length) {
    const { element } = to;
    const components = hostForm(element).numbers;
    throw mismatch(
      `memcpyAsync: the destination has ${to.length} elements${components > 1 ? ` of ${element}` : ''}, the source ${from.length}`,
      components > 1
        ? `${components} numbers of a typed array are one ${element}; copy a part with subarray(begin, end)`
        : 'copy a part with subarray(begin, end)',
    );
  }
  const bytes = to.length * bytesOf(to.element);
  return {
    kind: 'copy',
    direction: direction(to, from),
    peer: to.peer === true || from.peer === true,
    destination: { memory: to.memory, row: bytes, plane: bytes },
    source: { memory: from.memory, row: bytes, plane: bytes },
    box: { width: bytes, height: 1, depth: 1 },
  };
}

function checkExtent(call: string, name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw mismatch(`${call}: the ${name} must be a whole number, not ${value}`);
}

/** Checks that a box lies within an operand of so many elements. */
function checkBox(
  call: string,
  side: string,
  length: number,
  pitch: number,
  rows: number,
  box: Box, // in elements
): void {
  checkExtent(call, `${side}'s pitch`, pitch);
  checkExtent(call, `${side}'s height`, rows);
  if (pitch < box.width) {
    throw mismatch(
      `${call}: rows of ${box.width} elements do not fit the ${side}'s pitch of ${pitch}`,
      'the pitch counts elements from the beginning of one row to that of the next',
    );
  }
  if (rows < box.height) {
    throw mismatch(`${call}: ${box.height} rows do not fit the ${side}'s planes of ${rows} rows`);
  }
  const end = ((box.depth - 1) * rows + box.height - 1) * pitch + box.width;
  if (boxBytes(box) > 0 && end > length) {
    const planes = box.depth === 1 ? '' : `${box.depth} planes of `;
    throw mismatch(
      `${call}: ${planes}${box.height} rows of ${box.width} elements, ${pitch} apart, take ${end} elements; the ${side} has ${length}`,
    );
  }
}

/** The work of `memcpy2DAsync` and `memcpy3DAsync`. */
export function copyBoxWork(
  device: Device,
  call: 'memcpy2DAsync' | 'memcpy3DAsync',
  destination: Pitched<Operand> | Pitched3D<Operand>,
  source: Pitched<Operand> | Pitched3D<Operand>,
  extent: Box, // in elements
): CopyWork {
  checkExtent(call, 'width', extent.width);
  checkExtent(call, 'height', extent.height);
  checkExtent(call, 'depth', extent.depth);
  const { to, from } = resolveBoth(device, call, destination.array, source.array);
  const size = bytesOf(to.element);
  const side = (resolved: Resolved, pitched: Pitched<Operand> | Pitched3D<Operand>, name: string): Side => {
    const rows = 'height' in pitched ? pitched.height : extent.height;
    checkBox(call, name, resolved.length, pitched.pitch, rows, extent);
    return {
      memory: resolved.memory,
      row: pitched.pitch * size,
      plane: pitched.pitch * rows * size,
    };
  };
  const toSide = side(to, destination, 'destination');
  const fromSide = side(from, source, 'source');
  const box = { width: extent.width * size, height: extent.height, depth: extent.depth };
  return {
    kind: 'copy',
    direction: direction(to, from),
    peer: to.peer === true || from.peer === true,
    destination: toSide,
    source: fromSide,
    box: flattened(box, toSide, fromSide),
  };
}

/** The work of `memsetAsync`. */
export function setWork(device: Device, destination: DeviceArray, byte: number): SetWork {
  const { memory, peer, element, length } = resolve(device, destination, 'memsetAsync: the destination');
  if (memory.kind !== 'device' || peer) {
    throw mismatch(
      'memsetAsync: the destination must be an array of this device',
      "Use the typed array's own fill() for memory of the host.",
    );
  }
  if (!Number.isInteger(byte) || byte < 0 || byte > 255) {
    throw new WarpstageError({
      code: 'WS4007',
      message: `memsetAsync: the byte must be a whole number from 0 to 255, not ${byte}`,
      hint: 'every byte is set, as by cudaMemsetAsync; to set elements, launch a kernel',
    });
  }
  const bytes = length * bytesOf(element);
  return { kind: 'set', allocation: memory.allocation, address: memory.address, bytes, byte };
}

function part(side: Side, begin: number, bytes: number): Side {
  const { memory } = side;
  const layout = { row: bytes, plane: bytes };
  if (memory.kind === 'device') {
    return { memory: { ...memory, address: memory.address + begin }, ...layout };
  }
  if (memory.kind === 'shared') return { memory: { ...memory, offset: memory.offset + begin }, ...layout };
  return { memory: { kind: 'pageable', bytes: memory.bytes.subarray(begin, begin + bytes) }, ...layout };
}

/** Pageable memory goes in pieces of this size, so that the main thread's half of a copy overlaps with the engine's. */
const pieceBytes = 8 * 1024 * 1024;

/** A long plain copy from or to pageable memory, in pieces; any other copy as it is. */
export function pieces(work: CopyWork): readonly CopyWork[] {
  const { destination, source, box } = work;
  const pageable = destination.memory.kind === 'pageable' || source.memory.kind === 'pageable';
  if (!pageable || box.height > 1 || box.depth > 1 || box.width <= pieceBytes) return [work];
  return Array.from({ length: Math.ceil(box.width / pieceBytes) }, (_, i) => {
    const begin = i * pieceBytes;
    const width = Math.min(pieceBytes, box.width - begin);
    return {
      ...work,
      destination: part(destination, begin, width),
      source: part(source, begin, width),
      box: { width, height: 1, depth: 1 },
    };
  });
}

/** The allocations that a copy or set uses. */
export function allocationsOf(work: CopyWork | SetWork): readonly Allocation[] {
  if (work.kind === 'set') return [work.allocation];
  const { source, destination } = work;
  const from = allocationOf(source.memory);
  const to = allocationOf(destination.memory);
  if (from === undefined) return to === undefined ? [] : [to];
  return to === undefined ? [from] : [from, to];
}

function allocationOf(memory: Memory): Allocation | undefined {
  return memory.kind === 'pageable' ? undefined : memory.allocation;
}
