// Writes one function of a module as C.
//
// What WebAssembly has on its stack are constants of C here, each assigned once; a block is a label that branches go to.
// At the top of a loop the code looks whether it is to stop, since nothing else could stop it. What stands behind a
// branch until its block ends is never run, and is not written.

import type { WasmType } from '../wasm/encoder/code.ts';
import {
  type DecodedFunction,
  type DecodedModule,
  type Instruction,
  isStore,
  type Signature,
  signatureOf,
  valuesOfMemory,
} from '../wasm/encoder/decode.ts';
import type { LaneInstruction, PlainInstruction } from '../wasm/encoder/opcodes.ts';
import { constantText, type Output, type Times, WideLocals } from './copies.ts';
import { foldAt } from './folds.ts';
import { laneOperations, type Operation, operationOf, textOf, typeOfLetter } from './operations.ts';
import { findTogether, type Together, writeTogether } from './widening.ts';

export const cTypes: Readonly<Record<WasmType, string>> = {
  i32: 'uint32_t',
  i64: 'uint64_t',
  f32: 'float',
  f64: 'double',
  v128: 'ws_v128',
};

interface Value {
  readonly type: WasmType;
  readonly text: string;
}

interface Open {
  readonly kind: 'block' | 'loop' | 'if';
  readonly label: number;
  /** How many values lie below it. */
  readonly height: number;
  /** The variable that an `if` leaves its value in. */
  readonly result: Value | null;
  /** Whether anything branches to it. */
  isUsed: boolean;
}

/** `static` and the types and names of the parameters. */
export function declarationOf(number: number, { parameters, results }: Signature): string {
  const list = parameters.map((type, i) => `, ${cTypes[type]} l${i}`).join('');
  const [result] = results;
  return `static ${result === undefined ? 'void' : cTypes[result]} f${number}(struct ws_env *e${list})`;
}

/** `widest`: how many vectors of 128 bits one may be. */
export function functionText(module: DecodedModule, number: number, widest: 1 | Times): string {
  const { imports, functions } = module;
  return new FunctionWriter(module, functions[number - imports.length]!, widest).write(number);
}

const wideTypes = { 2: 'ws_v256', 4: 'ws_v512' } as const;

class FunctionWriter {
  readonly #module: DecodedModule;
  readonly #function: DecodedFunction;
  readonly #lines: string[] = [];
  readonly #stack: Value[] = [];
  readonly #open: Open[] = [];
  #values = 0;
  #labels = 0;
  #copies = 0;
  /** While what is read is never run: how many blocks were opened in it. */
  #dead: number | null = null;

  readonly #wide: WideLocals;
  readonly #together: ReadonlyMap<number, Together>;

  constructor(module: DecodedModule, decoded: DecodedFunction, widest: 1 | Times) {
    this.#module = module;
    this.#function = decoded;
    const { body, locals, parameters } = decoded;
    const found = widest === 1 ? null : findTogether(body, locals, parameters.length, widest);
    this.#wide = found?.wide ?? new WideLocals();
    this.#together = found?.together ?? new Map();
  }

  write(number: number): string {
    const { parameters, results, locals, body } = this.#function;
    const zero = (type: WasmType) => (type === 'v128' ? '{0}' : '0');
    locals.forEach((type, i) => {
      if (i >= parameters.length && this.#wide.of(i) === undefined)
        this.#line(`${cTypes[type]} l${i} = ${zero(type)};`);
    });
    this.#line('uint8_t *const m = e->memory;');
    this.#line('const volatile int32_t *const stop = e->stop;');
    for (const { name, times } of this.#wide.all) this.#line(`${wideTypes[times]} ${name} = {0};`);
    const copies = body.filter(({ kind }) => kind === 'copy');
    for (const at of copies.keys()) this.#line(`ws_address c${at} = 0;`);
    for (let position = 0; position < body.length; position += 1) {
      const together = this.#dead === null ? this.#together.get(position) : undefined;
      if (together === undefined) {
        const fold = this.#dead === null ? foldAt(body, position, this.#wide) : null;
        if (fold === null) this.#instruction(body[position]!);
        else {
          this.#push(fold.type, fold.text);
          position = fold.end - 1;
        }
        continue;
      }
      writeTogether(body, together, locals, this.#wide, this.#output());
      position = together.marks.at(-1)! - 1;
    }
    if (results.length > 0 && this.#dead === null) this.#line(`return ${this.#pop().text};`);
    return `${declarationOf(number, this.#function)} {\n${this.#lines.join('\n')}\n}\n`;
  }

  #line(text: string): void {
    this.#lines.push(`  ${text}`);
  }

  #push(type: WasmType, text: string): void {
    const name = `t${this.#values++}`;
    this.#line(`const ${cTypes[type]} ${name} = ${text};`);
    this.#stack.push({ type, text: name });
  }

  #pop(): Value {
    const value = this.#stack.pop();
    if (value === undefined) throw new Error('the module takes a value that is not there');
    return value;
  }

  #getLocal(local: number): string {
    const wide = this.#wide.of(local);
    if (wide === undefined) return `l${local}`;
    return `ws_part${wide.times}(${wide.name}, ${wide.parts.indexOf(local)})`;
  }

