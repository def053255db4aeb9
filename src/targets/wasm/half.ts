// Floats of 16 bits, made of and made into f32 as kernel/half.ts says. WebAssembly has no
// instructions for them; a dozen of integers and floats do it, without a branch, and the same
// ones for a single value and for four lanes.

import type { ValueType } from '../../compiler/ir.ts';
import type { HalfFormat } from '../../kernel/half.ts';
import type { Code, Local } from './encoder/code.ts';
import type { PlainInstruction } from './encoder/opcodes.ts';

/** The instructions for one value, or for four. */
interface Instructions {
  readonly type: 'i32' | 'v128';
  readonly and: PlainInstruction;
  readonly or: PlainInstruction;
  readonly xor: PlainInstruction;
  readonly add: PlainInstruction;
  readonly shiftLeft: PlainInstruction;
  readonly shiftRight: PlainInstruction;
  readonly less: PlainInstruction;
  /** Pops a, b and a test; pushes a where the test holds, else b. */
  readonly pick: PlainInstruction;
  readonly addFloats: PlainInstruction;
  readonly multiplyFloats: PlainInstruction;
  /** What makes the bits of floats of them, and floats of bits. */
  readonly toBits: readonly PlainInstruction[];
  readonly toFloat: readonly PlainInstruction[];
  readonly constant: (code: Code, value: number) => void;
}

const single: Instructions = {
  type: 'i32',
  and: 'i32.and',
  or: 'i32.or',
  xor: 'i32.xor',
  add: 'i32.add',
  shiftLeft: 'i32.shl',
  shiftRight: 'i32.shr_u',
  less: 'i32.lt_u',
  pick: 'select',
  addFloats: 'f32.add',
  multiplyFloats: 'f32.mul',
  toBits: ['i32.reinterpret_f32'],
  toFloat: ['f32.reinterpret_i32'],
  constant: (code, value) => void code.i32(value),
};

const lanes: Instructions = {
  type: 'v128',
  and: 'v128.and',
  or: 'v128.or',
  xor: 'v128.xor',
  add: 'i32x4.add',
  shiftLeft: 'i32x4.shl',
  shiftRight: 'i32x4.shr_u',
  less: 'i32x4.lt_u',
  pick: 'v128.bitselect',
  addFloats: 'f32x4.add',
  multiplyFloats: 'f32x4.mul',
  toBits: [],
  toFloat: [],
  constant: (code, value) => void code.i32x4([value, value, value, value]),
};

/** Makes the f32 on the stack the bits of a half (`to` is u32), or the bits on the stack an f32. */
export function writeHalfConversion(code: Code, format: HalfFormat, to: ValueType): void {
  write(new Writer(code, single), format, to);
}

/** The same for four lanes. */
export function writeHalfLanes(code: Code, format: HalfFormat, to: ValueType): void {
  write(new Writer(code, lanes), format, to);
}

function write(writer: Writer, format: HalfFormat, to: ValueType): void {
  if (to === 'f32') writer.decode(format);
  else writer.encode(format);
}

class Writer {
  readonly #code: Code;
  readonly #use: Instructions;

  constructor(code: Code, use: Instructions) {
    this.#code = code;
    this.#use = use;
  }

  decode(format: HalfFormat): void {
    const code = this.#code;
    const use = this.#use;
    if (format === 'bf16') {
      code
        .i32(16)
        .op(use.shiftLeft)
        .op(...use.toFloat);
      return;
    }
    code.withTemporary(use.type, (half) => {
      code.withTemporary(use.type, (magnitude) => {
        code.set(half);
        // Exponent and fraction in the places of an f32's, whose exponent counts from 112 below.
        this.#withConstant(half, 0x7fff, use.and);
        code.i32(13).op(use.shiftLeft).tee(magnitude);
        code.op(...use.toFloat);
        this.#constant(0x77800000);
        code.op(...use.toFloat).op(use.multiplyFloats, ...use.toBits);
        // The greatest exponent is that of infinity and NaN.
        this.#pick(0x7f800000, 0, () => this.#isAbove(magnitude, 0x0f7fffff));
        code.op(use.or);
        this.#withConstant(half, 0x8000, use.and);
        code
          .i32(16)
          .op(use.shiftLeft)
          .op(use.or, ...use.toFloat);
      });
    });
  }

  encode(format: HalfFormat): void {
    const code = this.#code;
    const use = this.#use;
    code.withTemporary(use.type, (sign) => {
      code.withTemporary(use.type, (magnitude) => {
        code.op(...use.toBits).set(magnitude);
        this.#withConstant(magnitude, 0x80000000 | 0, use.and);
        code.set(sign).get(magnitude).get(sign).op(use.xor).set(magnitude);
        if (format === 'bf16') {
          this.#constant(0x7fc0);
          this.#rounded(magnitude, 16, 0x7fff);
        } else {
          this.#pick(0x7e00, 0x7c00, () => this.#isAbove(magnitude, 0x7f800000));
          this.#halfBelowInfinity(magnitude);
        }
        this.#isAbove(magnitude, format === 'bf16' ? 0x7f800000 : 0x477fffff);
        code.op(use.pick).get(sign).i32(16).op(use.shiftRight).op(use.or);
      });
    });
  }

  /** Pushes the f16 of a magnitude below 65536; one that rounds up to that becomes infinity. */
  #halfBelowInfinity(magnitude: Local): void {
    const code = this.#code;
    const use = this.#use;
    this.#rounded(magnitude, 13, 0xc8000fff | 0);
    // Below 2^-14 the fraction counts in steps of 2^-24: adding 0.5 lets f32 do the rounding.
    code.get(magnitude).op(...use.toFloat);
    this.#constant(0x3f000000);
    code.op(...use.toFloat).op(use.addFloats, ...use.toBits);
    this.#constant(-0x3f000000);
    code.op(use.add);
    this.#isAbove(magnitude, 0x387fffff);
    code.op(use.pick);
  }

  /** Pushes a magnitude without its lowest bits, rounded to the nearest, with something added before. */
  #rounded(magnitude: Local, bits: number, added: number): void {
    const code = this.#code;
    const use = this.#use;
    code.get(magnitude).i32(bits).op(use.shiftRight);
    this.#constant(1);
    code.op(use.and).get(magnitude).op(use.add);
    this.#constant(added);
    code.op(use.add).i32(bits).op(use.shiftRight);
  }

  #isAbove(magnitude: Local, limit: number): void {
    this.#constant(limit);
    this.#code.get(magnitude).op(this.#use.less);
  }

  #pick(value: number, otherwise: number, test: () => void): void {
    this.#constant(value);
    this.#constant(otherwise);
    test();
    this.#code.op(this.#use.pick);
  }

  #withConstant(local: Local, value: number, operation: PlainInstruction): void {
    this.#code.get(local);
    this.#constant(value);
    this.#code.op(operation);
  }

  #constant(value: number): void {
    this.#use.constant(this.#code, value);
  }
}
