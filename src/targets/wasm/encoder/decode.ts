// Reads a module of WebAssembly back into instructions, as far as our encoder writes it.
//
// What an instruction is called, and which immediates it has, is said by the encoder's own tables; anything else
// is an error, since then the module is none of ours.

import type { WasmType } from './code.ts';
import { typeBytes } from './code.ts';
import {
  atomicFence,
  engineOpcodes,
  laneMemoryOpcodes,
  laneOpcodes,
  memoryCopy,
  memoryFill,
  memoryOpcodes,
  plainOpcodes,
  processorOpcodes,
  relaxedOpcodes,
  shuffle,
  v128Const,
} from './opcodes.ts';

/** One instruction, with what stands behind its opcode. */
export type Instruction =
  | { readonly kind: 'plain'; readonly name: string }
  /** Of modules for an engine alone. It takes so many vectors, and gives one. */
  | { readonly kind: 'engine'; readonly name: string; readonly operands: 1 | 2 }
  | { readonly kind: 'lane'; readonly name: string; readonly lane: number }
  | { readonly kind: 'memory'; readonly name: string; readonly offset: number }
  | { readonly kind: 'lane memory'; readonly name: string; readonly offset: number; readonly lane: number }
  | { readonly kind: 'get' | 'set' | 'tee'; readonly local: number }
  | { readonly kind: 'constant'; readonly type: WasmType; readonly bits: bigint }
  | { readonly kind: 'shuffle'; readonly bytes: readonly number[] }
  | { readonly kind: 'fence' | 'copy' | 'fill' | 'else' | 'end' }
  | { readonly kind: 'block' | 'loop' }
  | { readonly kind: 'if'; readonly type: WasmType | null }
  | { readonly kind: 'br' | 'br_if'; readonly depth: number }
  | { readonly kind: 'br_table'; readonly depths: readonly number[] }
  | { readonly kind: 'call'; readonly target: number };

export interface Signature {
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** A function that the host gives. */
export interface ImportedFunction extends Signature {
  readonly module: string;
  readonly name: string;
}

export interface DecodedFunction extends Signature {
  /** Types of the parameters, then of the other locals. */
  readonly locals: readonly WasmType[];
  /** Without the last `end`. */
  readonly body: readonly Instruction[];
  /** Its entry in the code section, and where in that each instruction of the body ends. */
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
}

/** How many values an instruction of memory takes beside the address. */
export function valuesOfMemory(name: string): number {
  if (name.endsWith('.cmpxchg')) return 2;
  return name.includes('.store') || name.includes('.rmw') ? 1 : 0;
}

/** Whether an instruction of memory leaves no value. */
export function isStore(name: string): boolean {
  return name.includes('.store');
}

/** Functions are numbered imports first. */
export interface DecodedModule {
  readonly imports: readonly ImportedFunction[];
  readonly functions: readonly DecodedFunction[];
  /** The type of addresses in its memory. */
  readonly addressType: 'i32' | 'i64';
  /** Numbers of functions, by the names under which they are exported. */
  readonly exports: ReadonlyMap<string, number>;
}

/** What a function takes and gives, by its number. */
export function signatureOf({ imports, functions }: DecodedModule, number: number): Signature {
  return imports[number] ?? functions[number - imports.length]!;
}

const typeOfByte = new Map(
  Object.entries(typeBytes).map(([type, byte]) => [byte as number, type as WasmType]),
);

/** Names by opcode, of each kind of immediates. */
const named = (table: Readonly<Record<string, number | readonly [number, number]>>) =>
  new Map(Object.entries(table).map(([name, at]) => [typeof at === 'number' ? at : at[0], name]));
const plain = named({ ...plainOpcodes, ...relaxedOpcodes, ...processorOpcodes });
const ofEngine = named(engineOpcodes);
const ofLane = named(laneOpcodes);
const ofMemory = named(memoryOpcodes);
const ofLaneMemory = named(laneMemoryOpcodes);

const utf8 = new TextDecoder();

export class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** All that it reads, and how far it is. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('the module ends too early');
    this.#at += 1;
    return byte;
  }

  take(length: number): Uint8Array {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  unsigned(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  signed(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(Number(shift) + 7, value);
    }
  }

  /** Little-endian. */
  bits(bytes: number): bigint {
    return this.take(bytes).reduceRight((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
  }

  type(): WasmType {
    const type = typeOfByte.get(this.byte());
    if (type === undefined) throw new Error('the module has a type that we never write');
    return type;
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.unsigned() }, read);
  }

  name(): string {
    return utf8.decode(this.take(this.unsigned()));
  }

  sized(): Reader {
    return new Reader(this.take(this.unsigned()));
  }
}

