// Random kernels over what memory may hold and how it may be seen: arrays of numbers, vectors and nested records, in
// global, shared and local memory; parts of them, the same bytes as other elements, rows of shapes, arrays that are
// chosen while the kernel runs; vectors and records as values, whose members are assigned; copies and atomics.
//
// Each thread has its own part of every array, so threads are independent of each other. Floats stay small, and so
// are never NaN, whose bits no device promises. The text marks copies by `val`, as memory-in-javascript.ts says.

import { type Struct, struct } from 'warpstage';
import { layoutOf } from '#warpstage/kernel/layout.js';
import {
  type Element,
  type ElementType,
  isVectorType,
  type NumberElement,
  vectorTypes,
} from '#warpstage/kernel/types.js';
import type { Tape } from './tape.ts';

/** Elements of each thread's part of an array. */
export const partLength = 16;

export interface MemoryKernel {
  readonly text: string;
  /** The arrays of the launch and their elements; `records` are passed by their names as well. */
  readonly arrays: Readonly<Record<string, Described>>;
  readonly records: Readonly<Record<string, Struct>>;
}

/** An element: a number or vector by its name, or a record. */
export type Described = ElementType | Struct;

type Scalar = 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';

const numbers: readonly NumberElement[] = [
  'i32',
  'f32',
  'u8',
  'i64',
  'i16',
  'u32',
  'f64',
  'f16',
  'u16',
  'i8',
  'u64',
  'bf16',
];
const vectors = [
  'f32x4',
  'i32x2',
  'f32x3',
  'u8x4',
  'f64x2',
  'i16x2',
  'u32x3',
  'i64x2',
  'u16x4',
  'i8x3',
  'f32x2',
] as const;
const fieldNames = ['a', 'b', 'x', 'kind', 'w'] as const;

export function elementOf(described: Described): Element {
  return typeof described === 'string' ? described : described.element;
}

const isNumber = (one: Described): one is NumberElement => (numbers as readonly unknown[]).includes(one);
const isVector = (one: Described): one is (typeof vectors)[number] =>
  typeof one === 'string' && isVectorType(one);
const isFloat = (one: Element) => layoutOf(one).parts.every(({ element }) => /f/.test(element));
const isInteger = (one: Element) => layoutOf(one).parts.every(({ element }) => !/f/.test(element));

function scalarOf(element: NumberElement): Scalar {
  if (element === 'f16' || element === 'bf16') return 'f32';
  return /8|16/.test(element) ? 'i32' : (element as Scalar);
}

/** An array of which a thread may use so many elements. */
interface Place {
  readonly name: string;
  readonly of: Described;
  readonly length: number;
  readonly writable: boolean;
  /** Which bytes it may be part of: a copy between two of one root would overlap. Null where that is chosen. */
  readonly root: string | null;
  /** Whether a variable may stand for it as for others. */
  readonly assignable?: boolean;
  /** Whether its bytes may be seen as those of other elements. */
  readonly isLocal?: boolean;
}

interface Variable {
  readonly name: string;
  readonly of: Described | Scalar;
  readonly assignable: boolean;
}

interface Scope {
  readonly places: Place[];
  readonly variables: Variable[];
}

export function randomMemory(tape: Tape): MemoryKernel {
  return new Writer(tape).write();
}

