// A scalar as it lies in memory, little-endian: as the threads of a CPU device read it, and a kernel of a GPU.

import type { Value } from '../compiler/arithmetic.ts';
import type { ValueType } from '../compiler/ir.ts';

/** Writes a scalar. A bool takes one byte; where more are read, the others must be 0. */
export function setScalar(view: DataView, at: number, type: ValueType, value: Value): void {
  switch (type) {
    case 'bool':
      view.setUint8(at, value ? 1 : 0);
      break;
    case 'i32':
    case 'u32':
      // Numbers of either kind have the same bits.
      view.setInt32(at, Number(value), true);
      break;
    case 'f32':
      view.setFloat32(at, Number(value), true);
      break;
    case 'f64':
      view.setFloat64(at, Number(value), true);
      break;
    case 'i64':
    case 'u64':
      view.setBigInt64(at, BigInt(value), true);
      break;
  }
}
