// Random values of kernels whose indices and control flow are tangled, as text of the kernel language.
//
// What looks like base + c * threadIdx.x is frequent, and as often it is not quite that: a base that
// differs from thread to thread, a coefficient that changes, a width that is converted on the way.
// Every value is defined: what may be out of range is masked or guarded, what divides is odd.

import type { Tape } from './tape.ts';

export type TangledType = 'index' | 'i32' | 'u32' | 'i64' | 'f32' | 'bool';

/** Whose threads are all at a place, and find the same in a uniform value. */
export const levels = ['thread', 'tile', 'block', 'grid'] as const;
export type Level = (typeof levels)[number];

/** Whether what holds for all threads of `wide` holds for those of `narrow`. */
export function covers(wide: Level, narrow: Level): boolean {
  return levels.indexOf(wide) >= levels.indexOf(narrow);
}

/** A variable in scope. */
export interface Name {
  readonly name: string;
  readonly type: TangledType;
  readonly assignable: boolean;
  /** The threads that find the same in it; 'thread' for a value that varies. */
  readonly uniform: Level;
}

/** Elements of each input; an index up to `mask` is always one of them. */
export const tangledInputLength = 256;
const mask = tangledInputLength - 1;

const literals: { readonly [T in TangledType]: readonly string[] } = {
  index: ['0', '1', '2', '7', '-1', '33', '1000'],
  i32: ['0', '1', '-1', '3', '64', '-2147483648', '2147483647'],
  u32: ['0', '1', '5', '31', '4000000000'],
  i64: ['0n', '1n', '-1n', '9n', '4294967296n', '-9007199254740993n'],
  f32: ['0.5', '-2.25', '0', '1e9', '0.1'],
  bool: ['true', 'false'],
};

export class TangledValues {
  readonly #tape: Tape;
  readonly #tile: number;
  readonly #wide: boolean;

  /** `tile` is the size of tiles; `wide` says whether there are values of 64 bits. */
  constructor(tape: Tape, tile: number, wide: boolean) {
    this.#tape = tape;
    this.#tile = tile;
    this.#wide = wide;
  }

