// The CPU's own instructions as a target of its device.
//
// A program becomes WebAssembly first, which runs at once. The same code, as C, goes to the compiler meanwhile; where a
// library of it lies on disk already, that is taken. A library is loaded here before threads hear of it, so that one
// that cannot be is an error of the device, not of a thread. What went wrong is thrown by the next launch of that
// kernel, or else when the device is closed.

import { availableParallelism } from 'node:os';
import type { Program } from '../../../compiler/ir.ts';
import { problem } from '../../../diagnostics/problem.ts';
import { type Executable, type NativeCode, nativeStates } from '../../../targets/executable.ts';
import { nativeText } from '../../../targets/native/module-text.ts';
import { sharedBytes } from '../../../targets/shared-bytes.ts';
import {
  compileWasm,
  compileWithStages,
  moduleForProcessor,
  type WasmExecutable,
  type WasmOptions,
} from '../../../targets/wasm/compile.ts';
import { foreignFunctions, foreignFunctionsPath } from '../../cuda/library.ts';
import type { CpuTarget } from '../device.ts';
import { type Compiler, compileAside, compileNow, findCompiler, type Outcome } from './compiler.ts';
import { Libraries, libraryName, withOutput, withOutputNow } from './libraries.ts';

export interface NativeOptions extends WasmOptions {
  /** The launch that needs a library waits for it. */
  readonly waits?: boolean;
}

export class NativeTarget implements CpuTarget {
  readonly runners = 'native';
  readonly parallel = true;
  readonly compiler: Compiler;
  readonly about: string;
  readonly #wasm: WasmOptions;
  readonly #waits: boolean;
  readonly #libraries: Libraries;
  readonly #failures = new Map<Executable, Error>();
  /** Compilations that wait for a processor, and how many run. */
  readonly #queue: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(compiler: Compiler, options: NativeOptions = {}, libraries = new Libraries()) {
    const { waits = false, ...wasm } = options;
    this.compiler = compiler;
    this.#wasm = wasm;
    this.about = `by ${compiler.version}`;
    this.#waits = waits;
    this.#libraries = libraries;
  }

  compile(program: Program): Executable {
    const executable = compileWasm(program, this.#wasm);
    const { width } = this.compiler;
    const { bytes, sites, scratchBytes } = moduleForProcessor(program, width, this.#wasm);
    const { text, imports, exports } = nativeText(bytes, width);
    const name = libraryName(this.compiler.identity, text);
    const native: NativeCode = {
      path: this.#libraries.pathOf(name),
      state: sharedBytes(4),
      imports,
      exports,
      sites,
      koffi: foreignFunctionsPath(),
    };
    const most = Math.max(scratchBytes, executable.scratchBytes);
    const made: Executable = { ...executable, scratchBytes: most, native };
    this.#make(made, native, name, text);
    return made;
  }

  /** A recorded block is run by WebAssembly: what it tells is the same. */
  withStages(executable: Executable): Executable {
    const { native: _, ...portable } = executable as WasmExecutable;
    return compileWithStages(portable, this.#wasm);
  }

  /** Throws what went wrong with the library of an executable, once. */
  check(executable: Executable): void {
    const failure = this.#failures.get(executable);
    if (failure === undefined) return;
    this.#failures.delete(executable);
    throw failure;
  }

  /** Throws what no launch has thrown. */
  reportLeft(): void {
    this.#queue.length = 0;
    for (const executable of this.#failures.keys()) this.check(executable);
  }

  #make(executable: Executable, native: NativeCode, name: string, text: string): void {
    const finish = (compile: Outcome | null, output: string | null) => {
      try {
        if (compile !== null && compile.failed !== null)
          throw this.#rejected(executable, name, text, compile.failed);
        if (output !== null) this.#libraries.keep(name, output);
        load(native.path);
        Atomics.store(new Int32Array(native.state), 0, nativeStates.ready);
      } catch (error) {
        this.#failures.set(executable, error as Error);
      }
    };
    if (this.#libraries.has(name)) finish(null, null);
    else if (this.#waits) withOutputNow((output) => finish(compileNow(this.compiler, text, output), output));
    else
      this.#enqueue(() =>
        withOutput(async (output) => finish(await compileAside(this.compiler, text, output), output)),
      );
  }

  #enqueue(job: () => Promise<void>): void {
    this.#queue.push(job);
    this.#advance();
  }

  #advance(): void {
    while (this.#running < availableParallelism() && this.#queue.length > 0) {
      this.#running += 1;
      void this.#queue.shift()!().finally(() => {
        this.#running -= 1;
        this.#advance();
      });
    }
  }

  #rejected({ program }: Executable, name: string, text: string, messages: string): Error {
    const path = this.#libraries.keepText(name, text);
    return problem(
      'WS1016',
      `${this.compiler.command} does not compile the C of kernel ${program.name}: ${firstLines(messages)}`,
      `the text is ${path}; use open('cpu'), or another compiler by WARPSTAGE_CC`,
    );
  }
}

/** Loads a library and lets it go. */
function load(path: string): void {
  try {
    foreignFunctions().load(path).unload();
  } catch (cause) {
    throw problem(
      'WS4003',
      `the compiled library ${path} cannot be loaded: ${(cause as Error).message}`,
      'name a folder whose files may be run: WARPSTAGE_CACHE=/path/to/folder',
      cause,
    );
  }
}

function firstLines(messages: string): string {
  return messages.trim().split('\n').slice(0, 3).join('\n');
}

/**
 * The target, where there is a compiler.
 *
 * @throws WarpstageError WS4003 where the compiler or koffi is missing
 */
export async function nativeTarget(waits: boolean, memory64: WasmOptions['memory64']): Promise<NativeTarget> {
  if (process.platform === 'win32')
    throw problem('WS4003', "the device 'cpu-native' is there on Linux and macOS only", "use open('cpu')");
  foreignFunctions("the device 'cpu-native' needs");
  return new NativeTarget(await findCompiler(), { waits, memory64 });
}
