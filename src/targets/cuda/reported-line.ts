// A line of which a kernel of a GPU has reported the place and the bits of the values.

import type { Value } from '../../compiler/arithmetic.ts';
import type { ValueType } from '../../compiler/ir.ts';
import type { FaultSite } from '../executable.ts';
import { printedLine } from '../printed-line.ts';

/** The texts of the place with the values between them, of each of which the bits are given. */
export function reportedLine({ texts, formats, values }: FaultSite, bits: readonly bigint[]): string {
  const given = values!.map((type, position) => valueFrom(type, bits[position]!));
  return printedLine({ texts: texts!, formats }, given);
}

const scratch = new DataView(new ArrayBuffer(8));

/** The value that bits stand for. */
function valueFrom(type: ValueType, bits: bigint): Value {
  scratch.setBigUint64(0, bits, true);
  switch (type) {
    case 'bool':
      return bits !== 0n;
    case 'i32':
      return scratch.getInt32(0, true);
    case 'u32':
      return scratch.getUint32(0, true);
    case 'i64':
      return scratch.getBigInt64(0, true);
    case 'u64':
      return bits;
    case 'f32':
      return scratch.getFloat32(0, true);
    case 'f64':
      return scratch.getFloat64(0, true);
  }
  return type satisfies never;
}
