// Vectors of the machine's width: what a group of lanes does for neighbouring vectors, done for two or four at once.
//
// The writers of lanes repeat each statement for the vectors of a group, with a mark (`nop`) in front of each copy and
// behind the last. Where such copies differ in nothing but the vectors' locals, by position, and in 16 bytes from address to
// address, they are carried out together: what is the same in all of them once, the rest by a vector as wide as all. No
// copy reads a local that another one writes. Memory needs no proof: the copies are those of different threads, which
// between two meetings do not read what others write.What
// copies read that was written before them is one wide variable in the whole function; a local that would stand at
// two places keeps its copies as they are.

import type { WasmType } from '../wasm/encoder/code.ts';
import type { Instruction } from './decode.ts';
import { type Operation, operationOf, wideText } from './operations.ts';

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

/** Copies that are carried out together. */
export interface Together {
  readonly times: Times;
  /** Where each copy's mark is, and that behind the last. */
  readonly marks: readonly number[];
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

/** Finds what can be carried out together; by the position of its first mark. */
export function findTogether(
  body: readonly Instruction[],
  locals: readonly WasmType[],
  parameters: number,
  widest: Times,
): { readonly together: ReadonlyMap<number, Together>; readonly wide: WideLocals } {
  const together = new Map<number, Together>();
  const wide = new WideLocals();
  const marks = [...body.keys()].filter((position) => isMark(body[position]!));
  const allTimes: readonly Times[] = widest === 4 ? [4, 2] : [2];
  /** All that lies between so many marks, and is not taken with others already. */
  const each = (times: Times, taken: ReadonlySet<number>, use: (found: Together) => void) => {
    for (let at = 0; at + times < marks.length; at += 1) {
      const found = { times, marks: marks.slice(at, at + times + 1) };
      const own = found.marks.slice(0, -1);
      const isEmpty = own.some((mark, copy) => mark + 1 === found.marks[copy + 1]);
      if (!isEmpty && !own.some((mark) => taken.has(mark))) use(found);
    }
  };
  const isOwn = (local: number) => local >= parameters && locals[local] === 'v128';
  for (const times of allTimes) {
    each(times, new Set(), (found) => {
      const copies = separated(body, found);
      if (copies === null) return;
      const read: (readonly number[])[] = [];
      const joining: Joining = {
        wide,
        allows: (parts, isRead) => {
          if (!parts.every(isOwn)) return false;
          if (isRead) read.push(parts);
          return true;
        },
      };
      if (!new Copies(copies, times, locals, joining).write(unwritten)) return;
      for (const parts of read) if (parts.every((part) => wide.of(part) === undefined)) wide.add(parts);
    });
  }
  const taken = new Set<number>();
  for (const times of allTimes) {
    each(times, taken, (found) => {
      const copies = separated(body, found);
      const joining = joiningOf(wide, isOwn);
      if (copies === null || !new Copies(copies, times, locals, joining).write(unwritten)) return;
      together.set(found.marks[0]!, found);
      for (const mark of found.marks.slice(0, -1)) taken.add(mark);
    });
  }
  return { together, wide };
}

/** Says which locals may be taken for a wide variable: one that there is, or a new one where nobody has read them before. */
interface Joining {
  readonly wide: WideLocals;
  allows(parts: readonly number[], isRead: boolean): boolean;
}

function joiningOf(wide: WideLocals, isOwn: (local: number) => boolean): Joining {
  return {
    wide,
    allows: (parts, isRead) => {
      const known = parts.map((part) => wide.of(part)).find((each) => each !== undefined);
      if (known === undefined) return !isRead && parts.every(isOwn);
      return known.parts.join() === parts.join();
    },
  };
}

export function isMark(instruction: Instruction): boolean {
  return instruction.kind === 'plain' && instruction.name === 'nop';
}

interface Separated {
  /** What the first copy leaves in locals for all. */
  readonly shared: readonly Instruction[];
  readonly copies: readonly (readonly Instruction[])[];
}

/** The copies, and apart from the first what it does for the others, too; null where that is not to be told apart. */
function separated(body: readonly Instruction[], { marks }: Together): Separated | null {
  const [first, ...others] = marks.slice(0, -1).map((mark, copy) => body.slice(mark + 1, marks[copy + 1]));
  const [second] = others as [Instruction[]];
  if (others.some(({ length }) => length !== second.length)) return null;
  const shared: Instruction[] = [];
  const rest: Instruction[] = [];
  let at = 0;
  for (const other of second) {
    if (other.kind === 'get') {
      const one = first![at];
      const isGot = one?.kind === 'get' && one.local === other.local;
      const filled = isGot ? -1 : first!.findIndex((each, i) => i >= at && fills(each, other.local));
      if (filled >= 0) {
        const { local } = other;
        shared.push(...first!.slice(at, filled), { kind: 'set', local });
        at = filled + 1;
        if (first![filled]!.kind === 'tee') {
          rest.push(other);
          continue;
        }
      }
    }
    const one = first![at++];
    if (one === undefined) return null;
    rest.push(one);
  }
  return at === first!.length && isPlain(shared) ? { shared, copies: [rest, ...others] } : null;
}

function fills(instruction: Instruction, local: number): boolean {
  return (instruction.kind === 'set' || instruction.kind === 'tee') && instruction.local === local;
}

/** Whether instructions leave nothing but locals behind them. */
function isPlain(instructions: readonly Instruction[]): boolean {
  return instructions.every(({ kind, ...rest }) => {
    if (kind === 'plain') return !['return', 'unreachable'].includes((rest as { name: string }).name);
    if (kind === 'memory') return !/store|atomic/.test((rest as { name: string }).name);
    return ['get', 'set', 'tee', 'constant', 'shuffle', 'lane'].includes(kind);
  });
}

const unwritten: Output = {
  value: () => '',
  variable: () => '',
  line: () => {},
  plain: () => {},
  get: () => '',
  set: () => {},
  address: () => '',
};

/** Writes what was found. */
export function writeTogether(
  body: readonly Instruction[],
  found: Together,
  locals: readonly WasmType[],
  wide: WideLocals,
  output: Output,
): void {
  const copies = separated(body, found);
  const joining = joiningOf(wide, () => true);
  if (copies === null || !new Copies(copies, found.times, locals, joining).write(output))
    throw new Error('what was found to go together does not');
}

/** Carries copies out together, instruction by instruction; gives up where they cannot be. */
class Copies {
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
    return text !== null && this.#push(output, typeOf(result), isWide, text);
  }

