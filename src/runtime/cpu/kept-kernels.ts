// Compiled kernels on disk, so that a job's kernel is compiled once on a machine.
//
// An entry is named by all that a kernel is compiled from: its text and schema, those of the device functions that it may call, and
// what is known of the launch. It counts only for the very code of this package, the parser and the engine that made it. It is read as
// code for GPUs is: from folders that no other user can write to, and only if it hashes to what it says (code-cache.ts). What it says
// of places in the user's file is not kept: the functions at hand have theirs. Whatever is not plain text is not kept at all.

import { join } from 'node:path';
import v8 from 'node:v8';
import { version as parserVersion } from 'acorn';
import type { Specialisation, Specialised } from '../../compiler/specialise.ts';
import { type AnyFunction, createKernelSource } from '../../diagnostics/source.ts';
import { cacheFolders } from '../../files/cache-folders.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { isDeviceFunction } from '../../kernel/parameters.ts';
import type { DeviceFunction, DeviceSchema } from '../../kernel/schema.ts';
import type { WasmExecutable } from '../../targets/wasm/compile.ts';
import { CodeCache } from '../cuda/code-cache.ts';
import { digest } from './code-digest.text.js';

/** What a launch is bound with. */
export interface CompiledKernel {
  readonly specialised: Specialised;
  readonly executable: WasmExecutable;
}

/** What an entry holds. */
interface Entry extends Omit<WasmExecutable, 'target' | 'module'> {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of each of the program's sources: its name, and which of the kernel's functions it is of. */
  readonly sources: readonly { readonly name: string; readonly of: number }[];
}

/** What makes and runs the code: of an engine its version, flags and processor, as some have instructions that others lack. */
function maker(): string | null {
  try {
    return `${digest} ${parserVersion} ${v8.cachedDataVersionTag()}`;
  } catch {
    // Bun does not tell.
    return null;
  }
}

const thisMaker = maker();
const kind = 'wasm';

export class KeptKernels {
  readonly #cache: CodeCache;
  /** Null where it cannot be known: nothing is kept then. */
  readonly #maker: string | null;

  constructor(
    folders: readonly string[] = cacheFolders().map((folder) => join(folder, 'kernels')),
    madeBy: string | null = thisMaker,
  ) {
    this.#cache = new CodeCache(folders);
    this.#maker = madeBy;
  }

  /** A kernel that was compiled for this; null if none was kept. */
  find(kernel: Kernel, specialisation: Specialisation): CompiledKernel | null {
    if (this.#maker === null) return null;
    const made = madeFrom(kernel, specialisation);
    const code = made === null ? null : this.#cache.find({ text: made.text, options: [] }, kind, this.#maker);
    if (made === null || code === null) return null;
    try {
      const { bytes, sources, ...rest } = v8.deserialize(code) as Entry;
      return {
        specialised: {
          program: rest.program,
          sources: sources.map(({ name, of }) => createKernelSource(made.functions[of]!, name)),
        },
        executable: { target: 'wasm', module: new WebAssembly.Module(bytes), ...rest },
      };
    } catch {
      // Of an older Node, for example, which reads other data.
      return null;
    }
  }

  /** Keeps a kernel, and the bytes of its module. Where that cannot be, nothing is said. */
  keep(
    kernel: Kernel,
    specialisation: Specialisation,
    { specialised, executable }: CompiledKernel,
    bytes: Uint8Array,
  ): void {
    const made = madeFrom(kernel, specialisation);
    if (made === null || this.#maker === null) return;
    const { target: _, module: __, ...rest } = executable;
    const sources = specialised.sources.map(({ name, text }) => {
      const same = made.functions.flatMap((fn, of) =>
        createKernelSource(fn, name).text === text ? [of] : [],
      );
      return { name, of: same.length === 1 ? same[0]! : -1 };
    });
    // Of two functions of one text nobody could say which a fault is in.
    if (sources.some(({ of }) => of === -1)) return;
    const entry = v8.serialize({ ...rest, sources, bytes });
    this.#cache.keep({ text: made.text, options: [] }, kind, this.#maker, entry);
  }
}

/** All that a kernel is compiled from, as one text, and the functions whose texts are in it; null where there is more to it. */
function madeFrom(
  { name, schema, body, fma, launchBounds, kind }: Kernel,
  { block, indexType, cooperative, flatGrid, constants, functions: given }: Specialisation,
): { readonly text: string; readonly functions: readonly AnyFunction[] } | null {
  const functions: AnyFunction[] = [];
  const textOf = (fn: AnyFunction, name: string): string => {
    if (!functions.includes(fn)) functions.push(fn);
    return createKernelSource(fn, name).text;
  };
  const functionIn = ({ schema, body, results }: DeviceFunction, name: string): unknown[] => [
    textOf(body, name),
    typeof results === 'object' ? Object.entries(results) : (results ?? null),
    entriesOf(schema),
  ];
  const entriesOf = (entries: DeviceSchema): unknown[] =>
    Object.entries(entries).map(([name, entry]) => {
      if (typeof entry === 'string') return [name, entry];
      if (isDeviceFunction(entry)) return [name, functionIn(entry, name)];
      throw notPlain;
    });
  try {
    const text = JSON.stringify([
      ...[kind, name, fma, launchBounds ?? null, textOf(body, name), entriesOf(schema)],
      ...[block, indexType, cooperative ?? false, flatGrid ?? false],
      Object.entries(constants).map(([name, value]) => [name, typeof value, valueText(value)]),
      Object.entries(given).map(([name, fn]) => [name, functionIn(fn, name)]),
    ]);
    return { text, functions };
  } catch (error) {
    if (error === notPlain) return null;
    throw error;
  }
}

const notPlain = new Error('a schema has records');

/** A value's own text: JSON has none for NaN, bigints and negative zero. */
function valueText(value: unknown): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
