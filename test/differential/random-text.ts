// Random values as text that JavaScript and kernels understand alike.

import type { PlainElement } from '../support/run-program.ts';
import type { Tape } from './tape.ts';

export type NumberType = 'i32' | 'u32' | 'f32' | 'f64';
export type TextType = NumberType | 'bool';

export const numberTypes: readonly NumberType[] = ['i32', 'f64', 'f32', 'u32'];

export const kernelElements: readonly PlainElement[] = ['i32', 'f64', 'f32', 'u32', 'u8', 'i16'];

/** What a value may be made of, beside the variables and parameters. */
export interface Surroundings {
  readonly extra: readonly (readonly [type: NumberType, text: string])[];
}

/** What an element of an array is as a value. */
export function valueTypeOf(element: PlainElement): NumberType {
  return element === 'f64' || element === 'f32' || element === 'u32' ? element : 'i32';
}

export class RandomText {
  readonly #tape: Tape;
  readonly #block: number;
  /** Only what has the same bits on every machine: no sines. */
  readonly #exact: boolean;

  constructor(tape: Tape, block: number, exact: boolean) {
    this.#tape = tape;
    this.#block = block;
    this.#exact = exact;
  }

  /** Any value of a type, at most `depth` operators deep; in parentheses where it needs them. */
  value(place: Surroundings, type: TextType, depth: number): string {
    const tape = this.#tape;
    if (depth <= 0 || tape.chance(1, 4)) return this.#leaf(place, type);
    const inner = (of: TextType) => this.value(place, of, depth - 1);
    if (tape.chance(1, 6)) return `(${inner('bool')} ? ${inner(type)} : ${inner(type)})`;
    switch (type) {
      case 'bool':
        return this.#truth(inner);
      case 'i32':
        return this.#integer(inner);
      case 'u32':
        return this.#unsigned(inner);
      case 'f32':
      case 'f64':
        return this.#float(type, inner);
      default:
        return type satisfies never;
    }
  }

