// Values of random kernels over memory: numbers, vectors and records, made of what is in scope, and the arrays and elements
// that they lie in.

import type { Struct } from 'warpstage';
import { vectorTypes } from '#warpstage/kernel/types.js';
import {
  type Described,
  has,
  isFloat,
  isNumber,
  isVector,
  type Place,
  partLength,
  pathsOf,
  type Scalar,
  type Scope,
  scalarOf,
  small,
  type vectors,
} from './random-memory-elements.ts';
import type { Tape } from './tape.ts';

export class MemoryValues {
  protected readonly tape: Tape;
  protected scope: Scope = { places: [], variables: [] };

  constructor(tape: Tape) {
    this.tape = tape;
  }

  /** An element of some array, or what it has, or what a variable has. */
  protected target(wanted: (of: Described) => boolean): readonly [text: string, of: Described] | null {
    const tape = this.tape;
    const inArrays = this.scope.places.filter(({ of, writable }) => writable && has(of, wanted));
    const inVariables = this.scope.variables.filter(
      ({ of, assignable }) => assignable && has(of as Described, wanted),
    );
    if (inArrays.length + inVariables.length === 0) return null;
    const isArray = inVariables.length === 0 || (inArrays.length > 0 && !tape.chance(1, 3));
    const one = isArray ? tape.pick(inArrays) : tape.pick(inVariables);
    const [path, of] = tape.pick(pathsOf(one.of as Described).filter(([, each]) => wanted(each)));
    return [`${isArray ? this.#element(one as Place) : one.name}${path}`, of];
  }

  /** Any array of at least eight elements that may be chosen. */
  protected array(of: Described, depth: number): string {
    const tape = this.tape;
    const known = this.scope.places.filter((place) => place.of === of && place.length >= 8 && place.writable);
    const inner = () => this.array(of, depth - 1);
    if (depth <= 0) return tape.pick(known).name;
    return tape.pick([
      () => tape.pick(known).name,
      () => {
        const { name, length } = tape.pick(known);
        return `${name}.subarray(${length === partLength ? tape.pick(['8, 16', '0, 8', '4, 12']) : '0, 8'})`;
      },
      () => `((${this.number('i32', 1)} & 1) ? ${inner()} : ${inner()})`,
      () => `[${inner()}, ${inner()}][${this.number('i32', 1)} & 1]`,
    ])();
  }

  protected index(length: number): string {
    const tape = this.tape;
    const mask = 2 ** Math.floor(Math.log2(length)) - 1;
    return tape.pick([() => String(tape.below(length)), () => `(${this.number('i32', 1)} & ${mask})`])();
  }

