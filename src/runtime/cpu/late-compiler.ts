// A compiler that is loaded when a kernel needs it.
//
// The compiler is more than half of what a job would load, and a kernel that was kept (kept-kernels.ts) needs none. A launch is
// bound at once, though, and loading takes turns of the event loop. So a device with such a compiler serves those alone who
// have it loaded before they launch, or who can be refused once: `withCompiler`.

import type { Specialisation, Specialised } from '../../compiler/specialise.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { WasmExecutable } from '../../targets/wasm/compile.ts';
import type { CpuSettings } from './device.ts';
import type { KeptKernels } from './kept-kernels.ts';

type Compiler = Pick<typeof import('../../targets/wasm/compile.ts'), 'compileToBytes' | 'compileWithStages'> &
  Pick<typeof import('../../compiler/specialise.ts'), 'specialise'>;
type Program = Specialised['program'];

/** Thrown where a launch is bound whose kernel is not kept, and the compiler is not loaded. */
class NotLoaded extends Error {}

export class LateCompiler {
  readonly #kept: KeptKernels;
  #loading: Promise<void> | null = null;
  #compiler: Compiler | null = null;
  /** Of programs that were kept. */
  readonly #found = new WeakMap<Program, WasmExecutable>();
  /** How to keep what is made of a program that was missed. */
  readonly #missed = new WeakMap<Program, (executable: WasmExecutable, bytes: Uint8Array) => void>();
  #misses = 0;

  constructor(kept: KeptKernels) {
    this.#kept = kept;
  }

  /** Loads it; until then only kernels that were kept are found. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    const [{ specialise }, { compileToBytes, compileWithStages }] = await Promise.all([
      import('../../compiler/specialise.ts'),
      import('../../targets/wasm/compile.ts'),
    ]);
    this.#compiler = { specialise, compileToBytes, compileWithStages };
  }

  /** What a device compiles with. */
  get settings(): Pick<CpuSettings, 'target' | 'specialise' | 'loadCompiler'> {
    return {
      specialise: (kernel, specialisation) => this.#specialise(kernel, specialisation),
      target: {
        compile: (program) => this.#compile(program),
        withStages: (executable) => this.#loaded.compileWithStages(executable as WasmExecutable),
        runners: 'wasm',
        parallel: true,
      },
      loadCompiler: () => this.load(),
    };
  }

  get #loaded(): Compiler {
    if (this.#compiler === null) throw new NotLoaded('the compiler is not loaded');
    return this.#compiler;
  }

  #specialise(kernel: Kernel, specialisation: Specialisation): Specialised {
    if (this.#compiler === null) {
      const found = this.#kept.find(kernel, specialisation);
      if (found === null) {
        ++this.#misses;
        throw new NotLoaded('the compiler is not loaded');
      }
      this.#found.set(found.specialised.program, found.executable);
      return found.specialised;
    }
    const specialised = this.#compiler.specialise(kernel, specialisation);
    // Only who is refused once asks for kernels that are kept.
    if (this.#misses > 0)
      this.#missed.set(specialised.program, (executable, bytes) =>
        this.#kept.keep(kernel, specialisation, { specialised, executable }, bytes),
      );
    return specialised;
  }

  #compile(program: Program): WasmExecutable {
    const found = this.#found.get(program);
    if (found !== undefined) return found;
    const { executable, bytes } = this.#loaded.compileToBytes(program);
    this.#missed.get(program)?.(executable, bytes);
    return executable;
  }
}

/** Something that may have to load its compiler. */
interface Compiling {
  loadCompiler?(): Promise<void>;
}

/** Has a device compile whatever it is given from now on. */
export async function loadCompiler(device: object): Promise<void> {
  await (device as Compiling).loadCompiler?.();
}

/** Binds a launch: by what was kept, else by the compiler, which is loaded first. */
export async function withCompiler<T>(device: object, bind: () => T): Promise<T> {
  try {
    return bind();
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
  }
  await loadCompiler(device);
  return bind();
}
