// Atomic operations on elements of 4 and 8 bytes.
//
// Blocks run on several threads of the device, so a global array is changed by WebAssembly's
// atomic instructions, or by a loop around compare-exchange where there is none. A block is run
// by one thread, so that its shared and local arrays need no more than a load and a store.

import type { AtomicOperator, Call, ValueType } from '../../compiler/ir.ts';
import { elementValueType } from '../../compiler/ir.ts';
import { isFloat } from '../../compiler/number-types.ts';
import type { Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import { pushElementAddress, withIndex, writeCheck } from './memory.ts';
import { writeBinary } from './operators.ts';
import type { ThreadContext } from './thread-context.ts';
import { valueBytes, wasmType } from './types.ts';

export type AtomicCall = Extract<Call, { intrinsic: 'atomic' }>;

const instructions = {
  add: 'add',
  sub: 'sub',
  and: 'and',
  or: 'or',
  xor: 'xor',
  exch: 'xchg',
  store: 'xchg',
} as const satisfies { readonly [O in AtomicOperator]?: string };

/** The integer that has the bits of a value. */
function bitsOf(type: ValueType): 'i32' | 'i64' {
  return valueBytes(type) === 8 ? 'i64' : 'i32';
}

/** Writes an atomic operation and gives its variable the old element. */
export function writeAtomic(context: ThreadContext, call: AtomicCall): void {
  const { code, unit } = context;
  const wasm = wasmType(elementValueType(unit.elementOf(call.array)));
  const pushIndex = () => pushExpression(context, call.index);
  withIndex(context, pushIndex, (index) => {
    code.withTemporary(wasm, (compared) => {
      code.withTemporary(wasm, (value) => {
        if (call.compare !== null) {
          pushExpression(context, call.compare);
          code.set(compared);
        }
        pushExpression(context, call.value);
        code.set(value);
        writeAtomicOf(context, call, { index, value, compared });
      });
    });
  });
}

/** The same, of what locals hold; `compared` is read by a compare and swap alone. */
export function writeAtomicOf(
  context: ThreadContext,
  call: AtomicCall,
  { index, value, compared }: { readonly index: Local } & Pick<Operands, 'value' | 'compared'>,
): void {
  const { code, unit } = context;
  const { array, operator, result } = call;
  const type = elementValueType(unit.elementOf(array));
  writeCheck(context, call, index, 'write');
  code.withTemporary(unit.addressType, (address) => {
    pushElementAddress(context, array, index);
    code.set(address);
    code.withTemporary(bitsOf(type), (old) => {
      const operands: Operands = { type, address, value, compared, old };
      if (array.space === 'global') writeShared(context, operator, operands);
      else writeAlone(context, operator, operands);
      if (result !== null) context.frame.writeVariable(result, () => pushAs(context, type, old));
    });
  });
}

interface Operands {
  readonly type: ValueType;
  readonly address: Local;
  /** Of the element's type. */
  readonly value: Local;
  readonly compared: Local;
  /** The element's bits. */
  readonly old: Local;
}

/** Other threads of the device may change the same element. */
function writeShared(context: ThreadContext, operator: AtomicOperator, operands: Operands): void {
  const { code } = context;
  const { type, address, value, compared, old } = operands;
  const bits = bitsOf(type);
  if (operator === 'cas') {
    code.get(address);
    pushBits(context, type, compared);
    pushBits(context, type, value);
    code.memory(`${bits}.atomic.rmw.cmpxchg`).set(old);
  } else if (operator === 'load') {
    code.get(address).memory(`${bits}.atomic.load`).set(old);
  } else if (operator in instructions && (!isFloat(type) || operator === 'exch' || operator === 'store')) {
    code.get(address);
    pushBits(context, type, value);
    code.memory(`${bits}.atomic.rmw.${instructions[operator as keyof typeof instructions]}`).set(old);
  } else {
    code.withTemporary(bits, (before) => {
      code.get(address).memory(`${bits}.atomic.load`).set(old);
      code.loop((retry) => {
        code.get(old).set(before).get(address).get(before);
        pushUpdated(context, operator, operands);
        code.memory(`${bits}.atomic.rmw.cmpxchg`).tee(old).get(before).op(`${bits}.ne`).brIf(retry);
      });
    });
  }
}

/** Nobody else is at this element. */
function writeAlone(context: ThreadContext, operator: AtomicOperator, operands: Operands): void {
  const { code } = context;
  const { type, address, value, compared, old } = operands;
  const bits = bitsOf(type);
  code.get(address).memory(`${bits}.load`).set(old);
  if (operator === 'load') return;
  code.get(address);
  if (operator === 'exch' || operator === 'store') {
    pushBits(context, type, value);
  } else if (operator === 'cas') {
    pushBits(context, type, value);
    code.get(old).get(old);
    pushBits(context, type, compared);
    code.op(`${bits}.eq`, 'select');
  } else {
    pushUpdated(context, operator, operands);
  }
  code.memory(`${bits}.store`);
}

/** Pushes the bits of what the operator makes of the old element. */
function pushUpdated(context: ThreadContext, operator: AtomicOperator, operands: Operands): void {
  const { code, unit } = context;
  const { type, value, old } = operands;
  if (operator === 'inc' || operator === 'dec') {
    pushCounted(context, operator, operands);
    return;
  }
  if (operator === 'exch' || operator === 'cas' || operator === 'load' || operator === 'store')
    throw new TypeError(`${operator} computes nothing`);
  pushAs(context, type, old);
  code.get(value);
  writeBinary(unit, code, operator === 'sub' ? 'subtract' : operator, type);
  writeBits(context, type);
}

/** Pushes the count after the old one, of u32: up to the limit and from 0 again, or down to 0 and from the limit again. */
function pushCounted({ code }: ThreadContext, operator: 'inc' | 'dec', { value, old }: Operands): void {
  if (operator === 'inc') {
    code.i32(0).get(old).i32(1).op('i32.add').get(old).get(value).op('i32.ge_u', 'select');
    return;
  }
  code.get(value).get(old).i32(1).op('i32.sub');
  code.get(old).op('i32.eqz').get(old).get(value).op('i32.gt_u', 'i32.or', 'select');
}

function pushBits(context: ThreadContext, type: ValueType, local: Local): void {
  context.code.get(local);
  writeBits(context, type);
}

function writeBits({ code }: ThreadContext, type: ValueType): void {
  if (type === 'f32') code.op('i32.reinterpret_f32');
  else if (type === 'f64') code.op('i64.reinterpret_f64');
}

function pushAs({ code }: ThreadContext, type: ValueType, bits: Local): void {
  code.get(bits);
  if (type === 'f32') code.op('f32.reinterpret_i32');
  else if (type === 'f64') code.op('f64.reinterpret_i64');
}
