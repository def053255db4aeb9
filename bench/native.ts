// The works of bench/cpu/native.cpp, built by g++ and loaded into this process, so that they take turns with
// what they are compared with. Their threads sleep while others are measured.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';

export type NativeWork = (input: ArrayBuffer, output: ArrayBuffer, count: number, threads: number) => void;

export class Native implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'warpstage-bench-'));
  readonly #library: ReturnType<typeof koffi.load>;
  readonly #taken: { readonly memory: unknown; readonly bytes: number }[] = [];

  constructor() {
    process.env.OMP_WAIT_POLICY = 'passive';
    const file = join(this.#folder, 'native.so');
    const source = fileURLToPath(new URL('./cpu/native.cpp', import.meta.url));
    const options = ['-O3', '-std=c++17', '-msse4.1', '-fopenmp', '-fPIC', '-shared', '-fvisibility=hidden'];
    execFileSync('g++', [...options, '-o', file, source]);
    this.#library = koffi.load(file);
  }

  work(name: string): NativeWork {
    return this.#library.func(name, 'void', ['void *', 'void *', 'int64_t', 'int']) as NativeWork;
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
    rmSync(this.#folder, { recursive: true });
  }
}
