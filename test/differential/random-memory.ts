// Random kernels over what memory may hold and how it may be seen: arrays of numbers, vectors and nested records, in
// global, shared and local memory; parts of them, the same bytes as other elements, rows of shapes, arrays that are
// chosen while the kernel runs; vectors and records as values, whose members are assigned; copies and atomics.
//
// Each thread has its own part of every array, so threads are independent of each other. Floats stay small, and so
// are never NaN, whose bits no device promises. The text marks copies by `val`, as memory-in-javascript.ts says.

import type { Struct } from 'warpstage';
import { layoutOf } from '#warpstage/kernel/layout.js';
import type { NumberElement } from '#warpstage/kernel/types.js';
import {
  anyElement,
  type Described,
  elementOf,
  isFloat,
  isInteger,
  isNumber,
  isVector,
  newRecord,
  numbers,
  type Place,
  partLength,
  pathsOf,
  type Scalar,
  scalarOf,
  small,
  vectors,
} from './random-memory-elements.ts';
import { MemoryValues } from './random-memory-values.ts';
import type { Tape } from './tape.ts';

export interface MemoryKernel {
  readonly text: string;
  /** The arrays of the launch and their elements; `records` are passed by their names as well. */
  readonly arrays: Readonly<Record<string, Described>>;
  readonly records: Readonly<Record<string, Struct>>;
}

export function randomMemory(tape: Tape): MemoryKernel {
  return new Writer(tape).write();
}

class Writer extends MemoryValues {
  readonly #records: Struct[] = [];
  readonly #arrays: Record<string, Described> = {};
  readonly #lines: string[] = [];
  #made = 0;

  write(): MemoryKernel {
    const tape = this.tape;
    const inner = newRecord(tape, []);
    this.#records.push(inner, newRecord(tape, [inner]));
    const elements = [
      anyElement(tape, this.#records),
      anyElement(tape, this.#records),
      anyElement(tape, this.#records),
    ];
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
      this.scope.places.push(place);
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
    const from = this.scope.places.find((place) => place.of === of)!;
    this.#lines.push(`for (let i = 0; i < ${partLength}; i++) ${name}[i] = val(${from.name}[i]);`);
    const isLocal = kind === 'localArray';
    this.scope.places.push({ name, of, length: partLength, writable: true, root: name, isLocal });
    return [name, `${out}_part`];
  }

  /** A variable that stands for one array or another. */
  #choosable(of: Described): void {
    const name = this.#name('p');
    const first = this.tape.pick(this.scope.places.filter((place) => place.of === of));
    this.#lines.push(`let ${name} = ${first.name};`);
    this.scope.places.push({ name, of, length: 8, writable: true, root: null, assignable: true });
  }

  #functions(elements: readonly Described[]): void {
    if (!this.tape.chance(1, 2)) return;
    for (const [i, of] of elements.entries()) {
      const path = pathsOf(of).at(-1)![0];
      this.#lines.push(
        `const put${i} = (array, i, value) => { const old = val(array[i & 3]); array[i & 3] = val(value); array[(i + 1) & 3]${path} = val(old${path}); return old; };`,
      );
    }
  }

