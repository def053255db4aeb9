// The memory that launches need beside their arrays: the launch record, and an arena for each
// thread of the crew.
//
// Kernels run one after the other on the compute engine, so that one area serves them all. When
// a launch needs a larger one, the old one is given back as soon as the launches that were
// issued with it are settled.

import type { Value } from '../../compiler/arithmetic.ts';
import type { ValueType } from '../../compiler/ir.ts';
import { launchRecordBytes } from '../../targets/executable.ts';
import { alignment } from '../allocator.ts';
import { type Allocation, DeviceMemoryArray } from '../arrays.ts';
import type { LaunchWork } from '../launch.ts';

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Where a launch's record and arenas lie. */
export interface LaunchPlaces {
  readonly area: Allocation;
  readonly recordAddress: number;
  readonly arena: number;
  readonly arenaStride: number;
}

export class LaunchArea {
  readonly #members: number;
  readonly #take: (bytes: number) => Allocation;
  #area: Allocation | null = null;

  constructor(members: number, take: (bytes: number) => Allocation) {
    this.#members = members;
    this.#take = take;
  }

  places({ executable, sharedBytes }: LaunchWork): LaunchPlaces {
    const record = aligned(launchRecordBytes(executable.program));
    const arenaStride = aligned(sharedBytes + executable.scratchBytes);
    const needed = record + arenaStride * this.#members;
    if (this.#area === null || this.#area.bytes < needed) {
      const larger = this.#take(Math.max(needed, 2 * (this.#area?.bytes ?? 0)));
      this.#area?.free();
      this.#area = larger;
    }
    const recordAddress = this.#area.address;
    return { area: this.#area, recordAddress, arena: recordAddress + record, arenaStride };
  }
}

/** The launch record: see targets/executable.ts. */
export function encodeRecord({ executable, grid, values, shared }: LaunchWork): Uint8Array {
  const { program } = executable;
  const bytes = new Uint8Array(launchRecordBytes(program));
  const view = new DataView(bytes.buffer);
  for (const [axis, extent] of grid.entries()) view.setUint32(4 * axis, extent, true);
  let slot = 16;
  const pair = (first: number, second: number): void => {
    view.setUint32(slot, first, true);
    view.setUint32(slot + 4, second, true);
  };
  program.parameters.forEach((parameter, i) => {
    const value = values[i]!;
    if (value instanceof DeviceMemoryArray) pair(value.address, value.length);
    else if (parameter.kind === 'scalar') writeScalar(view, slot, parameter.type, value);
    slot += 16;
  });
  for (const { offset, length } of shared) {
    pair(offset, length);
    slot += 16;
  }
  return bytes;
}

function writeScalar(view: DataView, at: number, type: ValueType, value: Value): void {
  switch (type) {
    case 'bool':
    case 'u32':
      view.setUint32(at, Number(value), true);
      break;
    case 'i32':
      view.setInt32(at, Number(value), true);
      break;
    case 'f32':
      view.setFloat32(at, Number(value), true);
      break;
    case 'f64':
      view.setFloat64(at, Number(value), true);
      break;
    case 'i64':
      view.setBigInt64(at, BigInt(value), true);
      break;
    case 'u64':
      view.setBigUint64(at, BigInt(value), true);
      break;
  }
}
