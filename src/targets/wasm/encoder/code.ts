// Writes the body of one function, instruction by instruction.
//
// Blocks take a callback, so that they are always closed, and give it a label; a branch names
// its label and the depth follows. Locals are numbered as they are made. A call holds the
// function itself until the module is written, because an import that is first needed late
// still comes before all functions of the module.
//
// A piece of code can be captured and appended later at a place of the same nesting; so what
// belongs before a loop may be found out while the loop is written.

import { pushFloat32, pushFloat64, pushSigned, pushSigned64, pushSized, pushUnsigned } from './bytes.ts';
import {
  atomicFence,
  type EngineInstruction,
  engineOpcodes,
  type LaneInstruction,
  type LaneMemoryInstruction,
  laneMemoryOpcodes,
  laneOpcodes,
  type MemoryInstruction,
  memoryCopy,
  memoryFill,
  memoryOpcodes,
  type PlainInstruction,
  type ProcessorInstruction,
  plainOpcodes,
  processorOpcodes,
  type RelaxedInstruction,
  relaxedOpcodes,
  shuffle,
  v128Const,
} from './opcodes.ts';

export type WasmType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

export const typeBytes = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;

/** A function that can be called; the module gives it its number. */
export interface FunctionReference {
  readonly name: string;
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** Where a branch may go: made by a block. */
export interface Label {
  readonly kind: 'block' | 'loop';
}

/** Code that was captured. */
export interface Fragment {
  readonly items: readonly (number | FunctionReference)[];
  readonly depth: number;
}

/** A local variable of the function, by number. */
export type Local = number;

export class Code {
  #items: (number | FunctionReference)[] = [];
  readonly #labels: Label[] = [];
  readonly #locals: { type: WasmType; name: string }[] = [];
  readonly #free: Record<WasmType, Local[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  readonly #parameterCount: number;

  constructor(parameters: readonly { readonly name: string; readonly type: WasmType }[] = []) {
    this.#parameterCount = parameters.length;
    for (const { name, type } of parameters) this.local(type, name);
  }

  // Locals

  local(type: WasmType, name = ''): Local {
    this.#locals.push({ type, name });
    return this.#locals.length - 1;
  }

  typeOf(local: Local): WasmType {
    return this.#locals[local]!.type;
  }

  /** A local for the time of `use`; its value before is undefined. */
  withTemporary<T>(type: WasmType, use: (local: Local) => T): T {
    const local = this.#free[type].pop() ?? this.local(type);
    const result = use(local);
    this.#free[type].push(local);
    return result;
  }

  /** Locals for the time of `use`, as many as it takes. */
  withTemporaries<T>(use: (take: (type: WasmType) => Local) => T): T {
    const taken: Local[] = [];
    const result = use((type) => {
      const local = this.#free[type].pop() ?? this.local(type);
      taken.push(local);
      return local;
    });
    for (const local of taken) this.#free[this.typeOf(local)].push(local);
    return result;
  }

  get(local: Local): this {
    return this.#immediate(0x20, local);
  }

  set(local: Local): this {
    return this.#immediate(0x21, local);
  }

  tee(local: Local): this {
    return this.#immediate(0x22, local);
  }

  // Constants