  #some(depth: number, atMost: number, pipelined: boolean): void {
    const outer = this.scope;
    this.scope = { places: [...outer.places], variables: [...outer.variables] };
    for (let n = 1 + this.tape.below(atMost); n > 0; n -= 1) this.#statement(depth, pipelined);
    // What the outermost declares is kept for the results.
    this.scope = depth === 3 ? this.scope : outer;
  }

  #body(depth: number, pipelined: boolean): void {
    this.#some(depth - 1, 3, pipelined);
  }

  #statement(depth: number, pipelined: boolean): void {
    const tape = this.tape;
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
        this.#lines.push(`if (${this.number('i32', 2)} & 1) {`);
        this.#body(depth, pipelined);
        this.#lines.push('} else {');
        this.#body(depth, pipelined);
        this.#lines.push('}');
        return;
      }
      default: {
        const i = this.#name('i');
        const rounds = tape.pick([() => '2', () => '3', () => `(${this.number('i32', 1)} & 3)`])();
        const end = this.#name('end');
        this.#lines.push(`const ${end} = ${rounds};`, `for (let ${i} = 0; ${i} < ${end}; ${i}++) {`);
        this.scope.variables.push({ name: i, of: 'i32', assignable: false });
        this.#body(depth, pipelined);
        this.scope.variables.pop();
        this.#lines.push('}');
      }
    }
  }

  #assign(): void {
    const tape = this.tape;
    const wanted = tape.pick([isNumber, isVector, () => true]);
    const [text, of] = this.target(wanted) ?? this.target(isNumber)!;
    this.#lines.push(`${text} = ${this.value(of, 3)};`);
  }

  #compound(): void {
    const isWhole = (of: Described) => isNumber(of) && isInteger(of) && !/64/.test(of);
    const found = this.target(isWhole);
    if (found === null) {
      this.#assign();
      return;
    }
    const type = scalarOf(found[1] as NumberElement);
    this.#lines.push(`${found[0]} ${this.tape.pick(['+=', '-=', '^=', '|='])} ${this.number(type, 2)};`);
  }

  #declare(): void {
    const tape = this.tape;
    const place = tape.pick(this.scope.places);
    const [, of] = tape.pick(pathsOf(place.of));
    const name = this.#name('v');
    const isConstant = tape.chance(1, 2);
    this.#lines.push(`${isConstant ? 'const' : 'let'} ${name} = ${this.value(of, 3)};`);
    // A constant vector or record has members that may be assigned; only a whole one that may not is a number.
    this.scope.variables.push({
      name,
      of: isNumber(of) ? scalarOf(of) : of,
      assignable: !isConstant && !isNumber(of),
    });
  }

  #choose(): void {
    const tape = this.tape;
    const variable = tape.pick(this.scope.places.filter(({ assignable }) => assignable));
    this.#lines.push(`${variable.name} = ${this.array(variable.of, 2)};`);
  }

  #swap(): void {
    const variables = this.scope.places.filter(({ assignable }) => assignable);
    const one = this.tape.pick(variables);
    const other = this.tape.pick(variables.filter(({ of }) => of === one.of));
    if (one === other) {
      this.#choose();
      return;
    }
    this.#lines.push(`[${one.name}, ${other.name}] = [${other.name}, ${one.name}];`);
  }

  /** The bytes of an array as other elements. */
  #see(): void {
    const tape = this.tape;
    const all: readonly Described[] = [...numbers, ...vectors, ...this.#records];
    const bytesOf = (of: Described) => layoutOf(elementOf(of)).bytes;
    const isFull = (of: Described) =>
      layoutOf(elementOf(of)).parts.reduce((sum, { element }) => sum + layoutOf(element).bytes, 0) ===
      bytesOf(of);
    const widthsOf = (of: Described) => new Set(layoutOf(elementOf(of)).parts.map(({ element }) => element));
    const places = this.scope.places.filter(
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
    this.scope.places.push({ name, of, length: bytes / bytesOf(of), writable, root: place.root });
  }

  /** Rows of an array with a shape. */
  #shape(): void {
    const tape = this.tape;
    const places = this.scope.places.filter(({ length, root }) => length >= partLength && root !== null);
    if (places.length === 0) {
      this.#assign();
      return;
    }
    const { name, of, writable, root, isLocal } = tape.pick(places);
    const shaped = this.#name('m');
    const [extents, index, length] = tape.pick([
      ['[2, 8]', `[${this.number('i32', 1)} & 1]`, 8],
      ['[4, 3], 4', `[${this.number('i32', 1)} & 3]`, 3],
      ['[2, 2, 4]', `[${this.number('i32', 1)} & 1][${this.number('i32', 1)} & 1]`, 4],
      ['[3, 5]', '[2]', 5],
    ] as const);
    this.#lines.push(`const ${shaped} = ${name}.shaped(${extents});`);
    const row = this.#name('row');
    this.#lines.push(`const ${row} = ${shaped}${index};`);
    this.scope.places.push({ name: row, of, length, writable, root, ...(isLocal ? { isLocal } : {}) });
  }

  #atomic(): void {
    const tape = this.tape;
    const places = this.scope.places.filter(
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
    const index = this.index(place.length);
    const call = tape.chance(1, 4)
      ? `cuda.atomicCAS(${place.name}, ${index}, ${this.number(of, 1)}, ${this.number(of, 1)})`
      : `cuda.atomic${operation}(${place.name}, ${index}, ${this.number(of, 2)})`;
    const name = this.#name('v');
    this.#lines.push(tape.chance(1, 2) ? `const ${name} = ${call};` : `${call};`);
    if (this.#lines.at(-1)!.startsWith('const')) this.scope.variables.push({ name, of, assignable: false });
  }

  #copy(): void {
    const tape = this.tape;
    const rooted = this.scope.places.filter(({ root }) => root !== null);
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
    const put = this.tape.pick(puts);
    // Its arrays are the first of its element.
    const of = [...new Set(Object.values(this.#arrays))].length > 0 ? this.#ofPut(put) : null;
    if (of === null) {
      this.#declare();
      return;
    }
    const name = this.#name('v');
    this.#lines.push(
      `const ${name} = ${put}(${this.array(of, 1)}, ${this.number('i32', 1)}, ${this.value(of, 2)});`,
    );
    this.scope.variables.push({ name, of: isNumber(of) ? scalarOf(of) : of, assignable: false });
  }

  #ofPut(put: string): Described | null {
    return Object.values(this.#arrays)[2 * Number(put.slice(3))] ?? null;
  }

  /** What variables hold goes to memory, where there is room for it. */
  #results(): void {
    for (const { name, of } of this.scope.variables) {
      const [path, each] = pathsOf(of as Described).find(([, one]) => isNumber(one))!;
      const target = this.target((one) => isNumber(one) && scalarOf(one) === scalarOf(each as NumberElement));
      if (target !== null)
        this.#lines.push(
          `${target[0]} = ${isFloat(each as NumberElement) ? small(name + path) : name + path};`,
        );
    }
  }
}