export function decodeModule(bytes: Uint8Array): DecodedModule {
  const module = new Reader(bytes.subarray(8));
  const types: Signature[] = [];
  const imports: ImportedFunction[] = [];
  const own: Signature[] = [];
  const exports = new Map<string, number>();
  const functions: DecodedFunction[] = [];
  let addressType: DecodedModule['addressType'] = 'i32';
  const sections: Readonly<Record<number, (section: Reader) => void>> = {
    1: (section) =>
      types.push(
        ...section.list(() => {
          section.byte();
          const parameters = section.list(() => section.type());
          return { parameters, results: section.list(() => section.type()) };
        }),
      ),
    2: (section) => {
      section.list(() => {
        const place = { module: section.name(), name: section.name() };
        if (section.byte() === 0x00) {
          imports.push({ ...place, ...types[section.unsigned()]! });
          return;
        }
        // The memory: its flags, and both limits.
        if ((section.unsigned() & 4) !== 0) addressType = 'i64';
        for (let i = 0; i < 2; i += 1) section.unsigned();
      });
    },
    3: (section) => own.push(...section.list(() => types[section.unsigned()]!)),
    7: (section) => {
      section.list(() => {
        const name = section.name();
        section.byte();
        exports.set(name, section.unsigned());
      });
    },
    10: (section) => {
      section.list(() => functions.push(decodeFunction(section.sized(), own[functions.length]!)));
    },
  };
  while (!module.isAtEnd) {
    const read = sections[module.byte()];
    const section = module.sized();
    read?.(section);
  }
  return { addressType, imports, functions, exports };
}

function decodeFunction(code: Reader, signature: Signature): DecodedFunction {
  const locals = [...signature.parameters];
  code.list(() => {
    const count = code.unsigned();
    const type = code.type();
    for (let i = 0; i < count; i += 1) locals.push(type);
  });
  const body: Instruction[] = [];
  const ends: number[] = [];
  while (!code.isAtEnd) {
    body.push(instruction(code));
    ends.push(code.at);
  }
  body.pop();
  ends.pop();
  return { ...signature, locals, body, bytes: code.bytes, ends };
}

function instruction(code: Reader): Instruction {
  const first = code.byte();
  const opcode = first >= 0xfc ? first * 0x1000 + code.unsigned() : first;
  const name = plain.get(opcode);
  if (name !== undefined) return { kind: 'plain', name };
  const engine = ofEngine.get(opcode);
  if (engine !== undefined)
    return { kind: 'engine', name: engine, operands: engine.includes('trunc') ? 1 : 2 };
  const offset = () => {
    code.unsigned();
    return code.unsigned();
  };
  const memory = ofMemory.get(opcode);
  if (memory !== undefined) return { kind: 'memory', name: memory, offset: offset() };
  const lane = ofLane.get(opcode);
  if (lane !== undefined) return { kind: 'lane', name: lane, lane: code.byte() };
  const laneMemory = ofLaneMemory.get(opcode);
  if (laneMemory !== undefined)
    return { kind: 'lane memory', name: laneMemory, offset: offset(), lane: code.byte() };
  return withOwnForm(opcode, code);
}

/** Instructions whose immediates are their own. */
function withOwnForm(opcode: number, code: Reader): Instruction {
  switch (opcode) {
    case 0x02:
    case 0x03:
      code.byte();
      return { kind: opcode === 0x02 ? 'block' : 'loop' };
    case 0x04:
      return { kind: 'if', type: typeOfByte.get(code.byte()) ?? null };
    case 0x05:
      return { kind: 'else' };
    case 0x0b:
      return { kind: 'end' };
    case 0x0c:
      return { kind: 'br', depth: code.unsigned() };
    case 0x0d:
      return { kind: 'br_if', depth: code.unsigned() };
    case 0x0e: {
      const depths = code.list(() => code.unsigned());
      return { kind: 'br_table', depths: [...depths, code.unsigned()] };
    }
    case 0x10:
      return { kind: 'call', target: code.unsigned() };
    case 0x20:
      return { kind: 'get', local: code.unsigned() };
    case 0x21:
      return { kind: 'set', local: code.unsigned() };
    case 0x22:
      return { kind: 'tee', local: code.unsigned() };
    case 0x41:
      return { kind: 'constant', type: 'i32', bits: BigInt.asUintN(32, code.signed()) };
    case 0x42:
      return { kind: 'constant', type: 'i64', bits: BigInt.asUintN(64, code.signed()) };
    case 0x43:
      return { kind: 'constant', type: 'f32', bits: code.bits(4) };
    case 0x44:
      return { kind: 'constant', type: 'f64', bits: code.bits(8) };
    case v128Const:
      return { kind: 'constant', type: 'v128', bits: code.bits(16) };
    case shuffle:
      return { kind: 'shuffle', bytes: [...code.take(16)] };
    case atomicFence:
      code.byte();
      return { kind: 'fence' };
    case memoryCopy:
      code.take(2);
      return { kind: 'copy' };
    case memoryFill:
      code.byte();
      return { kind: 'fill' };
    default:
      throw new Error(`the module has an instruction that we never write: ${opcode.toString(16)}`);
  }
}