  #setLocal(local: number, text: string): void {
    const wide = this.#wide.of(local);
    if (wide === undefined) this.#line(`l${local} = ${text};`);
    else
      this.#line(`${wide.name} = ws_with${wide.times}(${wide.name}, ${wide.parts.indexOf(local)}, ${text});`);
  }

  /** Where vectors of the machine's width are written. */
  #output(): Output {
    return {
      value: (type, text) => {
        const name = `t${this.#values++}`;
        this.#line(`const ${typeof type === 'number' ? wideTypes[type] : cTypes[type]} ${name} = ${text};`);
        return name;
      },
      variable: (times) => {
        const name = `p${this.#values++}`;
        this.#line(`${wideTypes[times]} ${name};`);
        return name;
      },
      line: (text) => this.#line(text),
      plain: (instructions) => {
        for (const instruction of instructions) this.#instruction(instruction);
      },
      get: (local) => this.#getLocal(local),
      set: (local, text) => this.#setLocal(local, text),
      address: (address, offset) => this.#address(address, offset),
    };
  }

  /** The last values, in the order in which they were pushed. */
  #take(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.#pop().text).reverse();
  }

  #instruction(instruction: Instruction): void {
    const { kind } = instruction;
    if (this.#dead !== null) {
      if (kind === 'block' || kind === 'loop' || kind === 'if') this.#dead += 1;
      else if (kind === 'end' && this.#dead > 0) this.#dead -= 1;
      else if (kind === 'end' || (kind === 'else' && this.#dead === 0)) this.#structure(instruction);
      return;
    }
    switch (kind) {
      case 'plain':
        this.#plain(instruction.name as PlainInstruction);
        return;
      case 'engine':
        throw new Error(`no C is written for ${instruction.name}`);
      case 'constant':
        this.#push(instruction.type, constantText(instruction.type, [instruction.bits]));
        return;
      case 'get':
        this.#push(this.#function.locals[instruction.local]!, this.#getLocal(instruction.local));
        return;
      case 'set':
        this.#setLocal(instruction.local, this.#pop().text);
        return;
      case 'tee':
        this.#setLocal(instruction.local, this.#stack.at(-1)!.text);
        return;
      case 'lane': {
        const operation = laneOperations[instruction.name as LaneInstruction];
        this.#operation(operation, (text) => text.replace(/\bn\b/, String(instruction.lane)));
        return;
      }
      case 'shuffle': {
        const [a, b] = this.#take(2);
        this.#push('v128', `WS_SHUFFLE(${a}, ${b}, ${instruction.bytes.join(', ')})`);
        return;
      }
      case 'memory':
        this.#memory(instruction.name, instruction.offset);
        return;
      case 'lane memory': {
        const [address, value] = this.#take(2);
        const at = this.#address(address!, instruction.offset);
        const text = `${cName(instruction.name)}(${at}, ${value}, ${instruction.lane})`;
        if (instruction.name.includes('load')) this.#push('v128', text);
        else this.#line(`${text};`);
        return;
      }
      case 'fence':
        this.#line('__atomic_thread_fence(__ATOMIC_SEQ_CST);');
        return;
      case 'copy': {
        const [to, from, bytes] = this.#take(3);
        this.#line(`ws_copy(m, ${to}, ${from}, ${bytes}, &c${this.#copies++});`);
        return;
      }
      case 'fill': {
        const [to, byte, bytes] = this.#take(3);
        this.#line(`memset(m + ${to}, (int)${byte}, ${bytes});`);
        return;
      }
      case 'call':
        this.#call(instruction.target);
        return;
      default:
        this.#structure(instruction);
        return;
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
        const condition = this.#pop().text;
        const { type, text } = this.#pop();
        this.#push(type, `${condition} ? ${this.#pop().text} : ${text}`);
        return;
      }
      case 'return': {
        const [result] = this.#function.results;
        this.#line(result === undefined ? 'return;' : `return ${this.#pop().text};`);
        this.#leave();
        return;
      }
      case 'unreachable':
        this.#line(`${operationOf(name)[1]};`);
        this.#leave();
        return;
      default:
        this.#operation(operationOf(name), (text) => text);
        return;
    }
  }

  #operation(operation: Operation, finished: (text: string) => string): void {
    const [operands = '', result = ''] = operation[0].split('>');
    const text = textOf(operation, this.#take(operands.length));
    if (result === '_') this.#line(`${text};`);
    else this.#push(typeOfLetter(result), finished(text));
  }

  /** The sum does not wrap: it has 64 bits. */
  #address(address: string, offset: number): string {
    return offset === 0 ? `m + ${address}` : `m + ${address} + ${offset}u`;
  }

  #memory(name: string, offset: number): void {
    const [type = ''] = name.split('.');
    const [address, ...values] = this.#take(1 + valuesOfMemory(name));
    const call = `${cName(name)}(${[this.#address(address!, offset), ...values].join(', ')})`;
    if (isStore(name)) this.#line(`${call};`);
    else this.#push(type as WasmType, call);
  }

  #call(target: number): void {
    const { parameters, results } = signatureOf(this.#module, target);
    const operands = this.#take(parameters.length);
    const call = `f${target}(${['e', ...operands].join(', ')})`;
    const [result] = results;
    if (result === undefined) this.#line(`${call};`);
    else this.#push(result, call);
  }

  // Structure

  #structure(instruction: Instruction): void {
    switch (instruction.kind) {
      case 'block':
        this.#enter('block', null);
        return;
      case 'loop': {
        const { label } = this.#enter('loop', null);
        this.#line(`b${label}: if (WS_UNLIKELY(*stop)) ws_stop(e);`);
        return;
      }
      case 'if': {
        const condition = this.#pop().text;
        const { type } = instruction;
        const result = type === null ? null : { type, text: `t${this.#values++}` };
        if (result !== null) this.#line(`${cTypes[result.type]} ${result.text};`);
        this.#enter('if', result);
        this.#line(`if (${condition}) {`);
        return;
      }
      case 'else':
        this.#closeBranch(this.#open.at(-1)!);
        this.#line('} else {');
        this.#dead = null;
        return;
      case 'end': {
        const closed = this.#open.pop()!;
        this.#closeBranch(closed);
        if (closed.kind === 'if') this.#line('}');
        if (closed.kind !== 'loop' && closed.isUsed) this.#line(`b${closed.label}:;`);
        // What comes behind a loop is not run, if its end is not reached; a block may be left by a branch.
        if (closed.kind !== 'loop') this.#dead = null;
        if (closed.kind === 'loop' && this.#dead !== null) this.#dead = 0;
        if (closed.result !== null) this.#stack.push(closed.result);
        return;
      }
      case 'br':
        this.#line(`${this.#branch(instruction.depth)}`);
        this.#leave();
        return;
      case 'br_if':
        this.#line(`if (${this.#pop().text}) ${this.#branch(instruction.depth)}`);
        return;
      case 'br_table': {
        const cases = instruction.depths.map((depth, i, { length }) => {
          return `${i === length - 1 ? 'default' : `case ${i}`}: ${this.#branch(depth)}`;
        });
        this.#line(`switch (${this.#pop().text}) { ${cases.join(' ')} }`);
        this.#leave();
        return;
      }
    }
  }

  #enter(kind: Open['kind'], result: Value | null): Open {
    const opened = { kind, label: this.#labels++, height: this.#stack.length, result, isUsed: false };
    this.#open.push(opened);
    return opened;
  }

  #branch(depth: number): string {
    const target = this.#open.at(-1 - depth);
    if (target === undefined) {
      if (this.#function.results.length > 0) throw new Error('a branch leaves the function with a value');
      return 'return;';
    }
    target.isUsed = true;
    return `goto b${target.label};`;
  }

  /** A branch of an `if` has come to its end. */
  #closeBranch({ result, height }: Open): void {
    if (this.#dead === null && result !== null) this.#line(`${result.text} = ${this.#pop().text};`);
    this.#stack.length = height;
  }

  /** What comes next in this block is never run. */
  #leave(): void {
    this.#dead = 0;
  }
}

/** The prelude's function for an instruction. */
function cName(instruction: string): string {
  return `ws_${instruction.replaceAll('.', '_')}`;
}