  #take(count: number): Value[] {
    return this.#stack.splice(Math.max(0, this.#stack.length - count));
  }

  #memory(name: string, offsets: readonly number[], output: Output): boolean {
    const isSame = offsets.every((offset) => offset === offsets[0]);
    const isBeside = offsets.every((offset, copy) => offset === offsets[0]! + 16 * copy);
    if (name === 'v128.store') {
      const [address, value] = this.#take(2);
      if (value === undefined || address!.isWide || !isBeside) return false;
      this.#isWide = true;
      output.line(
        `ws_store${this.#times}(${output.address(address!.text, offsets[0]!)}, ${this.#widened(value)});`,
      );
      return true;
    }
    if (name.includes('store') || name.includes('atomic')) return false;
    const [address] = this.#take(1);
    if (address === undefined || address.isWide) return false;
    const at = output.address(address.text, offsets[0]!);
    if (isSame) return this.#push(output, typeOfName(name), false, `ws_${name.replaceAll('.', '_')}(${at})`);
    return (
      name === 'v128.load' && isBeside && this.#push(output, 'v128', true, `ws_load${this.#times}(${at})`)
    );
  }
}

const letters: Readonly<Record<string, WasmType>> = { i: 'i32', l: 'i64', f: 'f32', d: 'f64', v: 'v128' };

function typeOf(letter: string): WasmType {
  return letters[letter]!;
}

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
