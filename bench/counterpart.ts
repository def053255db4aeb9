// The C++ programs that suites are compared with: built by nvcc for the GPU that is here, and run.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A program of bench/cuda, built. Disposing of it removes it. */
export class Counterpart implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'warpstage-bench-'));
  readonly #program: string;

  constructor(name: string, ...options: readonly string[]) {
    const places = [join('bench', 'cuda'), join('..', 'bench', 'cuda')];
    const source = places.map((place) => join(place, `${name}.cu`)).find((path) => existsSync(path));
    if (source === undefined) throw new Error(`bench/cuda/${name}.cu is not here`);
    this.#program = join(this.#folder, name);
    execFileSync('nvcc', ['-O3', '-std=c++17', '-arch=native', ...options, '-o', this.#program, source]);
  }

  /** What the program prints, which is JSON. */
  measure(...args: readonly string[]): unknown {
    return JSON.parse(execFileSync(this.#program, args, { encoding: 'utf8' }));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