  /** Only where there are values of 64 bits. */
  #ifWide(text: () => string): readonly (() => string)[] {
    return this.#wide ? [text] : [];
  }

  /** A value of a type, at most `depth` operators deep, in parentheses where it needs them. */
  value(names: readonly Name[], type: TangledType, depth: number): string {
    if (depth <= 0 || this.#tape.ended || this.#tape.chance(1, 5)) return this.#leaf(names, type);
    const inner = (of: TangledType) => this.value(names, of, depth - 1);
    const small = () => this.#tape.pick(literals[type]);
    if (type !== 'bool' && this.#tape.chance(1, 5)) {
      const arms = this.#tape.chance(1, 3)
        ? `${inner(type)} : ${this.#typed(type, small())}`
        : `${inner(type)} : ${inner(type)}`;
      return `(${inner('bool')} ? ${arms})`;
    }
    switch (type) {
      case 'index':
        return this.#index(inner);
      case 'i32':
        return this.#signed(inner);
      case 'u32':
        return this.#unsigned(inner);
      case 'i64':
        return this.#bigint(inner);
      case 'f32':
        return this.#float(inner);
      default:
        return this.#truth(inner);
    }
  }

  /** A value that lanes compute whether they are there or not: of variables, without accesses and division. */
  plain(names: readonly Name[], type: 'index' | 'i32' | 'f32'): string {
    const own = names.filter((each) => each.type === type).map(({ name }) => name);
    const leaves = { index: ['own', 'rank'], i32: ['k', 'cuda.i32(rank)'], f32: ['x', 'cuda.f32(rank)'] }[
      type
    ];
    const leaf = () => this.#tape.pick([...own, ...leaves]);
    return `(${leaf()} ${this.#tape.pick(type === 'f32' ? ['+', '-', '*'] : ['+', '-', '^', '*', '&'])} ${leaf()})`;
  }

  #index(inner: (type: TangledType) => string): string {
    const a = inner('index');
    return this.#tape.pick([
      () => `(${a} + ${inner('index')})`,
      () => `(${a} - ${inner('index')})`,
      () => `(${a} + ${inner('i32')})`,
      () => `(${inner('i32')} - ${a})`,
      () => `(${a} * ${this.#tape.pick(['2', '3', '-1', '0', '1048577'])})`,
      () => `(${a} << ${this.#tape.pick(['1', '2', '0', '20', '31'])})`,
      () => `cuda.index(${inner('i32')})`,
      () => `cuda.index(${inner('u32')})`,
      ...this.#ifWide(() => `cuda.index(${inner('i64')})`),
      () => `(cuda.blockIdx.x * cuda.blockDim.x + ${a})`,
      () => `Math.min(${a}, ${inner('index')})`,
      () => `Math.max(${a}, cuda.threadIdx.x)`,
      () => `(${a} & ${this.#tape.pick(['3', '31', '255'])})`,
      () => `(${a} % (${inner('index')} | 1))`,
      () => `Math.trunc(${a} / (${this.#tape.pick(['3', '4', `${inner('index')} | 1`])}))`,
      () => `(-${a})`,
      () => `(${a} * ${inner('index')})`,
      () => `twisted(${a}, ${inner('index')})`,
    ])();
  }

  #signed(inner: (type: TangledType) => string): string {
    const a = inner('i32');
    return this.#tape.pick([
      () => `(${a} + ${inner('i32')})`,
      () => `(${a} - ${inner('i32')})`,
      () => `cuda.i32(${inner('index')})`,
      () => `cuda.i32(${inner('u32')})`,
      ...this.#ifWide(() => `cuda.i32(${inner('i64')})`),
      () => `cuda.i32(${inner('f32')})`,
      () => `(${a} * ${this.#tape.pick(['2', '-3', '0', '65537'])})`,
      () => `(${a} << ${this.#tape.pick(['1', '2', '31', '33'])})`,
      () => `(${a} >> ${this.#tape.pick(['1', '3'])})`,
      () => `(${a} ^ ${inner('i32')})`,
      () => `Math.abs(${a})`,
      () => `Math.trunc(${a} / (${inner('i32')} | 1))`,
      () => `(${a} + (${inner('bool')} ? 1 : 0))`,
      () => this.#guarded('in_i32', inner),
      () => `(${inner('f32')} | 0)`,
      () => `Math.imul(${a}, ${inner('i32')})`,
    ])();
  }

  #unsigned(inner: (type: TangledType) => string): string {
    const a = inner('u32');
    return this.#tape.pick([
      () => `(${a} + ${inner('u32')})`,
      () => `(${a} - ${inner('u32')})`,
      () => `cuda.u32(${inner('index')})`,
      () => `cuda.u32(${inner('i32')})`,
      ...this.#ifWide(() => `cuda.u32(${inner('i64')})`),
      () => `(${a} * ${this.#tape.pick(['2', '3'])})`,
      () => `(${a} << ${this.#tape.pick(['1', '4'])})`,
      () => `(${a} >>> ${this.#tape.pick(['1', '7'])})`,
      () => `(${inner('i32')} >>> 0)`,
      () => `(${a} % (${inner('u32')} | 1))`,
      () => this.#guarded('in_u32', inner),
    ])();
  }

  #bigint(inner: (type: TangledType) => string): string {
    const a = inner('i64');
    return this.#tape.pick([
      () => `(${a} + ${inner('i64')})`,
      () => `(${a} - ${inner('i64')})`,
      () => `cuda.i64(${inner('index')})`,
      () => `cuda.i64(${inner('i32')})`,
      () => `cuda.i64(${inner('u32')})`,
      () => `(${a} * ${this.#tape.pick(['2n', '-5n', '0n'])})`,
      () => `(${a} << ${this.#tape.pick(['1n', '40n'])})`,
      () => `(${a} >> 3n)`,
    ])();
  }

  #float(inner: (type: TangledType) => string): string {
    const a = inner('f32');
    return this.#tape.pick([
      () => `(${a} + ${inner('f32')})`,
      () => `(${a} * ${inner('f32')})`,
      () => `(${a} - 1.5)`,
      () => `(${a} / ${inner('f32')})`,
      () => `cuda.f32(${inner('index')})`,
      () => `cuda.f32(${inner('i32')})`,
      () => `cuda.f32(${inner('u32')})`,
      () => `Math.floor(${a})`,
      () => `Math.min(${a}, ${inner('f32')})`,
      () => this.#guarded('in_f32', inner),
    ])();
  }

  #truth(inner: (type: TangledType) => string): string {
    const operator = this.#tape.pick(['<', '>=', '===', '!==']);
    const type = this.#tape.pick([
      'index',
      'i32',
      'u32',
      'f32',
      ...(this.#wide ? (['i64'] as const) : []),
    ] as const);
    return this.#tape.pick([
      () => `(${inner(type)} ${operator} ${inner(type)})`,
      () => `(${inner('index')} < n)`,
      () => `((cuda.threadIdx.x & ${this.#tape.pick(['1', '2', '16'])}) === 0)`,
      () => `(${inner('i32')} < ${inner('u32')})`,
      () => `(${inner('bool')} && ${inner('bool')})`,
      () => `(${inner('bool')} || ${inner('bool')})`,
      () => `!${inner('bool')}`,
    ])();
  }

  /** An element at an index that is masked, or behind a test of its bounds. */
  #guarded(array: string, inner: (type: TangledType) => string): string {
    const at = inner('index');
    if (this.#tape.chance(1, 2)) return `${array}[${at} & ${mask}]`;
    const otherwise = this.#tape.pick(['0', '1']);
    return `(${at} >= 0 && ${at} < ${array}.length ? ${array}[${at}] : ${otherwise})`;
  }

  #leaf(names: readonly Name[], type: TangledType): string {
    const own = names.filter((each) => each.type === type).map(({ name }) => name);
    const special: readonly string[] =
      type === 'index' ? ['own', 'cuda.threadIdx.x', 'rank', 'n', 'cuda.threadIdx.y', 'cuda.blockIdx.x'] : [];
    const inputs = { i32: 'in_i32', u32: 'in_u32', f32: 'in_f32' } as const;
    const loads = type in inputs ? [`${inputs[type as keyof typeof inputs]}[own & ${mask}]`] : [];
    const scalars = { i32: ['k'], f32: ['x'], bool: ['flag'], index: [], u32: [], i64: [] }[type];
    const named = [...own, ...special, ...scalars, ...loads];
    if (named.length > 0 && !this.#tape.chance(1, 6)) return this.#tape.pick(named);
    return this.#typed(type, this.#tape.pick(literals[type]));
  }

  #typed(type: TangledType, literal: string): string {
    return type === 'bool' ? literal : `cuda.${type}(${literal})`;
  }

  /** A small number that is the same for all threads of a level. */
  uniformCount(names: readonly Name[], level: Level): string {
    const counts = names.filter(({ type, uniform }) => type === 'index' && covers(uniform, level));
    return this.#tape.pick([
      '2',
      'n',
      '(k & 3)',
      ...(level === 'grid' ? [] : ['(cuda.blockIdx.x + 1)']),
      ...(level === 'tile' ? [`(Math.trunc(rank / ${this.#tile}) & 3)`] : []),
      ...counts.map(({ name }) => `(${name} & 3)`),
    ]);
  }

  /** A condition that is the same for all threads of a level. */
  uniformTest(names: readonly Name[], level: Level): string {
    if (level === 'thread') return this.value(names, 'bool', 2);
    const count = this.uniformCount(names, level);
    const operator = this.#tape.pick(['<', '===', '>']);
    return this.#tape.pick(['flag', `${count} ${operator} 2`, `!flag`, `k < 3`, `${count} ${operator} n`]);
  }
}