class Writer {
  readonly #tape: Tape;
  readonly #records: Struct[] = [];
  readonly #arrays: Record<string, Described> = {};
  readonly #lines: string[] = [];
  #scope: Scope = { places: [], variables: [] };
  #made = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  write(): MemoryKernel {
    const tape = this.#tape;
    const inner = this.#newRecord([]);
    this.#records.push(inner, this.#newRecord([inner]));
    const elements = [this.#described(), this.#described(), this.#described()];
    const pipelined = tape.chance(1, 3);
    if (pipelined) this.#lines.push('const pipeline = cuda.makePipeline();');
    for (const of of elements) this.#globals(of);
    const kept = elements.slice(0, 2).map((of) => this.#own(of, tape.pick(['localArray', 'sharedArray'])));
    for (const of of elements) this.#choosable(of);
    this.#functions(elements);
    this.#some(3, 8, pipelined);
    for (const [name, out] of kept)
      this.#lines.push(`for (let i = 0; i < ${partLength}; i++) ${out}[i] = val(${name}[i]);`);
    this.#results();
    const parameters = [...Object.keys(this.#arrays), ...this.#records.map((_, i) => `record${i}`)];
    const parts = Object.keys(this.#arrays).map(
      (name) =>
        `const ${name}_part = ${name}.subarray(${partLength} * t, ${partLength} * t + ${partLength});`,
    );
    const text = [
      `({ ${parameters.join(', ')} }, cuda) => {`,
      'const t = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;',
      ...parts,
      ...this.#lines,
      '}',
    ].join('\n');
    const records = Object.fromEntries(this.#records.map((record, i) => [`record${i}`, record]));
    return { text, arrays: this.#arrays, records };
  }

  #newRecord(known: readonly Struct[]): Struct {
    const tape = this.#tape;
    const count = 1 + tape.below(4);
    const field = (): Described =>
      tape.pick<() => Described>([
        () => tape.pick(numbers),
        () => tape.pick(vectors),
        () => tape.pick(known) ?? tape.pick(numbers),
      ])();
    return struct(Object.fromEntries(fieldNames.slice(0, count).map((name) => [name, field()])));
  }

  #described(): Described {
    const tape = this.#tape;
    return tape.pick<() => Described>([
      () => tape.pick(this.#records),
      () => tape.pick(vectors),
      () => tape.pick(numbers),
    ])();
  }

  #name(stem: string): string {
    this.#made += 1;
    return `${stem}${this.#made}`;
  }

  /** Two arrays of the launch. */
  #globals(of: Described): void {
    for (let n = 0; n < 2; n += 1) {
      const name = this.#name('g');
      this.#arrays[name] = of;
      const place = { name: `${name}_part`, of, length: partLength, writable: true, root: name };
      this.#scope.places.push(place);
    }
  }

  /** An array of the thread's own, and where its elements go in the end. */
  #own(of: Described, kind: string): readonly [name: string, out: string] {
    const name = this.#name(kind.slice(0, 1));
    const out = this.#name('out');
    this.#arrays[out] = of;
    const element = typeof of === 'string' ? `'${of}'` : `record${this.#records.indexOf(of)}`;
    if (kind === 'localArray')
      this.#lines.push(
        `const ${name} = cuda.localArray(${element}, ${partLength}).subarray(0, ${partLength});`,
      );
    else {
      this.#lines.push(
        `const ${name} = cuda.sharedArray(${element}, ${partLength} * cuda.blockDim.x).subarray(${partLength} * cuda.threadIdx.x, ${partLength} * cuda.threadIdx.x + ${partLength});`,
      );
    }
    const from = this.#scope.places.find((place) => place.of === of)!;
    this.#lines.push(`for (let i = 0; i < ${partLength}; i++) ${name}[i] = val(${from.name}[i]);`);
    const isLocal = kind === 'localArray';
    this.#scope.places.push({ name, of, length: partLength, writable: true, root: name, isLocal });
    return [name, `${out}_part`];
  }

  /** A variable that stands for one array or another. */
  #choosable(of: Described): void {
    const name = this.#name('p');
    const first = this.#tape.pick(this.#scope.places.filter((place) => place.of === of));
    this.#lines.push(`let ${name} = ${first.name};`);
    this.#scope.places.push({ name, of, length: 8, writable: true, root: null, assignable: true });
  }

  #functions(elements: readonly Described[]): void {
    if (!this.#tape.chance(1, 2)) return;
    for (const [i, of] of elements.entries()) {
      const path = this.#pathsOf(of).at(-1)![0];
      this.#lines.push(
        `const put${i} = (array, i, value) => { const old = val(array[i & 3]); array[i & 3] = val(value); array[(i + 1) & 3]${path} = val(old${path}); return old; };`,
      );
    }
  }

  /** What an element has, and how each is reached; itself first. */
  #pathsOf(of: Described): readonly (readonly [path: string, of: Described])[] {
    if (isNumber(of)) return [['', of]];
    if (isVector(of)) {
      const { component, components } = vectorTypes[of];
      const names = ['x', 'y', 'z', 'w'].slice(0, components);
      return [['', of], ...names.map((name) => [`.${name}`, component] as const)];
    }
    const fields = Object.entries((of as Struct).fields as Readonly<Record<string, Described>>);
    return [
      ['', of],
      ...fields.flatMap(([name, field]) =>
        this.#pathsOf(field).map(([path, inner]) => [`.${name}${path}`, inner] as const),
      ),
    ];
  }

  #some(depth: number, atMost: number, pipelined: boolean): void {
    const outer = this.#scope;
    this.#scope = { places: [...outer.places], variables: [...outer.variables] };
    for (let n = 1 + this.#tape.below(atMost); n > 0; n -= 1) this.#statement(depth, pipelined);
    // What the outermost declares is kept for the results.
    this.#scope = depth === 3 ? this.#scope : outer;
  }

  #body(depth: number, pipelined: boolean): void {
    this.#some(depth - 1, 3, pipelined);
  }

  #statement(depth: number, pipelined: boolean): void {
    const tape = this.#tape;
    const nested = depth > 0 ? 3 : 0;
    switch (tape.below(13 + nested)) {
      case 0:
      case 1:
      case 2:
        this.#assign();
        return;
      case 3:
        this.#declare();
        return;
      case 4:
        this.#choose();
        return;
      case 5:
        this.#see();
        return;
      case 6:
        this.#shape();
        return;
      case 7:
        this.#atomic();
        return;
      case 8:
        this.#compound();
        return;
      case 9:
        if (pipelined) this.#copy();
        else this.#assign();
        return;
      case 10:
        this.#callFunction();
        return;
      case 11:
        this.#swap();
        return;
      case 12:
        if (depth === 3) this.#lines.push('cuda.syncthreads();');
        this.#assign();
        return;
      case 13: {
        this.#lines.push(`if (${this.#number('i32', 2)} & 1) {`);
        this.#body(depth, pipelined);
        this.#lines.push('} else {');
        this.#body(depth, pipelined);
        this.#lines.push('}');
        return;
      }
      default: {
        const i = this.#name('i');
        const rounds = tape.pick([() => '2', () => '3', () => `(${this.#number('i32', 1)} & 3)`])();
        const end = this.#name('end');
        this.#lines.push(`const ${end} = ${rounds};`, `for (let ${i} = 0; ${i} < ${end}; ${i}++) {`);
        this.#scope.variables.push({ name: i, of: 'i32', assignable: false });
        this.#body(depth, pipelined);
        this.#scope.variables.pop();
        this.#lines.push('}');
      }
    }
  }

  /** An element of some array, or what it has, or what a variable has. */
  #target(wanted: (of: Described) => boolean): readonly [text: string, of: Described] | null {
    const tape = this.#tape;
    const inArrays = this.#scope.places.filter(({ of, writable }) => writable && this.#has(of, wanted));
    const inVariables = this.#scope.variables.filter(
      ({ of, assignable }) => assignable && this.#has(of as Described, wanted),
    );
    if (inArrays.length + inVariables.length === 0) return null;
    const isArray = inVariables.length === 0 || (inArrays.length > 0 && !tape.chance(1, 3));
    const one = isArray ? tape.pick(inArrays) : tape.pick(inVariables);
    const [path, of] = tape.pick(this.#pathsOf(one.of as Described).filter(([, each]) => wanted(each)));
    return [`${isArray ? this.#element(one as Place) : one.name}${path}`, of];
  }

  #has(of: Described, wanted: (of: Described) => boolean): boolean {
    return this.#pathsOf(of).some(([, each]) => wanted(each));
  }

  #assign(): void {
    const tape = this.#tape;
    const wanted = tape.pick([isNumber, isVector, () => true]);
    const [text, of] = this.#target(wanted) ?? this.#target(isNumber)!;
    this.#lines.push(`${text} = ${this.#value(of, 3)};`);
  }

  #compound(): void {
    const isWhole = (of: Described) => isNumber(of) && isInteger(of) && !/64/.test(of);
    const found = this.#target(isWhole);
    if (found === null) {
      this.#assign();
      return;
    }
    const type = scalarOf(found[1] as NumberElement);
    this.#lines.push(`${found[0]} ${this.#tape.pick(['+=', '-=', '^=', '|='])} ${this.#number(type, 2)};`);
  }

  #declare(): void {
    const tape = this.#tape;
    const place = tape.pick(this.#scope.places);
    const [, of] = tape.pick(this.#pathsOf(place.of));
    const name = this.#name('v');
    const isConstant = tape.chance(1, 2);
    this.#lines.push(`${isConstant ? 'const' : 'let'} ${name} = ${this.#value(of, 3)};`);
    // A constant vector or record has members that may be assigned; only a whole one that may not is a number.
    this.#scope.variables.push({
      name,
      of: isNumber(of) ? scalarOf(of) : of,
      assignable: !isConstant && !isNumber(of),
    });
  }

  #choose(): void {
    const tape = this.#tape;
    const variable = tape.pick(this.#scope.places.filter(({ assignable }) => assignable));
    this.#lines.push(`${variable.name} = ${this.#array(variable.of, 2)};`);
  }

  #swap(): void {
    const variables = this.#scope.places.filter(({ assignable }) => assignable);
    const one = this.#tape.pick(variables);
    const other = this.#tape.pick(variables.filter(({ of }) => of === one.of));
    if (one === other) {
      this.#choose();
      return;
    }
    this.#lines.push(`[${one.name}, ${other.name}] = [${other.name}, ${one.name}];`);
  }

  /** Any array of at least eight elements that may be chosen. */
  #array(of: Described, depth: number): string {
    const tape = this.#tape;
    const known = this.#scope.places.filter(
      (place) => place.of === of && place.length >= 8 && place.writable,
    );
    const inner = () => this.#array(of, depth - 1);
    if (depth <= 0) return tape.pick(known).name;
    return tape.pick([
      () => tape.pick(known).name,
      () => {
        const { name, length } = tape.pick(known);
        return `${name}.subarray(${length === partLength ? tape.pick(['8, 16', '0, 8', '4, 12']) : '0, 8'})`;
      },
      () => `((${this.#number('i32', 1)} & 1) ? ${inner()} : ${inner()})`,
      () => `[${inner()}, ${inner()}][${this.#number('i32', 1)} & 1]`,
    ])();
  }

  /** The bytes of an array as other elements. */
  #see(): void {
    const tape = this.#tape;
    const all: readonly Described[] = [...numbers, ...vectors, ...this.#records];
    const bytesOf = (of: Described) => layoutOf(elementOf(of)).bytes;
    const isFull = (of: Described) =>
      layoutOf(elementOf(of)).parts.reduce((sum, { element }) => sum + layoutOf(element).bytes, 0) ===
      bytesOf(of);
    const widthsOf = (of: Described) => new Set(layoutOf(elementOf(of)).parts.map(({ element }) => element));
    const places = this.#scope.places.filter(
      ({ of, root, isLocal }) =>
        root !== null &&
        isLocal !== true &&
        isFull(of) &&
        (isInteger(elementOf(of)) || isFloat(elementOf(of))),
    );
    if (places.length === 0) {
      this.#assign();
      return;
    }
    const place = tape.pick(places);
    const bytes = place.length * bytesOf(place.of);
    const source = elementOf(place.of);
    const others = all.filter((of) => {
      if (!isFull(of) || of === place.of || bytes % bytesOf(of) !== 0) return false;
      if (isInteger(elementOf(of))) return true;
      // Floats of one type are floats, however many stand together.
      return (
        isFloat(source) &&
        widthsOf(of).size === 1 &&
        [...widthsOf(of)].every((one) => widthsOf(place.of).has(one)) &&
        widthsOf(place.of).size === 1
      );
    });
    if (others.length === 0) {
      this.#assign();
      return;
    }
    const of = tape.pick(others);
    const element = typeof of === 'string' ? `'${of}'` : `record${this.#records.indexOf(of)}`;
    const name = this.#name('seen');
    this.#lines.push(`const ${name} = ${place.name}.as(${element});`);
    // The bits of floats are looked at, and not made.
    const writable = place.writable && isInteger(source) === isInteger(elementOf(of));
    this.#scope.places.push({ name, of, length: bytes / bytesOf(of), writable, root: place.root });
  }

  /** Rows of an array with a shape. */
  #shape(): void {
    const tape = this.#tape;
    const places = this.#scope.places.filter(({ length, root }) => length >= partLength && root !== null);
    if (places.length === 0) {
      this.#assign();
      return;
    }
    const { name, of, writable, root, isLocal } = tape.pick(places);
    const shaped = this.#name('m');
    const [extents, index, length] = tape.pick([
      ['[2, 8]', `[${this.#number('i32', 1)} & 1]`, 8],
      ['[4, 3], 4', `[${this.#number('i32', 1)} & 3]`, 3],
      ['[2, 2, 4]', `[${this.#number('i32', 1)} & 1][${this.#number('i32', 1)} & 1]`, 4],
      ['[3, 5]', '[2]', 5],
    ] as const);
    this.#lines.push(`const ${shaped} = ${name}.shaped(${extents});`);
    const row = this.#name('row');
    this.#lines.push(`const ${row} = ${shaped}${index};`);
    this.#scope.places.push({ name: row, of, length, writable, root, ...(isLocal ? { isLocal } : {}) });
  }

  #atomic(): void {
    const tape = this.#tape;
    const places = this.#scope.places.filter(
      ({ of, writable, isLocal }) =>
        writable && isLocal !== true && (of === 'i32' || of === 'u32' || of === 'i64' || of === 'u64'),
    );
    if (places.length === 0) {
      this.#compound();
      return;
    }
    const place = tape.pick(places);
    const of = place.of as Scalar;
    const wide = of === 'i64' || of === 'u64';
    const operation = tape.pick(['Add', 'Max', 'Exch', 'Min', 'Sub', ...(wide ? [] : ['Xor', 'And', 'Or'])]);
    const index = this.#index(place.length);
    const call = tape.chance(1, 4)
      ? `cuda.atomicCAS(${place.name}, ${index}, ${this.#number(of, 1)}, ${this.#number(of, 1)})`
      : `cuda.atomic${operation}(${place.name}, ${index}, ${this.#number(of, 2)})`;
    const name = this.#name('v');
    this.#lines.push(tape.chance(1, 2) ? `const ${name} = ${call};` : `${call};`);
    if (this.#lines.at(-1)!.startsWith('const')) this.#scope.variables.push({ name, of, assignable: false });
  }

  #copy(): void {
    const tape = this.#tape;
    const rooted = this.#scope.places.filter(({ root }) => root !== null);
    const to = tape.pick(rooted.filter(({ writable }) => writable));
    const sources = rooted.filter(({ of, root }) => of === to.of && root !== to.root);
    if (sources.length === 0) {
      this.#assign();
      return;
    }
    const from = tape.pick(sources);
    const count = 1 + tape.below(Math.min(to.length, from.length));
    const part = ({ name, length }: Place) => `${name}.subarray(${tape.below(length - count + 1)})`;
    this.#lines.push(
      'pipeline.producerAcquire();',
      `cuda.memcpyAsync(cuda.thisThread(), ${part(to)}, ${part(from)}, ${count}, pipeline);`,
      'pipeline.producerCommit();',
      'pipeline.consumerWait();',
      'pipeline.consumerRelease();',
    );
  }

  #callFunction(): void {
    const puts = this.#lines.filter((line) => /^const put\d = /.test(line)).map((line) => line.slice(6, 10));
    if (puts.length === 0) {
      this.#declare();
      return;
    }
    const put = this.#tape.pick(puts);
    // Its arrays are the first of its element.
    const of = [...new Set(Object.values(this.#arrays))].length > 0 ? this.#ofPut(put) : null;
    if (of === null) {
      this.#declare();
      return;
    }
    const name = this.#name('v');
    this.#lines.push(
      `const ${name} = ${put}(${this.#array(of, 1)}, ${this.#number('i32', 1)}, ${this.#value(of, 2)});`,
    );
    this.#scope.variables.push({ name, of: isNumber(of) ? scalarOf(of) : of, assignable: false });
  }

  #ofPut(put: string): Described | null {
    return Object.values(this.#arrays)[2 * Number(put.slice(3))] ?? null;
  }

  #index(length: number): string {
    const tape = this.#tape;
    const mask = 2 ** Math.floor(Math.log2(length)) - 1;
    return tape.pick([() => String(tape.below(length)), () => `(${this.#number('i32', 1)} & ${mask})`])();
  }

  #element(place: Place): string {
    return `${place.name}[${this.#index(place.length)}]`;
  }

  /** A value of an element: a number, a vector or a record. */
  #value(of: Described, depth: number): string {
    if (isNumber(of)) {
      const text = this.#number(scalarOf(of), depth);
      return isFloat(of) ? small(text) : text;
    }
    return isVector(of) ? this.#vector(of, depth) : this.#record(of as Struct, depth);
  }

  /** A copy of something of this element, if there is any. */
  #copied(of: Described): string | null {
    const tape = this.#tape;
    const same = (each: Described) => each === of;
    const places = this.#scope.places.filter((place) => this.#has(place.of, same));
    const variables = this.#scope.variables.filter((one) => this.#has(one.of as Described, same));
    const one = tape.pick([...places, ...variables]);
    if (one === undefined) return null;
    const [path] = tape.pick(this.#pathsOf(one.of as Described).filter(([, each]) => same(each)));
    return `val(${'length' in one ? this.#element(one) : one.name}${path})`;
  }

  #vector(of: (typeof vectors)[number], depth: number): string {
    const tape = this.#tape;
    const { component, components } = vectorTypes[of];
    const made = () => {
      const parts = Array.from({ length: components }, () => this.#value(component, depth - 2));
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
      () => `((${this.#number('i32', 1)} & 1) ? ${inner()} : ${inner()})`,
    ])();
  }

  #record(of: Struct, depth: number): string {
    const tape = this.#tape;
    const fields = Object.entries(of.fields as Readonly<Record<string, Described>>);
    const made = () =>
      `{ ${fields.map(([name, field]) => `${name}: ${this.#value(field, depth - 1)}`).join(', ')} }`;
    if (tape.chance(1, 3)) return made();
    const copied = this.#copied(of);
    if (copied === null) return made();
    if (!tape.chance(1, 4)) return copied;
    const [name, field] = tape.pick(fields);
    return `{ ...${copied}, ${name}: ${this.#value(field, depth - 1)} }`;
  }

  #number(type: Scalar, depth: number): string {
    const tape = this.#tape;
    if (depth <= 0 || tape.chance(1, 4)) return this.#leaf(type);
    const inner = (of: Scalar) => this.#number(of, depth - 1);
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
    const tape = this.#tape;
    const isOfType = (of: Described) => isNumber(of) && scalarOf(of) === type;
    const places = this.#scope.places.filter(({ of }) => this.#has(of, isOfType));
    const variables = this.#scope.variables.filter(({ of }) => this.#has(of as Described, isOfType));
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
    const [path] = tape.pick(this.#pathsOf(one.of as Described).filter(([, each]) => isOfType(each)));
    const text = 'length' in one ? `${one.name}[${tape.below(one.length)}]` : one.name;
    return `${text}${path}`;
  }

  /** What variables hold goes to memory, where there is room for it. */
  #results(): void {
    for (const { name, of } of this.#scope.variables) {
      const [path, each] = this.#pathsOf(of as Described).find(([, one]) => isNumber(one))!;
      const target = this.#target(
        (one) => isNumber(one) && scalarOf(one) === scalarOf(each as NumberElement),
      );
      if (target !== null)
        this.#lines.push(
          `${target[0]} = ${isFloat(each as NumberElement) ? small(name + path) : name + path};`,
        );
    }
  }
}

/** A float that stays where sums and products are no NaN, and halves are finite. */
function small(text: string): string {
  return `Math.max(-30000, Math.min(30000, ${text}))`;
}
