// The launch record: a launch as the threads of a CPU device read it from memory. See
// targets/executable.ts.

import type { Value } from '../compiler/arithmetic.ts';
import type { Program } from '../compiler/ir.ts';
import type { Extent3 } from '../kernel/types.ts';
import { launchRecordBytes } from '../targets/executable.ts';
import type { ArrayPlace, SharedPlace } from './launch.ts';
import { setScalar } from './scalar-bytes.ts';

/** What a record says. */
export interface LaunchRecord {
  readonly grid: Extent3;
  /** In the order of the program's parameters. */
  readonly values: readonly (ArrayPlace | Value)[];
  readonly shared: readonly SharedPlace[];
  /** Bytes from one block's arena to the next's, where blocks have one each. */
  readonly arenaStride?: number;
}

/** The bytes of the record. */
export function encodeRecord(
  program: Program,
  { grid, values, shared, arenaStride = 0 }: LaunchRecord,
): Uint8Array {
  const bytes = new Uint8Array(launchRecordBytes(program));
  const view = new DataView(bytes.buffer);
  for (const [axis, extent] of grid.entries()) view.setUint32(4 * axis, extent, true);
  view.setUint32(12, arenaStride, true);
  let slot = 16;
  const pair = (first: number, second: number): void => {
    view.setBigUint64(slot, BigInt(first), true);
    view.setBigUint64(slot + 8, BigInt(second), true);
  };
  program.parameters.forEach((parameter, i) => {
    const value = values[i]!;
    if (typeof value === 'object') pair(value.address, value.length);
    else if (parameter.kind === 'scalar') setScalar(view, slot, parameter.type, value);
    slot += 16;
  });
  for (const { offset, length } of shared) {
    pair(offset, length);
    slot += 16;
  }
  return bytes;
}
