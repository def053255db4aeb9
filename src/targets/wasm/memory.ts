// Loads and stores of elements, with their bounds checks.
//
// An index is checked as it is, in the program's index type, before it becomes an address: one
// unsigned comparison with the length, which no negative index passes. What passes is an
// element of that array, so that the address fits 32 bits.

import type { ArrayReference } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { type ElementType, elementBytes } from '../../kernel/types.ts';
import type { Local } from './encoder/code.ts';
import type { MemoryInstruction } from './encoder/opcodes.ts';
import type { ThreadContext } from './thread-context.ts';

const loads: { readonly [E in ElementType]: MemoryInstruction } = {
  i8: 'i32.load8_s',
  u8: 'i32.load8_u',
  i16: 'i32.load16_s',
  u16: 'i32.load16_u',
  i32: 'i32.load',
  u32: 'i32.load',
  f32: 'f32.load',
  f64: 'f64.load',
};

const stores: { readonly [E in ElementType]: MemoryInstruction } = {
  i8: 'i32.store8',
  u8: 'i32.store8',
  i16: 'i32.store16',
  u16: 'i32.store16',
  i32: 'i32.store',
  u32: 'i32.store',
  f32: 'f32.store',
  f64: 'f64.store',
};

/** Pops an address and pushes the element that lies so many bytes from it. */
export function writeLoad(context: ThreadContext, element: ElementType, offset = 0): void {
  context.code.memory(loads[element], offset);
}

/** Pops an element's address and a value, and stores it. */
export function writeStore(context: ThreadContext, element: ElementType): void {
  context.code.memory(stores[element]);
}

/** Holds the index of the program's index type that `push` pushes in a local. */
export function withIndex(
  { code, unit }: ThreadContext,
  push: () => void,
  use: (index: Local) => void,
): void {
  code.withTemporary(unit.program.indexType, (local) => {
    push();
    code.set(local);
    use(local);
  });
}

/** Stops the thread if an index is not one of the array's. */
export function writeCheck(
  context: ThreadContext,
  array: ArrayReference,
  index: Local,
  access: 'read' | 'write',
  range: Range,
): void {
  const { code, launch, unit } = context;
  const wide = unit.program.indexType === 'i64';
  code.get(index);
  launch.pushLength(array);
  if (wide) code.op('i64.extend_i32_u', 'i64.ge_u');
  else code.op('i32.ge_u');
  code.if(() => {
    code.i32(unit.site(range, { array, access }));
    context.frame.pushRank();
    code.get(launch.block).get(index);
    if (!wide) code.op('i64.extend_i32_s');
    code.i64(1n);
    launch.pushLength(array);
    code.call(unit.host('fault', 'outOfRange'));
    context.frame.fail();
  });
}

/** Pushes the address of the element whose checked index a local holds. */
export function pushElementAddress(context: ThreadContext, array: ArrayReference, index: Local): void {
  const { code, unit, launch } = context;
  const bytes = elementBytes[unit.elementOf(array)];
  code.get(index);
  if (unit.program.indexType === 'i64') code.op('i32.wrap_i64');
  if (array.space === 'local') {
    code.i32(unit.blockSize).op('i32.mul');
    context.frame.pushRank();
    code.op('i32.add');
    scale(context, bytes);
    code.get(launch.scratch()).op('i32.add').i32(unit.localArray(array.id)).op('i32.add');
    return;
  }
  scale(context, bytes);
  code.get(launch.address(array)).op('i32.add');
}

function scale({ code }: ThreadContext, bytes: number): void {
  if (bytes > 1) code.i32(Math.log2(bytes)).op('i32.shl');
}
