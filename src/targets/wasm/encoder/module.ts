// Writes a WebAssembly module: types, imports, functions, exports and the names of everything.
//
// A module imports one shared memory and whatever functions its code calls; which these are is
// known when all code is written, and they are numbered then, imports first.

import { pushName, pushSized, pushUnsigned } from './bytes.ts';
import { Code, type FunctionReference, typeBytes, type WasmType } from './code.ts';

/** A function that the host gives. */
export interface Import extends FunctionReference {
  readonly module: string;
}

/** The largest memories, in pages of 64 KiB: what 32 bits count, and what engines give of 64. */
const maximumPages = { i32: 65536, i64: 262144 } as const;

const section = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;

export class ModuleWriter {
  readonly #imports: Import[] = [];
  readonly #functions: { readonly reference: FunctionReference; readonly code: Code }[] = [];
  readonly #exports: FunctionReference[] = [];
  readonly #addressType: 'i32' | 'i64';

  /** `addressType`: that of its memory. */
  constructor(addressType: 'i32' | 'i64' = 'i32') {
    this.#addressType = addressType;
  }

  /** Declares a function of the host; the same reference each time it is asked for. */
  import(
    module: string,
    name: string,
    parameters: readonly WasmType[],
    results: readonly WasmType[],
  ): FunctionReference {
    const known = this.#imports.find((each) => each.module === module && each.name === name);
    if (known !== undefined) return known;
    const added: Import = { module, name, parameters, results };
    this.#imports.push(added);
    return added;
  }

  /** Adds a function. Its code may be written afterwards. */
  function(
    name: string,
    code: Code,
    parameters: readonly WasmType[],
    results: readonly WasmType[],
    { exported = false }: { exported?: boolean } = {},
  ): FunctionReference {
    const reference: FunctionReference = { name, parameters, results };
    this.#functions.push({ reference, code });
    if (exported) this.#exports.push(reference);
    return reference;
  }

  /** The module as bytes. It imports its memory as `env.memory`. */
  encode(): Uint8Array<ArrayBuffer> {
    const all = [...this.#imports, ...this.#functions.map(({ reference }) => reference)];
    const numbers = new Map(all.map((reference, number) => [reference, number]));
    const numberOf = (reference: FunctionReference) => {
      const number = numbers.get(reference);
      if (number === undefined) throw new Error(`${reference.name} is not a function of this module`);
      return number;
    };

    const types: number[][] = [];
    const typeNumbers = new Map<string, number>();
    const typeOf = ({ parameters, results }: FunctionReference) => {
      const key = `${parameters.join()}:${results.join()}`;
      const known = typeNumbers.get(key);
      if (known !== undefined) return known;
      const encoded = [0x60];
      for (const list of [parameters, results]) {
        pushSized(
          encoded,
          list.map((type) => typeBytes[type]),
        );
      }
      typeNumbers.set(key, types.length);
      types.push(encoded);
      return types.length - 1;
    };

    const imports: number[][] = [];
    const memory: number[] = [];
    pushName(memory, 'env');
    pushName(memory, 'memory');
    // A memory with limits, shared; the smallest and largest sizes accept every memory.
    memory.push(0x02, this.#addressType === 'i64' ? 0x07 : 0x03, 0);
    pushUnsigned(memory, maximumPages[this.#addressType]);
    imports.push(memory);
    for (const each of this.#imports) {
      const entry: number[] = [];
      pushName(entry, each.module);
      pushName(entry, each.name);
      entry.push(0x00);
      pushUnsigned(entry, typeOf(each));
      imports.push(entry);
    }

    const functions = this.#functions.map(({ reference }) => {
      const entry: number[] = [];
      pushUnsigned(entry, typeOf(reference));
      return entry;
    });
    const exports = this.#exports.map((reference) => {
      const entry: number[] = [];
      pushName(entry, reference.name);
      entry.push(0x00);
      pushUnsigned(entry, numberOf(reference));
      return entry;
    });
    const code = this.#functions.map(({ code }) => code.encode(numberOf));

    const bytes = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
    pushSection(bytes, section.type, types);
    pushSection(bytes, section.import, imports);
    pushSection(bytes, section.function, functions);
    pushSection(bytes, section.export, exports);
    pushSection(bytes, section.code, code);
    this.#pushNames(bytes, all, numberOf);
    return Uint8Array.from(bytes);
  }

  #pushNames(
    bytes: number[],
    all: readonly FunctionReference[],
    numberOf: (reference: FunctionReference) => number,
  ): void {
    const functions: number[] = [];
    pushUnsigned(functions, all.length);
    all.forEach(({ name }, number) => {
      pushUnsigned(functions, number);
      pushName(functions, name);
    });
    const locals: number[] = [];
    pushUnsigned(locals, this.#functions.length);
    for (const { reference, code } of this.#functions) {
      pushUnsigned(locals, numberOf(reference));
      const named = [...code.localNames.entries()].filter(([, name]) => name !== '');
      pushUnsigned(locals, named.length);
      for (const [number, name] of named) {
        pushUnsigned(locals, number);
        pushName(locals, name);
      }
    }
    const content: number[] = [];
    pushName(content, 'name');
    content.push(1);
    pushSized(content, functions);
    content.push(2);
    pushSized(content, locals);
    bytes.push(0);
    pushSized(bytes, content);
  }
}

function pushSection(bytes: number[], id: number, entries: readonly (readonly number[])[]): void {
  const content: number[] = [];
  pushUnsigned(content, entries.length);
  for (const entry of entries) for (const byte of entry) content.push(byte);
  bytes.push(id);
  pushSized(bytes, content);
}

/** Whether the engine has relaxed SIMD: Node does from version 21. It is asked each time, which takes microseconds. */
export function hasRelaxedSimd(): boolean {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'x', type: 'v128' }]);
  writer.function('f', code, ['v128'], ['v128']);
  code.get(0).get(0).get(0).relaxed('f32x4.relaxed_madd');
  return WebAssembly.validate(writer.encode());
}
