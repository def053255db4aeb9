// Functions of the module in which threads arrive at barriers, or return and are not expected.

import { Code, type FunctionReference, type Local } from '../encoder/code.ts';
import type { ModuleWriter } from '../encoder/module.ts';
import { barrierFields } from './layout.ts';

export class Meetings {
  readonly #module: ModuleWriter;
  #arrive: FunctionReference | null = null;
  #leave: FunctionReference | null = null;

  constructor(module: ModuleWriter) {
    this.#module = module;
  }

  /** `arrive(barrier, threads, size)`: when all of the group that have not returned are there, a phase is over. */
  get arrive(): FunctionReference {
    this.#arrive ??= this.#meeting('arrive', barrierFields.arrived);
    return this.#arrive;
  }

  /** `leave(barrier, threads, size)`: threads that return will not arrive. The others may be all there then. */
  get leave(): FunctionReference {
    this.#leave ??= this.#meeting('leave', barrierFields.left);
    return this.#leave;
  }

  #meeting(name: string, counts: number): FunctionReference {
    const code = new Code(parameters('size'));
    const [barrier, threads, size] = [0, 1, 2];
    code.get(barrier).get(barrier).memory('i32.load', counts).get(threads).op('i32.add');
    code.memory('i32.store', counts);
    const arrived = code.local('i32', 'arrived');
    code.get(barrier).memory('i32.load', barrierFields.arrived).tee(arrived);
    code.if(() => {
      code.get(arrived).get(size).get(barrier).memory('i32.load', barrierFields.left);
      code.op('i32.sub', 'i32.ge_s').if(() => {
        code.get(barrier).i32(0).memory('i32.store', barrierFields.arrived);
        writeIncrement(code, barrier, barrierFields.phase);
      });
    });
    return this.#module.function(name, code, ['i32', 'i32', 'i32'], []);
  }
}

function parameters(last: string): { readonly name: string; readonly type: 'i32' }[] {
  return ['barrier', 'threads', last].map((name) => ({ name, type: 'i32' }));
}

/** Adds one to a word. */
function writeIncrement(code: Code, address: Local, offset: number): void {
  code.get(address).get(address).memory('i32.load', offset).i32(1).op('i32.add').memory('i32.store', offset);
}
