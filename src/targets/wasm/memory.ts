// Loads and stores of elements, with their bounds checks.
//
// An index is checked as it is, in the program's index type, before it becomes an address: one
// unsigned comparison with the length, which no negative index passes. What passes is an
// element of that array, so that the address fits the unit's type of addresses.

import type { ArrayReference, Expression } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf, partOf } from '../../kernel/layout.ts';
import type { Element, NumberElement } from '../../kernel/types.ts';
import { constantOf } from '../analysis/elements.ts';
import { pushOrigin } from './borrowed.ts';
import type { Code, Local, WasmType } from './encoder/code.ts';
import type { MemoryInstruction } from './encoder/opcodes.ts';
import type { ThreadContext } from './thread-context.ts';

type Accesses = { readonly [E in NumberElement]: MemoryInstruction };

const loads: Accesses = {
  i8: 'i32.load8_s',
  u8: 'i32.load8_u',
  i16: 'i32.load16_s',
  u16: 'i32.load16_u',
  i32: 'i32.load',
  u32: 'i32.load',
  i64: 'i64.load',
  u64: 'i64.load',
  f16: 'i32.load16_u',
  bf16: 'i32.load16_u',
  f32: 'f32.load',
  f64: 'f64.load',
};

const stores: Accesses = {
  i8: 'i32.store8',
  u8: 'i32.store8',
  i16: 'i32.store16',
  u16: 'i32.store16',
  i32: 'i32.store',
  u32: 'i32.store',
  i64: 'i64.store',
  u64: 'i64.store',
  f16: 'i32.store16',
  bf16: 'i32.store16',
  f32: 'f32.store',
  f64: 'f64.store',
};

/** An access that may have several dimensions. */
interface Bounded extends Access {
  readonly bounds?: readonly Expression[];
  readonly range: Range;
}

/** A load or store: of an array's element, or of a component of it. */
interface Access {
  readonly array: ArrayReference;
  readonly component?: number;
}

/** What says where an access is, and at which element. */
interface Indexed {
  readonly array: ArrayReference;
  readonly index: Expression;
  readonly range: Range;
  /** What has passed the tests of its dimensions is inside. */
  readonly fits?: true;
}

/** Pops an address and pushes the element, or the component of it, that lies so many bytes from it. */
export function writeLoad(context: ThreadContext, access: Access, offset = 0): void {
  const { instruction, place } = accessOf(context, access, loads);
  context.code.memory(instruction, place + offset);
}

/** Pops an address and a value, and stores it as the element, or the component of it, that lies so many bytes from it. */
export function writeStore(context: ThreadContext, access: Access, offset = 0): void {
  const { instruction, place } = accessOf(context, access, stores);
  context.code.memory(instruction, place + offset);
}

function accessOf({ unit }: ThreadContext, { array, component }: Access, instructions: Accesses) {
  const { element, offset } = partOf(unit.elementOf(array), component);
  return { instruction: instructions[element], place: offset };
}

const moves = [
  [16, 'v128', 'v128.load', 'v128.store'],
  [8, 'i64', 'i64.load', 'i64.store'],
  [4, 'i32', 'i32.load', 'i32.store'],
  [2, 'i32', 'i32.load16_u', 'i32.store16'],
  [1, 'i32', 'i32.load8_u', 'i32.store8'],
] as const satisfies (readonly [number, WasmType, MemoryInstruction, MemoryInstruction])[];

/** Whether one instruction moves all of an element. */
export function isMovedAtOnce(element: Element): boolean {
  return moves.some(([bytes]) => bytes === bytesOf(element));
}

/**
 * Moves all bits of an element, whatever they mean; the callbacks push the addresses, once for each part that one
 * instruction moves. Without a source the element becomes zero.
 */
export function writeMove(
  { code }: ThreadContext,
  element: Element,
  pushTo: () => void,
  pushFrom: (() => void) | null,
): void {
  let at = 0;
  for (const [bytes, type, load, store] of moves) {
    for (; bytesOf(element) - at >= bytes; at += bytes) {
      pushTo();
      if (pushFrom === null) pushZero(code, type);
      else {
        pushFrom();
        code.memory(load, at);
      }
      code.memory(store, at);
    }
  }
}

