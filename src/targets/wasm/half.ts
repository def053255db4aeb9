// Floats of 16 bits, made of and made into f32 as kernel/half.ts says. WebAssembly has no
// instructions for them; a dozen of integers and floats do it, without a branch, and the same
// ones for a single value and for four lanes.

import type { BinaryOperator, CompareOperator, ValueType } from '../../compiler/ir.ts';
import type { HalfFormat } from '../../kernel/half.ts';
import type { Code, Local } from './encoder/code.ts';
import { instructionOf, laneInstruction } from './instructions.ts';

/** Makes the f32 on the stack the bits of a half (`to` is u32), or the bits on the stack an f32. */
export function writeHalfConversion(code: Code, format: HalfFormat, to: ValueType): void {
  write(new Writer(code, 'i32'), format, to);
}

/** The same for four lanes. */
export function writeHalfLanes(code: Code, format: HalfFormat, to: ValueType): void {
  write(new Writer(code, 'v128'), format, to);
}

function write(writer: Writer, format: HalfFormat, to: ValueType): void {
  if (to === 'f32') writer.decode(format);
  else writer.encode(format);
}

class Writer {
  readonly #code: Code;
  /** Of the bits of a value, or of four. */
  readonly #type: 'i32' | 'v128';

  constructor(code: Code, type: 'i32' | 'v128') {
    this.#code = code;
    this.#type = type;
  }

  decode(format: HalfFormat): void {
    const code = this.#code;
    if (format === 'bf16') {
      code.i32(16);
      this.#do('shiftLeft').#toFloat();
      return;
    }
    code.withTemporary(this.#type, (half) => {
      code.withTemporary(this.#type, (magnitude) => {
        code.set(half);
        // Exponent and fraction in the places of an f32's, whose exponent counts from 112 below.
        this.#withConstant(half, 0x7fff, 'and');
        code.i32(13);
        this.#do('shiftLeft');
        code.tee(magnitude);
        this.#toFloat().#constant(0x77800000).#toFloat().#do('multiply', 'f32').#toBits();
        // The greatest exponent is that of infinity and NaN.
        this.#pick(0x7f800000, 0, () => this.#isAbove(magnitude, 0x0f7fffff));
        this.#do('or');
        this.#withConstant(half, 0x8000, 'and');
        code.i32(16);
        this.#do('shiftLeft').#do('or').#toFloat();
      });
    });
  }

  encode(format: HalfFormat): void {
    const code = this.#code;
    code.withTemporary(this.#type, (sign) => {
      code.withTemporary(this.#type, (magnitude) => {
        this.#toBits();
        code.set(magnitude);
        this.#withConstant(magnitude, 0x80000000 | 0, 'and');
        code.set(sign).get(magnitude).get(sign);
        this.#do('xor');
        code.set(magnitude);
        if (format === 'bf16') {
          this.#constant(0x7fc0);
          this.#rounded(magnitude, 16, 0x7fff);
        } else {
          this.#pick(0x7e00, 0x7c00, () => this.#isAbove(magnitude, 0x7f800000));
          this.#halfBelowInfinity(magnitude);
        }
        this.#isAbove(magnitude, format === 'bf16' ? 0x7f800000 : 0x477fffff);
        this.#choose();
        code.get(sign).i32(16);
        this.#do('shiftRight').#do('or');
      });
    });
  }

  /** Pushes the f16 of a magnitude below 65536; one that rounds up to that becomes infinity. */
  #halfBelowInfinity(magnitude: Local): void {
    this.#rounded(magnitude, 13, 0xc8000fff | 0);
    // Below 2^-14 the fraction counts in steps of 2^-24: adding 0.5 lets f32 do the rounding.
    this.#code.get(magnitude);
    this.#toFloat().#constant(0x3f000000).#toFloat().#do('add', 'f32').#toBits();
    this.#constant(-0x3f000000).#do('add');
    this.#isAbove(magnitude, 0x387fffff);
    this.#choose();
  }

  /** Pushes a magnitude without its lowest bits, rounded to the nearest, with something added before. */
  #rounded(magnitude: Local, bits: number, added: number): void {
    const code = this.#code;
    code.get(magnitude).i32(bits);
    this.#do('shiftRight').#constant(1).#do('and');
    code.get(magnitude);
    this.#do('add').#constant(added).#do('add');
    code.i32(bits);
    this.#do('shiftRight');
  }

  #isAbove(magnitude: Local, limit: number): void {
    this.#constant(limit);
    this.#code.get(magnitude);
    this.#do('less');
  }

  #pick(value: number, otherwise: number, test: () => void): void {
    this.#constant(value).#constant(otherwise);
    test();
    this.#choose();
  }

  /** Pops a, b and a test; pushes a where the test holds, else b. */
  #choose(): void {
    this.#code.op(this.#type === 'i32' ? 'select' : 'v128.bitselect');
  }

  #withConstant(local: Local, value: number, operator: BinaryOperator): void {
    this.#code.get(local);
    this.#constant(value).#do(operator);
  }

  #do(operator: BinaryOperator | CompareOperator, type: 'u32' | 'f32' = 'u32'): this {
    const find = this.#type === 'i32' ? instructionOf : laneInstruction;
    this.#code.op(find(operator, type)!);
    return this;
  }

  #toBits(): void {
    if (this.#type === 'i32') this.#code.op('i32.reinterpret_f32');
  }

  #toFloat(): this {
    if (this.#type === 'i32') this.#code.op('f32.reinterpret_i32');
    return this;
  }

  #constant(value: number): this {
    if (this.#type === 'i32') this.#code.i32(value);
    else this.#code.i32x4([value, value, value, value]);
    return this;
  }
}
