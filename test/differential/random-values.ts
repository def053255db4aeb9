// Random kernels over what a kernel's names may stand for: arrays that are chosen while it runs, objects whose members
// are assigned, lists and objects that variables are given anew. Their text is JavaScript of the same meaning.

import type { Tape } from './tape.ts';

export const threads = 3;
export const elements = 8;
const arrays = ['a', 'b', 'c'] as const;
const variables = ['p', 'q'] as const;

/** The text of a kernel `({ a, b, c }, cuda) => …` of i32 arrays; each thread has its own part of each. */
export function randomValues(tape: Tape): string {
  return new Writer(tape).kernel();
}

class Writer {
  readonly #tape: Tape;
  #names = 0;
  /** Objects with members x and y that a statement may use. */
  #objects: string[] = ['o', 'many[0]', 'many[1]'];

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  kernel(): string {
    const part = (name: string) =>
      `const ${name} = data.${name}.subarray(${elements} * t, ${elements} * t + ${elements});`;
    const lines = [
      'const t = cuda.thisGrid().threadRank();',
      ...arrays.map(part),
      `let p = ${this.#array(0)}, q = a;`,
      'const o = { x: t + 5, y: 1 };',
      'const many = [{ x: 7, y: t }, { ...o, y: 4 }];',
      // What holds another object is copied nowhere: that would be a second name for the other.
      'const deep = { inner: { z: 2 }, w: 3 };',
      'let made = { n: 1, of: { m: 2 } };',
      'let list = [3, 4];',
      'const move = (object, by) => { object.x = (object.x + by) | 0; return object.y; };',
      'const pair = (n) => { if (n & 1) return { x: n, y: 1 }; return { x: 2, y: n }; };',
      ...this.#statements(3),
      `a[0] ^= p[1] ^ q[2] ^ o.x ^ o.y ^ many[0].x ^ many[1].x ^ many[1].y ^ deep.inner.z ^ deep.w ^ made.n ^ made.of.m ^ list[0] ^ list[1];`,
    ];
    return `(data, cuda) => {\n${lines.join('\n')}\n}`;
  }

  #statements(depth: number): string[] {
    const outer = this.#objects;
    this.#objects = [...outer];
    const statements = Array.from({ length: 1 + this.#tape.below(4) }, () => this.#statement(depth));
    this.#objects = outer;
    return statements;
  }

  #statement(depth: number): string {
    const tape = this.#tape;
    const inner = () => `{\n${this.#statements(depth - 1).join('\n')}\n}`;
    switch (tape.below(depth > 0 ? 15 : 12)) {
      case 0:
        return `${this.#element(2)} = ${this.#integer(2)};`;
      case 1:
        return `${this.#element(2)} += ${this.#integer(2)};`;
      case 2:
        return `${tape.pick(variables)} = ${this.#array(2)};`;
      case 3:
        return '[p, q] = [q, p];';
      case 4:
        return `${tape.pick(this.#objects)}.${tape.pick(['x', 'y'])} = ${this.#integer(2)};`;
      case 5:
        return `deep.${tape.pick(['inner.z', 'w'])} = ${this.#integer(2)};`;
      case 6:
        return `made = { n: ${this.#integer(2)}, of: { m: ${this.#integer(1)} } };`;
      case 7:
        return `made.${tape.pick(['n', 'of.m'])} = ${this.#integer(2)};`;
      case 8:
        return `list = [${this.#integer(1)}, ${this.#integer(1)}];`;
      case 9:
        return `${this.#element(1)} = move(${tape.pick(this.#objects)}, ${this.#integer(1)});`;
      case 10: {
        const name = this.#newName();
        const value = tape.pick([
          `{ x: ${this.#integer(1)}, y: ${this.#integer(1)} }`,
          `{ ...${tape.pick(this.#objects)}, y: ${this.#integer(1)} }`,
          `pair(${this.#integer(1)})`,
        ]);
        // What pair gives is chosen by a condition, and cannot be changed.
        if (!value.startsWith('pair')) this.#objects.push(name);
        return `const ${name} = ${value}; ${this.#element(1)} = ${name}.x;`;
      }
      case 11: {
        const name = this.#newName();
        const other = tape.pick(this.#objects);
        this.#objects.push(name);
        return `const ${name} = ${other};`;
      }
      case 12:
        return `if (${this.#integer(2)} & 1) ${inner()} else ${inner()}`;
      case 13: {
        const count = this.#newName();
        return `for (let ${count} = 0; ${count} < ${1 + tape.below(3)}; ${count}++) ${inner()}`;
      }
      default:
        return `while ((${this.#integer(1)} & 7) > 5) { ${inner()} break; }`;
    }
  }

  #newName(): string {
    this.#names += 1;
    return `v${this.#names}`;
  }

  /** An array of at least four elements. */
  #array(depth: number): string {
    const tape = this.#tape;
    switch (tape.below(depth > 0 ? 6 : 2)) {
      case 0:
        return tape.pick(arrays);
      case 1:
        return `${tape.pick(arrays)}.subarray(${tape.pick(['0, 4', '4', '2', '1, 6'])})`;
      case 2:
        return tape.pick(variables);
      case 3:
        return `((${this.#integer(depth - 1)} & 1) ? ${this.#array(depth - 1)} : ${this.#array(depth - 1)})`;
      case 4:
        return `[${this.#array(depth - 1)}, ${this.#array(depth - 1)}][${this.#integer(depth - 1)} & 1]`;
      default:
        return `[a, ${this.#array(depth - 1)}, b][${this.#integer(depth - 1)} & 1]`;
    }
  }

  #element(depth: number): string {
    return `${this.#array(depth)}[${this.#integer(depth - 1)} & 3]`;
  }

  #integer(depth: number): string {
    const tape = this.#tape;
    switch (tape.below(depth > 0 ? 10 : 3)) {
      case 0:
        return String(tape.below(9));
      case 1:
        return '(t | 0)';
      case 2:
        return 'list[1]';
      case 3:
        return this.#element(depth - 1);
      case 4:
        return `${tape.pick(this.#objects)}.${tape.pick(['x', 'y'])}`;
      case 5:
        return tape.pick(['made.n', 'made.of.m', 'deep.inner.z', 'deep.w']);
      case 6:
        return `(${this.#array(depth - 1)}.length | 0)`;
      case 7:
        return `((${this.#integer(depth - 1)} + ${this.#integer(depth - 1)}) | 0)`;
      case 8:
        return `Math.imul(${this.#integer(depth - 1)}, ${this.#integer(depth - 1)})`;
      default:
        return `(${this.#integer(depth - 1)} ^ ${this.#integer(depth - 1)})`;
    }
  }
}