function pushZero(code: Code, type: WasmType): void {
  if (type === 'v128') code.i32x4([0, 0, 0, 0]);
  else if (type === 'i64') code.i64(0n);
  else code[type](0);
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

/** Stops the thread if an index is not one of the array's. The local holds what the access's own index gives. */
export function writeCheck(
  context: ThreadContext,
  { array, index: expression, range, fits }: Indexed,
  index: Local,
  access: 'read' | 'write',
): void {
  const { code, launch, unit } = context;
  if (fits || unit.isInside(array, expression)) return;
  const wide = unit.program.indexType === 'i64';
  code.get(index);
  launch.pushLength(array);
  code.op(`${unit.program.indexType}.ge_u`);
  code.if(() => {
    code.i32(unit.site(range, { array, access }));
    context.frame.pushRank();
    code.get(launch.block).get(index);
    if (!wide) code.op('i64.extend_i32_s');
    code.i64(1n);
    launch.pushLength(array);
    if (!wide) code.op('i64.extend_i32_u');
    code.call(unit.host('fault', 'outOfRange'));
    context.frame.fail();
  });
}

/** Stops the thread if an index of several dimensions is outside of one of them, or of those that are asked for. */
export function writeBoundsCheck(
  context: ThreadContext,
  { array, bounds = [], range }: Bounded,
  access: 'read' | 'write',
  push: (expression: Expression) => void,
  asked?: readonly number[],
): void {
  const { code, launch, unit } = context;
  const { indexType } = unit.program;
  const wide = indexType === 'i64';
  for (let at = 0; at < bounds.length; at += 2) {
    if (asked?.includes(at / 2) === false) continue;
    code.withTemporary(indexType, (index) => {
      code.withTemporary(indexType, (extent) => {
        push(bounds[at]!);
        code.set(index);
        push(bounds[at + 1]!);
        code.set(extent);
        code.get(index).get(extent).op(`${indexType}.ge_u`);
        code.if(() => {
          code.i32(unit.site(range, { array, access, dimension: at / 2 + 1 }));
          context.frame.pushRank();
          code.get(launch.block).get(index);
          if (!wide) code.op('i64.extend_i32_s');
          code.i64(1n).get(extent);
          if (!wide) code.op('i64.extend_i32_u');
          code.call(unit.host('fault', 'outOfRange'));
          context.frame.fail();
        });
      });
    });
  }
}

/** Pushes the address of the element whose checked index a local holds: where it is read and written. */
export function pushElementAddress(context: ThreadContext, array: ArrayReference, index: Local): void {
  const borrowed = array.space === 'shared' ? context.unit.borrowed.get(array.id) : undefined;
  if (borrowed === undefined) {
    pushOwnAddress(context, array, index);
    return;
  }
  const { code, unit } = context;
  const type = unit.addressType;
  code.get(index);
  unit.writeAsAddress(code);
  scale(code, bytesOf(unit.elementOf(array)), type);
  pushOrigin(context, borrowed, index);
  code.op(`${type}.add`);
}

/** Pushes the address of an element in the memory of its array. */
export function pushOwnAddress(context: ThreadContext, array: ArrayReference, index: Local): void {
  const { code, unit, launch } = context;
  const bytes = bytesOf(unit.elementOf(array));
  code.get(index);
  if (array.space === 'local') {
    if (unit.program.indexType === 'i64') code.op('i32.wrap_i64');
    code.i32(unit.blockSize).op('i32.mul');
    context.frame.pushRank();
    code.op('i32.add');
    scale(code, bytes, 'i32');
    code.get(launch.scratch()).op('i32.add').i32(unit.localArray(array.id)).op('i32.add');
    unit.writeArenaAddress(code);
    return;
  }
  const type = unit.addressType;
  unit.writeAsAddress(code);
  scale(code, bytes, type);
  code.get(launch.address(array)).op(`${type}.add`);
}

/**
 * Pushes the address of a word in which threads count, but for the offset that it gives. A lowering computed the
 * index, which is inside.
 */
export function pushWord(
  context: ThreadContext,
  array: ArrayReference,
  index: Expression,
  push: (context: ThreadContext, index: Expression) => void,
): number {
  const { code, unit, launch } = context;
  const bytes = bytesOf(unit.elementOf(array));
  const known = constantOf(index);
  const offset = unit.ownArray(array.id);
  code.get(unit.program.sharedArrays[array.id]!.ofGrid ? launch.scratchOfGrid() : launch.scratch());
  if (known !== null) return offset + known * bytes;
  push(context, index);
  if (unit.program.indexType === 'i64') code.op('i32.wrap_i64');
  scale(code, bytes, 'i32');
  code.op('i32.add');
  return offset;
}

function scale(code: Code, bytes: number, type: 'i32' | 'i64'): void {
  if (bytes === 1) return;
  const places = Math.log2(bytes);
  if (Number.isInteger(places)) code.address(type, places).op(`${type}.shl`);
  else code.address(type, bytes).op(`${type}.mul`);
}
