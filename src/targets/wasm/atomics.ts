// Atomic operations on elements of 4 bytes.
//
// Blocks run on several threads of the device, so a global array is changed by WebAssembly's
// atomic instructions, or by a loop around compare-exchange where there is none. A block is run
// by one thread, so that its shared and local arrays need no more than a load and a store.

import type { AtomicOperator, Call, ValueType } from '../../compiler/ir.ts';
import { elementValueType } from '../../compiler/ir.ts';
import type { Local } from './encoder/code.ts';
import type { MemoryInstruction } from './encoder/opcodes.ts';
import { pushExpression } from './expressions.ts';
import { pushElementAddress, withIndex, writeCheck } from './memory.ts';
import { writeBinary } from './operators.ts';
import type { ThreadContext } from './thread-context.ts';
import { wasmType } from './types.ts';

type AtomicCall = Extract<Call, { intrinsic: 'atomic' }>;

const instructions: { readonly [O in AtomicOperator]?: MemoryInstruction } = {
  add: 'i32.atomic.rmw.add',
  sub: 'i32.atomic.rmw.sub',
  and: 'i32.atomic.rmw.and',
  or: 'i32.atomic.rmw.or',
  xor: 'i32.atomic.rmw.xor',
  exch: 'i32.atomic.rmw.xchg',
};

/** Writes an atomic operation and gives its variable the old element. */
export function writeAtomic(context: ThreadContext, call: AtomicCall): void {
  const { code, unit } = context;
  const type = elementValueType(unit.elementOf(call.array));
  const wasm = wasmType(type);
  if (wasm !== 'i32' && wasm !== 'f32') throw new TypeError(`atomics on ${type} are not defined`);
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
        writeCheck(context, call.array, index, 'write', call.range);
        code.withTemporary('i32', (address) => {
          pushElementAddress(context, call.array, index);
          code.set(address);
          code.withTemporary('i32', (old) => {
            const operands: Operands = { type, address, value, compared, old };
            if (call.array.space === 'global') writeShared(context, call.operator, operands);
            else writeAlone(context, call.operator, operands);
            if (call.result !== null) {
              context.frame.writeVariable(call.result, () => pushAs(context, type, old));
            }
          });
        });
      });
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
  const instruction = instructions[operator];
  if (operator === 'cas') {
    code.get(address);
    pushBits(context, type, compared);
    pushBits(context, type, value);
    code.memory('i32.atomic.rmw.cmpxchg').set(old);
  } else if (instruction !== undefined && (type !== 'f32' || operator === 'exch')) {
    code.get(address);
    pushBits(context, type, value);
    code.memory(instruction).set(old);
  } else {
    code.withTemporary('i32', (before) => {
      code.get(address).memory('i32.atomic.load').set(old);
      code.loop((retry) => {
        code.get(old).set(before).get(address).get(before);
        pushUpdated(context, operator, operands);
        code.memory('i32.atomic.rmw.cmpxchg').tee(old).get(before).op('i32.ne').brIf(retry);
      });
    });
  }
}

/** Nobody else is at this element. */
function writeAlone(context: ThreadContext, operator: AtomicOperator, operands: Operands): void {
  const { code } = context;
  const { type, address, value, compared, old } = operands;
  code.get(address).memory('i32.load').set(old).get(address);
  if (operator === 'exch') {
    pushBits(context, type, value);
  } else if (operator === 'cas') {
    pushBits(context, type, value);
    code.get(old).get(old);
    pushBits(context, type, compared);
    code.op('i32.eq', 'select');
  } else {
    pushUpdated(context, operator, operands);
  }
  code.memory('i32.store');
}

/** Pushes the bits of what the operator makes of the old element. */
function pushUpdated(context: ThreadContext, operator: AtomicOperator, operands: Operands): void {
  const { code, unit } = context;
  const { type, value, old } = operands;
  if (operator === 'exch' || operator === 'cas') throw new TypeError(`${operator} computes nothing`);
  pushAs(context, type, old);
  code.get(value);
  writeBinary(unit, code, operator === 'sub' ? 'subtract' : operator, type);
  if (type === 'f32') code.op('i32.reinterpret_f32');
}

function pushBits({ code }: ThreadContext, type: ValueType, local: Local): void {
  code.get(local);
  if (type === 'f32') code.op('i32.reinterpret_f32');
}

function pushAs({ code }: ThreadContext, type: ValueType, bits: Local): void {
  code.get(bits);
  if (type === 'f32') code.op('f32.reinterpret_i32');
}
