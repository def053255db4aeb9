// Copies of one piece of code that are carried out together, instruction by instruction.
//
// What is the same in all of them is a value of its own width, and what differs by position is one wide value: vectors'
// locals, constants, and what lies side by side in memory. A local that all copies write, each for itself, is a wide variable in
// them; where anything cannot be told apart, or one copy would read what another writes, they are not carried out so.

import type { WasmType } from '../wasm/encoder/code.ts';
import type { Instruction } from '../wasm/encoder/decode.ts';
import { type Operation, operationOf, typeOfLetter, wideText } from './operations.ts';

/** How many vectors of 128 bits are one. */
export type Times = 2 | 4;

/** A wide variable: the locals that are its parts, in order. */
export interface WideLocal {
  readonly name: string;
  readonly times: Times;
  readonly parts: readonly number[];
}

/** Which locals are parts of which wide variable. */
export class WideLocals {
  readonly all: WideLocal[] = [];
  readonly #byPart = new Map<number, WideLocal>();

  /** The variable that a local is a part of. */
  of(local: number): WideLocal | undefined {
    return this.#byPart.get(local);
  }

  add(parts: readonly number[]): void {
    const added = { name: `w${this.all.length}`, times: parts.length as Times, parts };
    this.all.push(added);
    for (const part of parts) this.#byPart.set(part, added);
  }
}

/** Takes the text of what is carried out together. */
export interface Output {
  /** A new constant of a narrow type, or of a wide one; its name. */
  value(type: WasmType | Times, text: string): string;
  /** A new variable of a wide type; its name. */
  variable(times: Times): string;
  line(text: string): void;
  /** What is done once, in front of the copies. */
  plain(instructions: readonly Instruction[]): void;
  /** The text of a local that is the same in all copies. */
  get(local: number): string;
  set(local: number, text: string): void;
  address(address: string, offset: number): string;
}

type Of<K extends Instruction['kind']> = Extract<Instruction, { kind: K }>;

interface Value {
  readonly type: WasmType;
  readonly text: string;
  readonly isWide: boolean;
}

/** Says which locals may be taken for a wide variable: one that there is, or a new one where nobody has read them before. */
export interface Joining {
  readonly wide: WideLocals;
  allows(parts: readonly number[], isRead: boolean): boolean;
}

export interface Separated {
  /** What the first copy leaves in locals for all. */
  readonly shared: readonly Instruction[];
  readonly copies: readonly (readonly Instruction[])[];
}

/** Carries copies out together, instruction by instruction; gives up where they cannot be. */
export class Copies {
  readonly #shared: readonly Instruction[];
  readonly #copies: readonly (readonly Instruction[])[];
  readonly #times: Times;
  readonly #locals: readonly WasmType[];
  readonly #joining: Joining;
  readonly #stack: Value[] = [];
  /** Locals that all copies write, each for itself: the wide variable, or null where they write the same. */
  readonly #own = new Map<number, string | null>();
  /** Locals that all copies read, and had not written. */
  readonly #read = new Set<number>();
  /** Each local that is a part, and the parts that it is one of. */
  readonly #parts = new Map<number, string>();
  /** Wide variables of these copies alone. */
  readonly #new = new Map<string, { readonly name: string; readonly parts: readonly number[] }>();
  readonly #written = new Set<number>();
  #isWide = false;

  constructor({ shared, copies }: Separated, times: Times, locals: readonly WasmType[], joining: Joining) {
    this.#shared = shared;
    this.#copies = copies;
    this.#times = times;
    this.#locals = locals;
    this.#joining = joining;
  }

