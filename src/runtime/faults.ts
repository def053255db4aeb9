// What went wrong in a running kernel, as an error at the kernel's own line.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { type KernelSource, locationOf } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import type { Fault } from '../targets/executable.ts';
import { threadsInWords } from '../targets/rank-words.ts';
import { kernelInWords } from './launch.ts';

/** The kernel that a fault happened in. */
export interface FaultyKernel {
  readonly name: string;
  readonly sources: readonly KernelSource[];
  readonly grid: Extent3;
}

/**
 * The error of a kernel that stopped. Threads of the device find faults independently; the
 * one of the first block is reported.
 */
export function faultError(kernel: FaultyKernel, faults: readonly Fault[]): WarpstageError {
  const linear = ({ block: [x, y, z] }: Fault) => x + kernel.grid[0] * (y + kernel.grid[1] * z);
  const first = faults.reduce((a, b) => (linear(b) < linear(a) ? b : a));
  return new WarpstageError(issueOf(kernel, first));
}

function issueOf({ name, sources }: FaultyKernel, fault: Fault): Issue {
  const kernel = kernelInWords(name);
  switch (fault.kind) {
    case 'out-of-range':
      return {
        code: 'WS3001',
        message: `${kernel} ${accessOf(fault)}`,
        hint: `compare the index with \`${lengthOf(fault)}\` before the access`,
        location: locationOf(sources, fault.range),
        thread: fault.thread,
        block: fault.block,
      };
    case 'division-by-zero':
      return {
        code: 'WS3003',
        message: `${kernel} divides an integer by zero`,
        hint: 'test the divisor first',
        location: locationOf(sources, fault.range),
        thread: fault.thread,
        block: fault.block,
      };
    case 'deadlock': {
      const [first, ...others] = fault.waiting;
      return {
        code: 'WS3002',
        message: `${kernel} is deadlocked: ${first === undefined ? 'no thread can go on' : waitOf(first)}`,
        hint: 'every thread that others wait for must arrive, commit or release as often as they expect',
        ...(first === undefined ? {} : { location: locationOf(sources, first.range) }),
        related: others.map((wait) => ({ label: waitOf(wait), location: locationOf(sources, wait.range) })),
        block: fault.block,
      };
    }
    case 'misuse':
      return {
        code: fault.code,
        message: `${kernel}: ${fault.message}`,
        ...(fault.hint === undefined ? {} : { hint: fault.hint }),
        location: locationOf(sources, fault.range),
        thread: fault.thread,
        block: fault.block,
      };
    default:
      fault satisfies never;
      throw new TypeError('unknown fault');
  }
}

/** What the index must be less than, as code: `image[0].length` where it is the second of an array of several dimensions. */
export function lengthOf({ array, dimension = 1 }: Extract<Fault, { kind: 'out-of-range' }>): string {
  return `${array}${'[0]'.repeat(dimension - 1)}.length`;
}

/** What the access was, in words. */
export function accessOf(fault: Extract<Fault, { kind: 'out-of-range' }>): string {
  const { array, access, index, count, length, dimension } = fault;
  const elements = length === 1 ? '1 element' : `${length} elements`;
  const doing = { read: 'reads', write: 'writes', copy: 'copies' }[access];
  if (dimension !== undefined) {
    const places = length === 1 ? '1 place' : `${length} places`;
    return `${doing} index ${index} of dimension ${dimension} of \`${array}\`, which has ${places}`;
  }
  if (count === 1 && access !== 'copy')
    return `${doing} \`${array}[${index}]\`, but \`${array}\` has ${elements}`;
  return `${doing} ${count} elements of \`${array}\` from index ${index}, but \`${array}\` has ${elements}`;
}

function waitOf({ what, threads }: Extract<Fault, { kind: 'deadlock' }>['waiting'][number]): string {
  return `${threadsInWords(threads)} ${threads.length === 1 ? 'waits' : 'wait'} in ${what}`;
}
