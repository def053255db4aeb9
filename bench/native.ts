// The works of bench/cpu in C++ and OpenCL, built by g++ and loaded into this process, so that they take turns with
// what they are compared with. Their threads sleep while others are measured.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';

export type NativeWork = (input: ArrayBuffer, output: ArrayBuffer, count: number, threads: number) => void;

/** How native code is built. */
export type NativeVariant = 'native' | 'native, -ffast-math' | 'native at full width';

type Library = ReturnType<typeof koffi.load>;

/** A file of bench/cpu as a library. */
function build(name: string, ...options: readonly string[]): Library {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-bench-'));
  try {
    const file = join(folder, 'library.so');
    const source = fileURLToPath(new URL(`./cpu/${name}`, import.meta.url));
    const shared = ['-O3', '-std=c++17', '-fPIC', '-shared', '-fvisibility=hidden', '-o', file, source];
    execFileSync('g++', [...shared, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    return koffi.load(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export class Native implements Disposable {
  readonly #library: Library;
  readonly #wide: Library;
  readonly #fast: Library;
  readonly #taken: { readonly memory: unknown; readonly bytes: number }[] = [];

  constructor() {
    process.env.OMP_WAIT_POLICY = 'passive';
    this.#library = build('native.cpp', '-msse4.1', '-fopenmp');
    this.#fast = build('native.cpp', '-msse4.1', '-fopenmp', '-ffast-math');
    this.#wide = build('native.cpp', '-march=native', '-fopenmp', '-ffp-contract=off', '-DFULL_WIDTH');
  }

  work(name: string, variant: NativeVariant = 'native'): NativeWork {
    const libraries = {
      native: this.#library,
      'native, -ffast-math': this.#fast,
      'native at full width': this.#wide,
    };
    const library = libraries[variant];
    return library.func(name, 'void', ['void *', 'void *', 'int64_t', 'int']) as NativeWork;
  }

  /** Memory in huge pages, which hand-written code asks for. It is there until the next `release`. */
  take(bytes: number): ArrayBuffer {
    const memory: unknown = this.#library.func('take', 'void *', ['int64_t'])(bytes);
    if (memory === null) throw new Error(`${bytes} bytes are not there`);
    this.#taken.push({ memory, bytes });
    return koffi.view(memory, bytes);
  }

  release(): void {
    const give = this.#library.func('give', 'void', ['void *', 'int64_t']);
    for (const { memory, bytes } of this.#taken.splice(0)) give(memory, bytes);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** A kernel of bench/cpu/kernels.cl, and over which threads it runs. */
export interface OpenClWork {
  readonly name: string;
  readonly argument: number;
  /** Threads along two axes, and those of a block. */
  readonly shape: readonly [number, number, number, number];
}

/** OpenCL's kernels on the processor, for example by POCL. */
export class OpenCl {
  readonly #library: Library;
  readonly #source: string;

  private constructor(library: Library) {
    this.#library = library;
    this.#source = readFileSync(new URL('./cpu/kernels.cl', import.meta.url), 'utf8');
  }

  /** Null where there is nothing to build it with. */
  static open(): OpenCl | null {
    try {
      return new OpenCl(build('opencl.cpp', '-lOpenCL'));
    } catch {
      return null;
    }
  }

  /** Runs a kernel so many times; null where no device of so many threads is there. */
  prepare(
    { name, argument, shape }: OpenClWork,
    input: ArrayBuffer,
    output: ArrayBuffer,
    threads: number,
  ): { readonly run: (times: number) => void; readonly dispose: () => void } | null {
    const types = ['str', 'str', 'void *', 'int64_t', 'void *', 'int64_t', 'int', 'void *', 'int'];
    const prepare = this.#library.func('prepare', 'void *', types);
    const shapes = BigInt64Array.from(shape, BigInt);
    const [from, to] = [input.byteLength, output.byteLength];
    const work: unknown = prepare(this.#source, name, input, from, output, to, argument, shapes, threads);
    if (work === null) return null;
    const carryOut = this.#library.func('carry_out', 'int', ['void *', 'int']);
    const dispose = this.#library.func('dispose', 'void', ['void *']);
    return {
      run: (times) => {
        const failed: number = carryOut(work, times);
        if (failed !== 0) throw new Error(`OpenCL failed with ${failed}`);
      },
      dispose: () => void dispose(work),
    };
  }
}