  /** Whether they can be, and something was gained. */
  write(output: Output): boolean {
    const [first] = this.#copies;
    output.plain(this.#shared);
    for (const position of first!.keys()) {
      const all = this.#copies.map((copy) => copy[position]!);
      if (all.some(({ kind }) => kind !== all[0]!.kind) || !this.#step(all, output)) return false;
    }
    // What all read is not what one of them, or each for itself, has written, or writes before another reads it.
    for (const local of this.#read) if (this.#own.has(local) || this.#written.has(local)) return false;
    for (const local of this.#own.keys()) if (this.#parts.has(local)) return false;
    for (const each of this.#shared) {
      if (!('local' in each)) continue;
      if (this.#parts.has(each.local) || this.#own.has(each.local) || this.#written.has(each.local))
        return false;
    }
    for (const [local, name] of this.#own)
      if (name !== null) output.set(local, `ws_part${this.#times}(${name}, ${this.#times - 1})`);
    for (const { name, parts } of this.#new.values())
      for (const [i, part] of parts.entries()) output.set(part, `ws_part${this.#times}(${name}, ${i})`);
    return this.#isWide && this.#stack.length === 0;
  }

  #push(output: Output, type: WasmType, isWide: boolean, text: string): boolean {
    this.#isWide ||= isWide;
    this.#stack.push({ type, isWide, text: output.value(isWide ? this.#times : type, text) });
    return true;
  }

  /** A value as a wide one. */
  #widened({ isWide, text }: Value): string {
    return isWide ? text : `ws_wide${this.#times}(${text})`;
  }

  #step(all: readonly Instruction[], output: Output): boolean {
    const [one] = all as readonly [Instruction];
    const isSame = (of: (instruction: never) => unknown) =>
      all.every((each) => of(each as never) === of(one as never));
    switch (one.kind) {
      case 'constant': {
        if (!isSame(({ type }: Of<'constant'>) => type)) return false;
        if (isSame(({ bits }: Of<'constant'>) => bits))
          return this.#push(output, one.type, false, constantText(one.type, [one.bits]));
        const bits = all.map((each) => (each as typeof one).bits);
        return one.type === 'v128' && this.#push(output, one.type, true, constantText(one.type, bits));
      }
      case 'get':
        return this.#get(
          all.map((each) => (each as typeof one).local),
          output,
        );
      case 'set':
      case 'tee':
        return this.#set(
          all.map((each) => (each as typeof one).local),
          one.kind === 'tee',
          output,
        );
      case 'plain':
        return isSame(({ name }: Of<'plain'>) => name) && this.#plain(one.name, output);
      case 'memory':
        return (
          isSame(({ name }: Of<'memory'>) => name) &&
          this.#memory(
            one.name,
            all.map((each) => (each as typeof one).offset),
            output,
          )
        );
      default:
        return false;
    }
  }

  #get(locals: readonly number[], output: Output): boolean {
    const [local] = locals as [number];
    const type = this.#locals[local]!;
    if (locals.every((each) => each === local)) {
      const own = this.#own.get(local);
      if (own === undefined) this.#read.add(local);
      if (own !== undefined && own !== null) {
        this.#stack.push({ type, isWide: true, text: own });
        return true;
      }
      return this.#push(output, type, false, output.get(local));
    }
    const known = this.#new.get(locals.join());
    if (!this.#joins(locals, known === undefined)) return false;
    return this.#push(output, type, true, known?.name ?? this.#joining.wide.of(local)?.name ?? '');
  }

  #set(locals: readonly number[], keeps: boolean, output: Output): boolean {
    const value = this.#stack.at(-1);
    if (value === undefined) return false;
    const [local] = locals as [number];
    if (locals.every((each) => each === local)) {
      if (value.isWide) {
        const name = output.variable(this.#times);
        output.line(`${name} = ${value.text};`);
        this.#own.set(local, name);
      } else {
        output.set(local, value.text);
        this.#own.set(local, null);
      }
    } else {
      if (!this.#joins(locals, false)) return false;
      for (const part of locals) this.#written.add(part);
      const known = this.#joining.wide.of(local);
      const name = known?.name ?? output.variable(this.#times);
      if (known === undefined) this.#new.set(locals.join(), { name, parts: locals });
      output.line(`${name} = ${this.#widened(value)};`);
      this.#isWide = true;
    }
    if (!keeps) this.#stack.pop();
    return true;
  }

  #joins(locals: readonly number[], isRead: boolean): boolean {
    const key = locals.join();
    if (locals.some((each) => this.#locals[each] !== 'v128') || new Set(locals).size < locals.length)
      return false;
    if (locals.some((each) => (this.#parts.get(each) ?? key) !== key)) return false;
    for (const local of locals) this.#parts.set(local, key);
    return this.#joining.allows(locals, isRead);
  }

  #plain(name: string, output: Output): boolean {
    if (name === 'select') {
      const [a, b, condition] = this.#take(3);
      if (condition === undefined || condition.isWide) return false;
      const isWide = a!.isWide || b!.isWide;
      const [yes, no] = isWide ? [this.#widened(a!), this.#widened(b!)] : [a!.text, b!.text];
      return this.#push(output, a!.type, isWide, `${condition.text} ? ${yes} : ${no}`);
    }
    if (['drop', 'return', 'unreachable'].includes(name)) return false;
    const operation: Operation = operationOf(name as never);
    const [operands = '', result = ''] = operation[0].split('>');
    const values = this.#take(operands.length);
    if (values.length < operands.length) return false;
    const isWide = values.some((value) => value.isWide);
    // A call of the environment may end the code, as a division does; once is as good as often.
    const texts = values.map((value) =>
      isWide && value.type === 'v128' ? this.#widened(value) : value.text,
    );
    const text = wideText(name, operation, texts, isWide ? this.#times : 1);
    return text !== null && this.#push(output, typeOfLetter(result), isWide, text);
  }

  #take(count: number): Value[] {
    return this.#stack.splice(Math.max(0, this.#stack.length - count));
  }

  #memory(name: string, offsets: readonly number[], output: Output): boolean {
    const isSame = offsets.every((offset) => offset === offsets[0]);
    const step = vectorSteps[name];
    const isBeside = offsets.every((offset, copy) => offset === offsets[0]! + (step ?? 0) * copy);
    const called = (of: string) => `${wideMemory[of] ?? `ws_${of.replaceAll('.', '_')}_`}${this.#times}`;
    if (name.includes('store')) {
      const [address, value] = this.#take(2);
      if (step === undefined || value === undefined || address!.isWide || !isBeside) return false;
      this.#isWide = true;
      const at = output.address(address!.text, offsets[0]!);
      output.line(`${called(name)}(${at}, ${this.#widened(value)});`);
      return true;
    }
    if (name.includes('atomic')) return false;
    const [address] = this.#take(1);
    if (address === undefined || address.isWide) return false;
    const at = output.address(address.text, offsets[0]!);
    if (isSame) return this.#push(output, typeOfName(name), false, `ws_${name.replaceAll('.', '_')}(${at})`);
    return step !== undefined && isBeside && this.#push(output, 'v128', true, `${called(name)}(${at})`);
  }
}

/** How many bytes of memory a vector's lanes come from, or go to, side by side. */
const vectorSteps: Readonly<Record<string, number>> = {
  'v128.load': 16,
  'v128.store': 16,
  'v128.load8x8_s': 8,
  'v128.load8x8_u': 8,
  'v128.load8x4_s': 4,
  'v128.load8x4_u': 4,
  'v128.load16x4_s': 8,
  'v128.load16x4_u': 8,
  'v128.store8x8': 8,
  'v128.store8x4': 4,
  'v128.store16x4': 8,
};
const wideMemory: Readonly<Record<string, string>> = { 'v128.load': 'ws_load', 'v128.store': 'ws_store' };

function typeOfName(instruction: string): WasmType {
  return instruction.split('.')[0] as WasmType;
}

/** A constant; of vectors, one behind the other. */
export function constantText(type: WasmType, bits: readonly bigint[]): string {
  const hex = `0x${bits[0]!.toString(16)}`;
  switch (type) {
    case 'i32':
      return `${hex}u`;
    case 'i64':
      return `${hex}ull`;
    case 'f32':
      return `ws_f32(${hex}u)`;
    case 'f64':
      return `ws_f64(${hex}ull)`;
    case 'v128': {
      const lanes = bits.flatMap((each) =>
        [0n, 32n, 64n, 96n].map((shift) => `(int32_t)0x${BigInt.asUintN(32, each >> shift).toString(16)}u`),
      );
      return `{${lanes.join(', ')}}`;
    }
  }
}
