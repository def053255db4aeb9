// Where the variables of regions are kept: each has a local, which holds the value of the thread
// that is running, or the one value of a uniform variable. What varies and outlives a region is
// kept in the block's scratch memory as well, one array of all threads' values for each variable.

import type { Code, Local } from './encoder/code.ts';
import type { LaunchValues } from './launch-values.ts';
import { valueBytes, wasmType } from './types.ts';
import type { Unit } from './unit.ts';

/** The locals of a program's variables, and their places in scratch memory. */
export class Variables {
  readonly #unit: Unit;
  readonly #code: Code;
  readonly #launch: LaunchValues;
  readonly #locals = new Map<number, Local>();
  readonly #scratch = new Map<number, number>();

  constructor(unit: Unit, code: Code, launch: LaunchValues) {
    this.#unit = unit;
    this.#code = code;
    this.#launch = launch;
  }

  local(id: number): Local {
    const known = this.#locals.get(id);
    if (known !== undefined) return known;
    const { name, type } = this.#unit.program.variables[id]!;
    const local = this.#code.local(wasmType(type), name);
    this.#locals.set(id, local);
    return local;
  }

  /** Offset in the scratch memory of the values of all threads, by rank. */
  scratch(id: number): number {
    const known = this.#scratch.get(id);
    if (known !== undefined) return known;
    const bytes = valueBytes(this.#unit.program.variables[id]!.type);
    const offset = this.#unit.reserveScratch(bytes * this.#unit.blockSize);
    this.#scratch.set(id, offset);
    return offset;
  }

  /** Reads a thread's value from scratch memory into the local. */
  writeReload(id: number, rank: Local): void {
    this.pushAddress(id, rank);
    this.#code.memory(`${this.#type(id)}.load`, this.scratch(id)).set(this.local(id));
  }

  /** Writes the local to a thread's place in scratch memory. */
  writeSpill(id: number, rank: Local): void {
    this.pushAddress(id, rank);
    this.#code.get(this.local(id)).memory(`${this.#type(id)}.store`, this.scratch(id));
  }

  #type(id: number): 'i32' | 'i64' | 'f32' | 'f64' {
    return this.#unit.wasmTypeOfVariable(id);
  }

  /** Pushes the address of a thread's value, less the offset `scratch(id)`. */
  pushAddress(id: number, rank: Local): void {
    const bytes = valueBytes(this.#unit.program.variables[id]!.type);
    this.#code.get(rank).i32(Math.log2(bytes)).op('i32.shl').get(this.#launch.scratch()).op('i32.add');
  }
}