  i32(value: number): this {
    this.#items.push(0x41);
    pushSigned(this.#items as number[], value);
    return this;
  }

  i64(value: bigint): this {
    this.#items.push(0x42);
    pushSigned64(this.#items as number[], value);
    return this;
  }

  /** A distance in memory, as addresses of a type are counted. */
  address(type: 'i32' | 'i64', bytes: number): this {
    return type === 'i64' ? this.i64(BigInt(bytes)) : this.i32(bytes | 0);
  }

  f32(value: number): this {
    this.#items.push(0x43);
    pushFloat32(this.#items as number[], value);
    return this;
  }

  f64(value: number): this {
    this.#items.push(0x44);
    pushFloat64(this.#items as number[], value);
    return this;
  }

  /** Four 32-bit integers. */
  i32x4(lanes: readonly [number, number, number, number]): this {
    this.#opcode(v128Const);
    for (const lane of lanes) {
      this.#items.push(lane & 0xff, (lane >> 8) & 0xff, (lane >> 16) & 0xff, (lane >> 24) & 0xff);
    }
    return this;
  }

  // Instructions

  op(...instructions: readonly PlainInstruction[]): this {
    for (const instruction of instructions) this.#opcode(plainOpcodes[instruction]);
    return this;
  }

  /** For modules that an engine runs. */
  engine(instruction: EngineInstruction): this {
    this.#opcode(engineOpcodes[instruction]);
    return this;
  }

  /** For engines that have it (`hasRelaxedSimd`). */
  relaxed(instruction: RelaxedInstruction): this {
    this.#opcode(relaxedOpcodes[instruction]);
    return this;
  }

  /** For modules that code of a processor is made of (`Unit.forProcessor`). */
  processor(instruction: ProcessorInstruction): this {
    this.#opcode(processorOpcodes[instruction]);
    return this;
  }

  /** A load, store or atomic; the alignment is the natural one, or less where `alignment` says so. */
  memory(instruction: MemoryInstruction, offset = 0, alignment?: number): this {
    const [opcode, bytes] = memoryOpcodes[instruction];
    this.#opcode(opcode);
    return this.#memoryImmediate(offset, alignment ?? bytes);
  }

  /** Stores one lane of a vector; or pops a vector too, and pushes it with one lane from memory. */
  memoryLane(instruction: LaneMemoryInstruction, lane: number, offset: number, alignment?: number): this {
    const [opcode, bytes] = laneMemoryOpcodes[instruction];
    this.#opcode(opcode);
    this.#memoryImmediate(offset, alignment ?? bytes);
    this.#items.push(lane);
    return this;
  }

  /** Pops two vectors and pushes 16 of their bytes: those of the first are 0 to 15, those of the second 16 to 31. */
  shuffle(bytes: readonly number[]): this {
    if (bytes.length !== 16) throw new Error('a vector has 16 bytes');
    this.#opcode(shuffle);
    this.#items.push(...bytes);
    return this;
  }

  /** `atomic.fence`, whose one order is the strongest. */
  atomicFence(): this {
    this.#opcode(atomicFence);
    this.#items.push(0);
    return this;
  }

  lane(instruction: LaneInstruction, lane: number): this {
    this.#opcode(laneOpcodes[instruction]);
    this.#items.push(lane);
    return this;
  }

  /** Pops destination, source, number of bytes. */
  memoryCopy(): this {
    this.#opcode(memoryCopy);
    this.#items.push(0, 0);
    return this;
  }

  /** Pops destination, byte, number of bytes. */
  memoryFill(): this {
    this.#opcode(memoryFill);
    this.#items.push(0);
    return this;
  }

  call(target: FunctionReference): this {
    this.#items.push(0x10, target);
    return this;
  }

  // Structure

  block(body: (exit: Label) => void): this {
    return this.#structure(0x02, 0x40, { kind: 'block' }, body);
  }

  loop(body: (top: Label) => void): this {
    return this.#structure(0x03, 0x40, { kind: 'loop' }, body);
  }

  /** Pops the condition. With a `type`, both branches leave a value of it. */
  if(then: () => void, otherwise?: () => void, type?: WasmType): this {
    const label: Label = { kind: 'block' };
    return this.#structure(0x04, type === undefined ? 0x40 : typeBytes[type], label, () => {
      then();
      if (otherwise !== undefined) {
        this.#items.push(0x05);
        otherwise();
      }
    });
  }

  br(label: Label): this {
    return this.#immediate(0x0c, this.#depth(label));
  }

  brIf(label: Label): this {
    return this.#immediate(0x0d, this.#depth(label));
  }

  /** Pops a number: branches to the label of that position, or to the default. */
  brTable(labels: readonly Label[], otherwise: Label): this {
    this.#immediate(0x0e, labels.length);
    for (const label of [...labels, otherwise]) {
      pushUnsigned(this.#items as number[], this.#depth(label));
    }
    return this;
  }

  /** Writes code aside. It may be appended once, where the same blocks are open. */
  capture(write: () => void): Fragment {
    const outer = this.#items;
    this.#items = [];
    write();
    const items = this.#items;
    this.#items = outer;
    return { items, depth: this.#labels.length };
  }

  append(fragment: Fragment): this {
    if (fragment.depth !== this.#labels.length)
      throw new Error('a fragment must be appended at its own depth');
    for (const item of fragment.items) this.#items.push(item);
    return this;
  }

  // For the module

  /** Names of parameters and locals, by number. */
  get localNames(): readonly string[] {
    return this.#locals.map(({ name }) => name);
  }

  /** The function's entry in the code section. */
  encode(numberOf: (target: FunctionReference) => number): number[] {
    const body: number[] = [];
    const groups: { type: WasmType; count: number }[] = [];
    for (const { type } of this.#locals.slice(this.#parameterCount)) {
      const last = groups.at(-1);
      if (last?.type === type) last.count += 1;
      else groups.push({ type, count: 1 });
    }
    pushUnsigned(body, groups.length);
    for (const { type, count } of groups) {
      pushUnsigned(body, count);
      body.push(typeBytes[type]);
    }
    for (const item of this.#items) {
      if (typeof item === 'number') body.push(item);
      else pushUnsigned(body, numberOf(item));
    }
    body.push(0x0b);
    const entry: number[] = [];
    pushSized(entry, body);
    return entry;
  }

  #structure(opcode: number, type: number, label: Label, body: (label: Label) => void): this {
    this.#items.push(opcode, type);
    this.#labels.push(label);
    body(label);
    this.#labels.pop();
    this.#items.push(0x0b);
    return this;
  }

  #depth(label: Label): number {
    const position = this.#labels.lastIndexOf(label);
    if (position < 0) throw new Error('a branch must stand inside the block that it leaves');
    return this.#labels.length - 1 - position;
  }

  #memoryImmediate(offset: number, alignment: number): this {
    pushUnsigned(this.#items as number[], Math.log2(alignment));
    pushUnsigned(this.#items as number[], offset);
    return this;
  }

  #opcode(opcode: number): void {
    if (opcode < 0x1000) {
      this.#items.push(opcode);
      return;
    }
    this.#items.push(opcode >> 12);
    pushUnsigned(this.#items as number[], opcode & 0xfff);
  }

  #immediate(opcode: number, value: number): this {
    this.#items.push(opcode);
    pushUnsigned(this.#items as number[], value);
    return this;
  }
}
