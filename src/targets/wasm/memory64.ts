// A module whose memory has addresses of 64 bits.
//
// Its writers give elements such addresses (`Unit.addressType`). What a launch has of its own lies below 4 GiB, and is
// addressed by 32 bits all through the code; here these are widened where an instruction takes them. So code that is
// written for one memory is code for both. An address of an element that had 32 bits somewhere on its way would not have
// the type of what it is added to, and no engine would take the module.

import { laneOperations, operationOf, typeOfLetter } from '../native/operations.ts';
import { pushSized, pushUnsigned } from './encoder/bytes.ts';
import type { WasmType } from './encoder/code.ts';
import {
  type DecodedFunction,
  type DecodedModule,
  decodeModule,
  type Instruction,
  isStore,
  Reader,
  signatureOf,
  valuesOfMemory,
} from './encoder/decode.ts';
import { type LaneInstruction, type PlainInstruction, plainOpcodes } from './encoder/opcodes.ts';

const codeSection = 10;

/** Finishes a module that was written for addresses of 64 bits. */
export function forMemory64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const module = decodeModule(bytes);
  const out = [...bytes.subarray(0, 8)];
  const sections = new Reader(bytes.subarray(8));
  while (!sections.isAtEnd) {
    const id = sections.byte();
    const { bytes: section } = sections.sized();
    out.push(id);
    pushSized(out, id === codeSection ? codeOf(module) : [...section]);
  }
  return Uint8Array.from(out);
}

function codeOf(module: DecodedModule): number[] {
  const code: number[] = [];
  pushUnsigned(code, module.functions.length);
  for (const each of module.functions) {
    const entry: number[] = [];
    let from = 0;
    for (const at of new Addresses(module, each).narrow()) {
      for (; from < at; from += 1) entry.push(each.bytes[from]!);
      entry.push(plainOpcodes['i64.extend_i32_u']);
    }
    for (const byte of each.bytes.subarray(from)) entry.push(byte);
    pushSized(code, entry);
  }
  return code;
}

/** A value on the stack: its type, null behind a branch, and where the code ends that leaves it there. */
interface Value {
  readonly type: WasmType | null;
  readonly end: number;
}

interface Open {
  readonly height: number;
  readonly result: WasmType | null;
}

/** Follows the types on a function's stack. */
class Addresses {
  readonly #module: DecodedModule;
  readonly #function: DecodedFunction;
  readonly #stack: Value[] = [];
  readonly #open: Open[] = [{ height: 0, result: null }];
  readonly #found = new Set<number>();
  #end = 0;

  constructor(module: DecodedModule, own: DecodedFunction) {
    this.#module = module;
    this.#function = own;
  }

  /** Where in the function's bytes code ends that leaves an address of 32 bits. */
  narrow(): readonly number[] {
    const { body, ends } = this.#function;
    for (const [position, each] of body.entries()) {
      this.#end = ends[position]!;
      this.#instruction(each);
    }
    return [...this.#found].sort((a, b) => a - b);
  }

  #push(type: WasmType | null): void {
    this.#stack.push({ type, end: this.#end });
  }

  /** Behind a branch there may be less on the stack than is taken: it is never run. */
  #pop(count = 1): Value {
    let value: Value = { type: null, end: 0 };
    for (let i = 0; i < count; i += 1) {
      if (this.#stack.length > this.#open.at(-1)!.height) value = this.#stack.pop()!;
    }
    return value;
  }

  /** Takes an address, or a number of bytes. */
  #popAddress(): void {
    const { type, end } = this.#pop();
    if (type === 'i32') this.#found.add(end);
  }

  #operation([signature]: readonly [string, string]): void {
    const [operands = '', result = ''] = signature.split('>');
    this.#pop(operands.length);
    if (result !== '_') this.#push(typeOfLetter(result));
  }

  /** What comes next in this block is never run. */
  #leave(): void {
    this.#stack.length = this.#open.at(-1)!.height;
  }

  #instruction(instruction: Instruction): void {
    switch (instruction.kind) {
      case 'plain':
        this.#plain(instruction.name as PlainInstruction);
        return;
      case 'lane':
        this.#operation(laneOperations[instruction.name as LaneInstruction]);
        return;
      case 'engine':
        this.#pop(instruction.operands);
        this.#push('v128');
        return;
      case 'constant':
        this.#push(instruction.type);
        return;
      case 'get':
        this.#push(this.#function.locals[instruction.local]!);
        return;
      case 'set':
        this.#pop();
        return;
      case 'tee':
        this.#push(this.#pop().type);
        return;
      case 'shuffle':
        this.#pop(2);
        this.#push('v128');
        return;
      case 'memory':
        this.#pop(valuesOfMemory(instruction.name));
        this.#popAddress();
        if (!isStore(instruction.name)) this.#push(instruction.name.split('.')[0] as WasmType);
        return;
      case 'lane memory':
        this.#pop();
        this.#popAddress();
        if (!isStore(instruction.name)) this.#push('v128');
        return;
      case 'copy':
        for (let i = 0; i < 3; i += 1) this.#popAddress();
        return;
      case 'fill':
        this.#popAddress();
        this.#pop();
        this.#popAddress();
        return;
      case 'fence':
        return;
      case 'call': {
        const { parameters, results } = signatureOf(this.#module, instruction.target);
        this.#pop(parameters.length);
        for (const type of results) this.#push(type);
        return;
      }
      default:
        this.#structure(instruction);
    }
  }

  #plain(name: PlainInstruction): void {
    switch (name) {
      case 'nop':
        return;
      case 'drop':
        this.#pop();
        return;
      case 'select': {
        this.#pop();
        const { type } = this.#pop();
        this.#push(this.#pop().type ?? type);
        return;
      }
      case 'return':
      case 'unreachable':
        this.#leave();
        return;
      default:
        this.#operation(operationOf(name));
    }
  }

  #structure(instruction: Instruction): void {
    const height = () => this.#stack.length;
    switch (instruction.kind) {
      case 'block':
      case 'loop':
        this.#open.push({ height: height(), result: null });
        return;
      case 'if':
        this.#pop();
        this.#open.push({ height: height(), result: instruction.type });
        return;
      case 'else':
        this.#leave();
        return;
      case 'end': {
        this.#leave();
        const { result } = this.#open.pop()!;
        if (result !== null) this.#push(result);
        return;
      }
      case 'br_if':
        this.#pop();
        return;
      default:
        this.#leave();
    }
  }
}
