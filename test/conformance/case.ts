// A case of the conformance suite: a kernel, what it is launched with, and what it must leave.

import type { Device, DeviceArray, ElementType, Kernel } from 'warpstage';
import type { HostArrays } from '#warpstage/kernel/types.js';

export type HostArray = HostArrays[keyof HostArrays];

export interface Case {
  readonly name: string;
  readonly kernel: Kernel;
  readonly grid: number;
  readonly block: number;
  /** Arrays as they are before the launch, scalars and constants, by name. */
  readonly data: Readonly<Record<string, HostArray | number | boolean>>;
  /** Arrays as they must be afterwards. */
  readonly expected: Readonly<Record<string, HostArray>>;
  /** Codes of what the checker has to say about it; by default nothing. */
  readonly findings?: readonly string[];
}

/** A group of cases, for one subject. */
export type Cases = readonly Case[];

/** 100, 101, … */
export const counting = (length: number) => Int32Array.from({ length }, (_, i) => 100 + i);

/** So many integers, each made of its position. */
export const integers = (length: number, of: (i: number) => number) =>
  Int32Array.from({ length }, (_, i) => of(i));

/** Room on a device for an array of a case. */
function allocFor(device: Device, { kernel }: Case, name: string, values: HostArray): DeviceArray {
  const entry = kernel.schema[name]!;
  if (typeof entry === 'object' && entry.kind === 'structArray') {
    return device.alloc(entry.struct, values.length / entry.struct.bytes);
  }
  const element = String(entry).replace('readonly ', '').replace('[]', '') as ElementType;
  return device.alloc(element, values.length / Number(/x([234])$/.exec(element)?.[1] ?? 1));
}

/** What a case leaves on a device, beside what it must leave, and how the device ran its kernel. */
export async function runOn(device: Device, one: Case) {
  const stream = device.createStream();
  const arrays = new Map<string, DeviceArray>();
  const entries = Object.entries(one.data).map(([parameter, value]) => {
    if (typeof value !== 'object') return [parameter, value] as const;
    const array = allocFor(device, one, parameter, value);
    stream.memcpyAsync(array, value);
    arrays.set(parameter, array);
    return [parameter, array] as const;
  });
  const shape = { grid: one.grid, block: one.block };
  const { ranOn } = stream.launch(one.kernel, shape, Object.fromEntries(entries) as never);
  const results = Object.entries(one.expected).map(([parameter, expected]) => {
    const result = new (expected.constructor as new (length: number) => HostArray)(expected.length);
    stream.memcpyAsync(result, arrays.get(parameter)!);
    return { parameter, expected, result };
  });
  await stream.synchronize();
  for (const array of arrays.values()) array.free();
  return { ranOn, results };
}
