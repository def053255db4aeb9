// How the types of the language are represented: bool is an i32 of 0 or 1, u32 and u64 are the
// bits of i32 and i64. The operation, not the value, knows the sign.

import type { ValueType } from '../../compiler/ir.ts';
import type { WasmType } from './encoder/code.ts';

/** The type of a value on WebAssembly's stack. */
export function wasmType(type: ValueType): Exclude<WasmType, 'v128'> {
  switch (type) {
    case 'bool':
    case 'i32':
    case 'u32':
      return 'i32';
    case 'i64':
    case 'u64':
      return 'i64';
    case 'f32':
    case 'f64':
      return type;
    default:
      return type satisfies never;
  }
}

/** Bytes of a value in a thread's scratch memory. */
export function valueBytes(type: ValueType): 4 | 8 {
  return type === 'i64' || type === 'u64' || type === 'f64' ? 8 : 4;
}