  #truth(inner: (type: TextType) => string): string {
    const tape = this.#tape;
    switch (tape.below(5)) {
      case 1:
        return `(${inner('bool')} && ${inner('bool')})`;
      case 2:
        return `(${inner('bool')} || ${inner('bool')})`;
      case 3:
        return `!${inner('bool')}`;
      default: {
        const operator = tape.pick(['<', '===', '>=', '!==', '>', '<=']);
        const type = tape.pick(numberTypes);
        return `(${inner(type)} ${operator} ${inner(type)})`;
      }
    }
  }

  #integer(inner: (type: TextType) => string): string {
    const [a, b] = [inner('i32'), inner('i32')];
    return this.#tape.pick([
      () => `((${a} + ${b}) | 0)`,
      () => `((${a} - ${b}) | 0)`,
      () => `Math.imul(${a}, ${b})`,
      () => `(${a} & ${b})`,
      () => `(${a} | ${b})`,
      () => `(${a} ^ ${b})`,
      () => `(${a} << ${b})`,
      () => `(${a} >> ${b})`,
      () => `(Math.trunc(${a} / (${b} | 1)) | 0)`,
      () => `((${a} % (${b} | 1)) | 0)`,
      () => `Math.min(${a}, ${b})`,
      () => `Math.max(${a}, ${b})`,
      () => `(Math.abs(${a}) | 0)`,
      () => `(-(${a}) | 0)`,
      () => `(~(${a}))`,
      () => `Math.clz32(${a})`,
      () => `(${inner('f64')} | 0)`,
      () => `(${inner('f32')} | 0)`,
      () => `(${inner('u32')} | 0)`,
      () => `Math.sign(${a})`,
      () => `mix(${a}, ${b})`,
    ])();
  }

  #unsigned(inner: (type: TextType) => string): string {
    const [a, b] = [inner('u32'), inner('u32')];
    return this.#tape.pick([
      () => `((${a} + ${b}) >>> 0)`,
      () => `((${a} - ${b}) >>> 0)`,
      () => `(Math.imul(${a}, ${b}) >>> 0)`,
      () => `((${a} & ${b}) >>> 0)`,
      () => `((${a} | ${b}) >>> 0)`,
      () => `((${a} ^ ${b}) >>> 0)`,
      () => `((${a} << ${b}) >>> 0)`,
      () => `(${a} >>> ${b})`,
      () => `Math.trunc(${a} / ((${b} | 1) >>> 0))`,
      () => `(${a} % ((${b} | 1) >>> 0))`,
      () => `Math.min(${a}, ${b})`,
      () => `Math.max(${a}, ${b})`,
      () => `(${inner('f64')} >>> 0)`,
      () => `(${inner('i32')} >>> 0)`,
    ])();
  }

  #float(type: 'f32' | 'f64', inner: (type: TextType) => string): string {
    const [a, b] = [inner(type), inner(type)];
    const rounded = (text: string) => (type === 'f32' ? `Math.fround(${text})` : `(${text})`);
    return this.#tape.pick([
      () => rounded(`${a} + ${b}`),
      () => rounded(`${a} - ${b}`),
      () => rounded(`${a} * ${b}`),
      () => rounded(`${a} / ${b}`),
      () => rounded(`${a} % ${b}`),
      () => `Math.min(${a}, ${b})`,
      () => `Math.max(${a}, ${b})`,
      () => `Math.abs(${a})`,
      () => `(-(${a}))`,
      () => rounded(`Math.sqrt(${a})`),
      () => `Math.floor(${a})`,
      () => `Math.ceil(${a})`,
      () => `Math.trunc(${a})`,
      () => `Math.round(${a})`,
      ...(this.#exact
        ? []
        : [
            () => rounded(`Math.sin(${a})`),
            () => rounded(`Math.hypot(${a}, ${b})`),
            () => rounded(`Math.pow(${a}, ${b})`),
          ]),
      () => (type === 'f32' ? `Math.fround(${inner('f64')})` : `cuda.f64(${inner('f32')})`),
      () => (type === 'f32' ? `Math.fround(${inner('i32')})` : `cuda.f64(${inner('i32')})`),
      () => (type === 'f32' ? `Math.fround(${inner('u32')})` : `cuda.f64(${inner('u32')})`),
    ])();
  }

  #leaf(place: Surroundings, type: TextType): string {
    const tape = this.#tape;
    if (type === 'bool') return tape.pick(['bool_1', 'scalar_bool', 'true', 'false', '(rank > 2)']);
    const elements = kernelElements.filter((element) => valueTypeOf(element) === type);
    const literals = {
      i32: ['0', '1', '-1', '7', '-2147483648', '2147483647', '31'],
      u32: ['cuda.u32(0)', 'cuda.u32(7)', 'cuda.u32(-1)', 'cuda.u32(-2147483648)'],
      f32: ['Math.fround(0.5)', 'Math.fround(0.1)', 'Math.fround(-2.5)', 'Math.fround(16777216)'],
      f64: ['cuda.f64(0.5)', 'cuda.f64(-2.5)', 'cuda.f64(4096.5)'],
    }[type];
    return tape.pick([
      () => `${type}_1`,
      () => `${type}_2`,
      () => `scalar_${type}`,
      () => `in_${tape.pick(elements)}[${this.#index()}]`,
      () => tape.pick(place.extra.filter(([of]) => of === type).map(([, text]) => text)) ?? `${type}_1`,
      () => tape.pick(literals),
      () => {
        if (type === 'i32') return `local_i32[${this.masked(3)}]`;
        return type === 'f64' ? `local_f64[${this.masked(1)}]` : `${type}_2`;
      },
    ])();
  }

  #index(): string {
    return this.#tape.pick([
      () => 'own',
      () => `((own + ${this.#tape.below(9)}) & 255)`,
      () => String(this.#tape.below(256)),
      () => this.masked(255),
    ])();
  }

  /** Any index up to a mask. */
  masked(mask: number): string {
    return `(${this.#tape.pick(['i32_1', 'i32_2', 'rank', 'own'])} & ${mask})`;
  }

  /** The rank of some thread of the block. */
  threadOfBlock(): string {
    return this.#tape.pick([
      () => 'rank',
      () => '(block.size() - 1 - rank)',
      () => '((rank + 1) % block.size())',
      () => `(${this.masked(255)} % ${this.#block})`,
    ])();
  }

  /** A condition that is the same for all threads of a block. */
  uniformTest(): string {
    return this.#tape.pick(['cuda.blockIdx.x < 1', 'count < 3', 'cuda.gridDim.x > 1', 'scalar_bool']);
  }
}
