// What may be wrong with the operands of a memcpyAsync, in words: the same on every target.

import type { Range } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import type { Fault } from './executable.ts';

/** One side of a copy. */
export interface CopyOperand {
  readonly array: string;
  /** Elements from the array's start. */
  readonly offset: number;
  readonly length: number;
  /** Where the array lies: a memory, by identity, and the byte of its first element in it. */
  readonly memory: unknown;
  readonly address: number;
}

export interface CopyOperands {
  readonly destination: CopyOperand;
  readonly source: CopyOperand;
  readonly count: number;
  /** So many elements at the end are not read. */
  readonly zeroFill: number;
  readonly elementBytes: number;
  /** What the program promises. */
  readonly alignment: number;
}

/** Where a copy stands and who carries it out. */
export interface CopyPlace {
  readonly range: Range;
  readonly thread: Extent3;
  readonly block: Extent3;
}

/** The fault of a copy, or null if it may be carried out. */
export function copyFault(operands: CopyOperands, place: CopyPlace): Fault | null {
  const outside = outsideOf(operands);
  if (outside !== null) {
    const { operand, count } = outside;
    const { array, offset: index, length } = operand;
    return { kind: 'out-of-range', array, access: 'copy', index, count, length, ...place };
  }
  const misuse =
    negativeCount(operands) ?? wrongZeros(operands) ?? overlap(operands) ?? misalignment(operands);
  return misuse && { kind: 'misuse', code: 'WS3005', ...misuse, ...place };
}

interface Misuse {
  readonly message: string;
  readonly hint: string;
}

/**
 * The first operand that is not inside its array, and how much of it is accessed; what is wrong with a count
 * itself is found elsewhere.
 */
function outsideOf({ source, destination, count, zeroFill }: CopyOperands) {
  if (count < 0 || zeroFill < 0 || zeroFill > count) return null;
  const parts = [
    { operand: source, count: count - zeroFill },
    { operand: destination, count },
  ];
  // A source of which nothing is read may lie anywhere: behind the end of an array all is zero.
  const [read, written] = zeroFill > 0 && zeroFill === count ? [undefined, parts[1]] : parts;
  return [read, written].find((part) => part !== undefined && !isInside(part.operand, part.count)) ?? null;
}

function isInside({ offset, length }: CopyOperand, count: number): boolean {
  return offset >= 0 && offset + count <= length;
}

function wrongZeros({ source, destination, count, zeroFill }: CopyOperands): Misuse | null {
  if (zeroFill >= 0 && zeroFill <= count) return null;
  return {
    message: `pipelineMemcpyAsync of ${count} elements from \`${source.array}\` to \`${destination.array}\` sets ${zeroFill} of them to zero`,
    hint: `Pass 0 to ${count} as zeroFill.`,
  };
}

function negativeCount({ source, destination, count }: CopyOperands): Misuse | null {
  if (count >= 0) return null;
  return {
    message: `memcpyAsync of ${count} elements from \`${source.array}\` to \`${destination.array}\`: the count is negative`,
    hint: 'Pass a count of 0 or more elements.',
  };
}

function overlap(operands: CopyOperands): Misuse | null {
  const { source, destination, count } = operands;
  if (source.memory !== destination.memory) return null;
  const { elementBytes } = operands;
  const distance = addressOf(destination, elementBytes) - addressOf(source, elementBytes);
  if (Math.abs(distance) >= count * elementBytes) return null;
  return {
    message: `memcpyAsync of ${count} elements from \`${source.array}\` at ${source.offset} to \`${destination.array}\` at ${destination.offset}: the two overlap`,
    hint: 'Copy to memory that the source is no part of.',
  };
}

function misalignment({ source, destination, count, elementBytes, alignment }: CopyOperands): Misuse | null {
  for (const operand of [source, destination]) {
    const address = addressOf(operand, elementBytes);
    if (address % alignment === 0) continue;
    return {
      message: `memcpyAsync promises an alignment of ${alignment} bytes, but element ${operand.offset} of \`${operand.array}\` lies at an address that is a multiple of ${address & -address} only`,
      hint: 'Promise no more than the offsets keep, or change them.',
    };
  }
  if ((count * elementBytes) % alignment === 0) return null;
  return {
    message: `memcpyAsync promises an alignment of ${alignment} bytes, but copies ${count * elementBytes}`,
    hint: `Copy a multiple of ${alignment / elementBytes} elements, or promise less.`,
  };
}

function addressOf({ address, offset }: CopyOperand, elementBytes: number): number {
  return address + offset * elementBytes;
}
