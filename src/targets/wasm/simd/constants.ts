// Values that do not change in a region, kept in vectors.

import type { Expression } from '../../../compiler/ir.ts';
import { keyOf } from '../../analysis/expression-key.ts';
import type { Code, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import type { Hoisting } from '../hoisting.ts';
import type { LaneType } from '../instructions.ts';
import type { ThreadContext } from '../thread-context.ts';

/** Vectors that are filled once, in front of the region: a literal inside a loop costs more. */
export class VectorConstants {
  readonly #code: Code;
  readonly #hoisting: Hoisting;
  readonly #uniform: ThreadContext;
  readonly #locals = new Map<string, { readonly local: Local; readonly fill: () => void }>();

  constructor(uniform: ThreadContext, hoisting: Hoisting) {
    this.#code = uniform.code;
    this.#uniform = uniform;
    this.#hoisting = hoisting;
  }

  /** Four times the same integer. */
  integer(value: number): Local {
    return this.#local(`i32 ${value}`, () => void this.#code.i32x4([value, value, value, value]));
  }

  /** Which bytes of a vector are its upper half, twice: for a swizzle. */
  upperHalf(): Local {
    const [low, high] = [0x0b0a0908, 0x0f0e0d0c];
    return this.#local('upper half', () => void this.#code.i32x4([low, high, low, high]));
  }

  /** 0, 1, 2, 3 and so on through the vectors of a group. */
  counting(vector: number): Local {
    const at = (lane: number) => 4 * vector + lane;
    return this.#local(`counting ${vector}`, () => void this.#code.i32x4([at(0), at(1), at(2), at(3)]));
  }

  /** An expression that does not change in the region, in all lanes; null for any other. */
  of(expression: Expression): Local | null {
    if (!this.#hoisting.isFixed(expression)) return null;
    return this.#local(`splat ${keyOf(expression)}`, () => {
      const hoisted = this.#hoisting.localOf(expression);
      if (hoisted === null) pushExpression(this.#uniform, expression);
      else this.#code.get(hoisted);
      writeSplat(this.#code, expression.type as LaneType);
    });
  }

  /** Writes the code that fills the vectors. */
  write(): void {
    for (const { local, fill } of this.#locals.values()) {
      fill();
      this.#code.set(local);
    }
  }

  #local(key: string, fill: () => void): Local {
    const known = this.#locals.get(key);
    if (known !== undefined) return known.local;
    const local = this.#code.local('v128');
    this.#locals.set(key, { local, fill });
    return local;
  }
}

/** Spreads the scalar on the stack over all lanes. */
export function writeSplat(code: Code, type: LaneType): void {
  if (type === 'f32' || type === 'f64') code.op(type === 'f32' ? 'f32x4.splat' : 'f64x2.splat');
  else if (type === 'bool') code.op('i32x4.splat', 'i32x4.neg');
  else code.op('i32x4.splat');
}
