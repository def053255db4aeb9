// A thread's side of a kernel that was compiled for this processor.
//
// WebAssembly runs until the library lies there. Then the lead adopts it before a launch, for all threads, which load
// it when they next run blocks. The code has what WebAssembly has: the device's memory, by its address, and the
// functions of the host, which it calls by number, with operands and result in words of `ws_env`. It looks in every
// loop at the word that tells it to stop; the thread is about to be ended then, leaves, and waits for that. Whoever ends a
// thread waits until it has left native code: koffi aborts the process of a thread that is ended while it is there.

import { createRequire } from 'node:module';
import type * as Koffi from 'koffi';
import {
  type BlockRunner,
  type Executable,
  type NativeCode,
  nativeStates,
  type RunnerContext,
} from '../../../targets/executable.ts';
import { sharedBytes } from '../../../targets/shared-bytes.ts';
import { mathImport } from '../../../targets/wasm/host-functions.ts';
import {
  blockRunner,
  type CodeFunctions,
  createWasmRunner,
  type HostSide,
  hostSide,
} from '../../../targets/wasm/runner.ts';

type WasmExecutable = Extract<Executable, { target: 'wasm' }>;

/** Of `ws_env`: where its words lie, in bytes. */
const environment = { memory: 0, stop: 8, values: 32, bytes: 32 + 16 * 8 } as const;

export function createNativeRunner(executable: WasmExecutable, context: RunnerContext): BlockRunner {
  const { native } = executable;
  const portable = createWasmRunner(executable, context);
  if (native === undefined) return portable;
  const state = new Int32Array(native.state);
  const { stop = new Int32Array(sharedBytes(8)) } = context;
  let own: { readonly run: BlockRunner; readonly unload: () => void } | null = null;
  const run: BlockRunner = (record, arena, first, end) => {
    if (Atomics.load(state, 0) !== nativeStates.adopted) return portable(record, arena, first, end);
    return inside(stop, () => {
      own ??= libraryRunner(executable, native, { ...context, stop });
      return own.run(record, arena, first, end);
    });
  };
  const begins = () => {
    Atomics.compareExchange(state, 0, nativeStates.ready, nativeStates.adopted);
  };
  return Object.assign(run, { begins, ends: () => inside(stop, () => own?.unload()) });
}

function libraryRunner(portable: WasmExecutable, native: NativeCode, context: RunnerContext) {
  const executable = { ...portable, sites: native.sites };
  const host = hostSide(executable, context);
  const library = loadLibrary(native);
  const functions = libraryFunctions(library, native, context, host);
  return {
    run: blockRunner(executable, context, functions as unknown as CodeFunctions, host),
    unload: () => library.unload(),
  };
}

type Loaded = Koffi.LibraryHandle & { readonly koffi: typeof Koffi };

/** Loads a library, in a thread that has no place of its own to look for the package that does so. */
export function loadLibrary({ koffi: path, path: library }: Pick<NativeCode, 'koffi' | 'path'>): Loaded {
  const koffi = createRequire(path)(path) as typeof Koffi;
  return Object.assign(koffi.load(library), { koffi });
}

/** The functions of a library, as those of a module would be called. `host`: null for one that calls none. */
export function libraryFunctions(
  library: Loaded,
  native: Pick<NativeCode, 'imports' | 'exports'>,
  context: RunnerContext,
  host: HostSide | null,
): Readonly<Record<string, (...values: number[]) => number>> {
  const { koffi } = library;
  const words = sharedBytes(environment.bytes);
  const view = new DataView(words);
  const stop = context.stop ?? new Int32Array(sharedBytes(8));
  const address = (bytes: ArrayBufferView) => BigInt(koffi.address(bytes));
  view.setBigUint64(environment.memory, address(new Uint8Array(context.memory.buffer)), true);
  view.setBigUint64(environment.stop, address(stop), true);
  const env = new Uint8Array(words);
  const callback = koffi.pointer(koffi.proto('void', ['uint32_t']));
  const functions = native.imports.map((each) => hostFunction(each, view, host!));
  const call = (number: number) => functions[number]!();
  const entries = Object.entries(native.exports).map(([name, parameters]) => {
    const operands = Array.from({ length: parameters }, () => 'uint32_t');
    const entry = library.func(`ws_export_${name}`, 'uint64_t', ['void *', callback, ...operands]);
    return [name, (...values: number[]) => ended(Number(entry(env, call, ...values)), stop)] as const;
  });
  return Object.fromEntries(entries);
}

/** Runs `work`, in which a thread may not be ended. One that is about to be ended waits here for its end instead. */
function inside<T>(stop: Int32Array, work: () => T): T {
  Atomics.add(stop, 1, 1);
  if (Atomics.load(stop, 0) !== 0) awaitEnd(stop);
  try {
    return work();
  } finally {
    leave(stop);
  }
}

function leave(stop: Int32Array): void {
  if (Atomics.sub(stop, 1, 1) === 1) Atomics.notify(stop, 1);
}

/** Leaves native code and waits: whoever set the word ends this thread. */
function awaitEnd(stop: Int32Array): void {
  leave(stop);
  const forEver = new Int32Array(sharedBytes(4));
  while (Atomics.load(stop, 0) !== 0) Atomics.wait(forEver, 0, 0);
}

/** The result of a function that ran to its end. */
function ended(result: number, stop: Int32Array): number {
  if (result < 2 ** 32) return result;
  if (result === 2 * 2 ** 32) awaitEnd(stop);
  throw new Error('the compiled code met what it never should: WebAssembly would have trapped');
}

/** Calls a function of the host with the words that lie there, and leaves its result. */
function hostFunction(
  { module, name, parameters, results }: NativeCode['imports'][number],
  view: DataView,
  { functions }: HostSide,
): () => void {
  const modules = functions as unknown as Record<string, Record<string, (...values: unknown[]) => unknown>>;
  const target =
    module === 'math' ? (mathImport(name) as (...values: unknown[]) => unknown) : modules[module]![name]!;
  const { values } = environment;
  return () => {
    const given = parameters.map((type, i) => readers[type]!(view, values + 8 * i));
    const result = target(...given);
    const [type] = results;
    if (type !== undefined) writers[type]!(view, values, result as never);
  };
}

const readers: Readonly<Record<string, (view: DataView, at: number) => unknown>> = {
  i32: (view, at) => view.getInt32(at, true),
  i64: (view, at) => view.getBigInt64(at, true),
  f32: (view, at) => view.getFloat32(at, true),
  f64: (view, at) => view.getFloat64(at, true),
};

const writers: Readonly<Record<string, (view: DataView, at: number, value: never) => void>> = {
  i32: (view, at, value) => view.setInt32(at, value, true),
  i64: (view, at, value) => view.setBigInt64(at, value, true),
  f32: (view, at, value) => view.setFloat32(at, value, true),
  f64: (view, at, value) => view.setFloat64(at, value, true),
};