  #element(place: Place): string {
    return `${place.name}[${this.index(place.length)}]`;
  }

  /** A value of an element: a number, a vector or a record. */
  protected value(of: Described, depth: number): string {
    if (isNumber(of)) {
      const text = this.number(scalarOf(of), depth);
      return isFloat(of) ? small(text) : text;
    }
    return isVector(of) ? this.#vector(of, depth) : this.#record(of as Struct, depth);
  }

  /** A copy of something of this element, if there is any. */
  #copied(of: Described): string | null {
    const tape = this.tape;
    const same = (each: Described) => each === of;
    const places = this.scope.places.filter((place) => has(place.of, same));
    const variables = this.scope.variables.filter((one) => has(one.of as Described, same));
    const one = tape.pick([...places, ...variables]);
    if (one === undefined) return null;
    const [path] = tape.pick(pathsOf(one.of as Described).filter(([, each]) => same(each)));
    return `val(${'length' in one ? this.#element(one) : one.name}${path})`;
  }

  #vector(of: (typeof vectors)[number], depth: number): string {
    const tape = this.tape;
    const { component, components } = vectorTypes[of];
    const made = () => {
      const parts = Array.from({ length: components }, () => this.value(component, depth - 2));
      return `cuda.${of}(${parts.join(', ')})`;
    };
    if (depth <= 0) return this.#copied(of) ?? made();
    const inner = () => this.#vector(of, depth - 1);
    const float = isFloat(of);
    return tape.pick([
      () => this.#copied(of) ?? made(),
      made,
      () =>
        float ? `cuda.multiply(cuda.add(${inner()}, ${inner()}), 0.5)` : `cuda.add(${inner()}, ${inner()})`,
      () =>
        float
          ? `cuda.multiply(cuda.subtract(${inner()}, ${inner()}), 0.5)`
          : `cuda.multiply(${inner()}, ${inner()})`,
      () => `((${this.number('i32', 1)} & 1) ? ${inner()} : ${inner()})`,
    ])();
  }

  #record(of: Struct, depth: number): string {
    const tape = this.tape;
    const fields = Object.entries(of.fields as Readonly<Record<string, Described>>);
    const made = () =>
      `{ ${fields.map(([name, field]) => `${name}: ${this.value(field, depth - 1)}`).join(', ')} }`;
    if (tape.chance(1, 3)) return made();
    const copied = this.#copied(of);
    if (copied === null) return made();
    if (!tape.chance(1, 4)) return copied;
    const [name, field] = tape.pick(fields);
    return `{ ...${copied}, ${name}: ${this.value(field, depth - 1)} }`;
  }

  protected number(type: Scalar, depth: number): string {
    const tape = this.tape;
    if (depth <= 0 || tape.chance(1, 4)) return this.#leaf(type);
    const inner = (of: Scalar) => this.number(of, depth - 1);
    const [a, b] = [inner(type), inner(type)];
    switch (type) {
      case 'i32':
        return tape.pick([
          () => `((${a} + ${b}) | 0)`,
          () => `Math.imul(${a}, ${b})`,
          () => `(${a} ^ ${b})`,
          () =>
            `cuda.i32(${tape.pick([() => inner('u32'), () => inner('i64'), () => small(inner('f32'))])()})`,
        ])();
      case 'u32':
        return tape.pick([
          () => `((${a} + ${b}) >>> 0)`,
          () => `((${a} - ${b}) >>> 0)`,
          () => `cuda.u32(${inner(tape.pick(['i32', 'u64']))})`,
        ])();
      case 'i64':
        return tape.pick([
          () => `BigInt.asIntN(64, ${a} + ${b})`,
          () => `BigInt.asIntN(64, ${a} * ${b})`,
          () => `cuda.i64(${inner(tape.pick(['i32', 'u32', 'u64']))})`,
        ])();
      case 'u64':
        return tape.pick([
          () => `BigInt.asUintN(64, ${a} - ${b})`,
          () => `cuda.u64(${inner(tape.pick(['i32', 'u32', 'i64']))})`,
        ])();
      default: {
        const rounded = (text: string) => (type === 'f32' ? `Math.fround(${text})` : `(${text})`);
        const other = type === 'f32' ? 'f64' : 'f32';
        return tape.pick([
          () => rounded(`${a} + ${b}`),
          () => rounded(`${small(a)} * ${small(b)}`),
          () => rounded(`${a} - ${b}`),
          () => `cuda.${type}(${inner(tape.pick([other, 'i32']))})`,
        ])();
      }
    }
  }

  #leaf(type: Scalar): string {
    const tape = this.tape;
    const isOfType = (of: Described) => isNumber(of) && scalarOf(of) === type;
    const places = this.scope.places.filter(({ of }) => has(of, isOfType));
    const variables = this.scope.variables.filter(({ of }) => has(of as Described, isOfType));
    const literals = {
      i32: ['1', '-3', '(t | 0)', '100000'],
      u32: ['cuda.u32(5)', 'cuda.u32(-2)'],
      i64: ['3n', '-(2n ** 40n)'.replace('2n ** 40n', '1099511627776n')],
      u64: ['cuda.u64(9)', 'cuda.u64(-1)'],
      f32: ['Math.fround(0.5)', 'Math.fround(-2.25)'],
      f64: ['cuda.f64(0.25)', 'cuda.f64(-3.5)'],
    }[type];
    if (tape.chance(1, 4) || places.length + variables.length === 0) return tape.pick(literals);
    const one = tape.pick([...places, ...variables]);
    const [path] = tape.pick(pathsOf(one.of as Described).filter(([, each]) => isOfType(each)));
    const text = 'length' in one ? `${one.name}[${tape.below(one.length)}]` : one.name;
    return `${text}${path}`;
  }
}
