// Random kernels over what lies evenly apart: fields of records, parts of vectors, and every so-manieth element.

import { struct } from 'warpstage';
import type { Tape } from '../differential/tape.ts';

const small = struct({ x: 'f32', y: 'f32' });
const three = struct({ a: 'i32', b: 'u32', c: 'f32' });
const body = struct({ position: 'f32x3', mass: 'f32' });
const box = struct({ low: small, high: small, id: 'i32' });
const pixel = struct({ r: 'u8', g: 'i8', b: 'u8', a: 'u8' });
const mixed = struct({ n: 'i16', m: 'u16', h: 'f16', f: 'f64', u: 'u8' });

/** What each kind of record reads: its fields as numbers. */
const fields = {
  small: ['x', 'y'],
  three: ['a', 'b', 'c'],
  body: ['position.x', 'position.y', 'position.z', 'mass'],
  box: ['low.x', 'low.y', 'high.x', 'high.y', 'id'],
  pixel: ['r', 'g', 'b', 'a'],
  mixed: ['n', 'm', 'h', 'f', 'u'],
  four: ['x', 'y', 'z', 'w'],
  rgb: ['x', 'y', 'z'],
  pairs: ['x', 'y'],
} as const;
type Kind = keyof typeof fields;
const kinds = Object.keys(fields) as Kind[];

/** How each is made of an integer, by the name of an i32. */
const made: Readonly<Record<Kind, string>> = {
  small: '{ x: f, y: f + 1 }',
  three: '{ a: v, b: cuda.u32(v + 1), c: f }',
  body: '{ position: cuda.f32x3(f, f + 1, f + 2), mass: f + 3 }',
  box: '{ low: { x: f, y: f + 1 }, high: { x: f + 2, y: f + 3 }, id: v }',
  pixel: '{ r: v, g: v + 1, b: v + 2, a: v + 3 }',
  mixed: '{ n: v, m: v + 1, h: f, f: cuda.f64(v) / 4, u: v + 2 }',
  four: 'cuda.f32x4(f, f + 1, f + 2, f + 3)',
  rgb: 'cuda.u8x3(v, v + 1, v + 2)',
  pairs: 'cuda.f64x2(cuda.f64(v), cuda.f64(v) / 8)',
};

/** What `made` makes a single field of. */
const single: Readonly<Record<Kind, readonly string[]>> = {
  small: ['x = f', 'y = f'],
  three: ['a = v', 'b = cuda.u32(v)', 'c = f'],
  body: ['mass = f', 'position = cuda.f32x3(f, f - 1, f - 2)'],
  box: ['low = { x: f, y: f - 1 }', 'high.y = f', 'id = v'],
  pixel: ['r = v', 'g = v', 'a = v'],
  mixed: ['n = v', 'm = v', 'f = cuda.f64(v) / 4', 'u = v'],
  four: ['x = f', 'w = f'],
  rgb: ['y = v', 'z = v'],
  pairs: ['y = cuda.f64(v)'],
};

export const schema = {
  out: 'i32[]',
  toSmall: small.array,
  toThree: three.array,
  toBody: body.array,
  toBox: box.array,
  toPixel: pixel.array,
  toMixed: mixed.array,
  toFour: 'f32x4[]',
  toRgb: 'u8x3[]',
  toPairs: 'f64x2[]',
  toFlat: 'i32[]',
  small: small.readonlyArray,
  three: three.readonlyArray,
  body: body.readonlyArray,
  box: box.readonlyArray,
  pixel: pixel.readonlyArray,
  mixed: mixed.readonlyArray,
  four: 'readonly f32x4[]',
  rgb: 'readonly u8x3[]',
  pairs: 'readonly f64x2[]',
  flat: 'readonly i32[]',
  shorts: 'readonly i16[]',
  doubles: 'readonly f64[]',
  n: 'index',
  point: small,
} as const;

const nameOf = (kind: Kind) => `to${kind[0]!.toUpperCase()}${kind.slice(1)}`;

/** The text of a kernel that stores a sum of what it reads at, and around, each thread's own place. */
export class StridedWriter {
  readonly #tape: Tape;
  /** Where threads have their own elements of what is written: alike for all, so that no two write to the same. */
  readonly #own = new Map<string, string>();
  readonly #counters: string[] = [];
  #names = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  kernel(): string {
    return `(given, cuda) => {
      const { out, toFlat, flat, shorts, doubles, n } = given;
      const { ${kinds.flatMap((kind) => [kind, nameOf(kind)]).join(', ')} } = given;
      const t = cuda.threadIdx.x;
      const i = cuda.blockIdx.x * cuda.blockDim.x + t;
      const tile = cuda.sharedArray(given.point, cuda.blockDim.x + 1);
      const own = cuda.localArray('f32x4', 3);
      tile[t] = { x: cuda.f32(t), y: cuda.f32(i) };
      if (t === 0) tile[cuda.blockDim.x] = { x: 5, y: 6 };
      for (let j = 0; j < 3; j++) own[j] = cuda.f32x4(cuda.f32(j + t), 1, 2, cuda.f32(j));
      cuda.syncthreads();
      let sum = i | 0;
      ${this.#statements(0)}
      out[i] = sum;
    }`;
  }

  #name(letter: string): string {
    this.#names += 1;
    return `${letter}${this.#names}`;
  }

  #statements(depth: number): string {
    const texts: string[] = [];
    do texts.push(this.#statement(depth));
    while (!this.#tape.ended && this.#tape.chance(2, 3));
    return texts.join('\n');
  }

  #statement(depth: number): string {
    const tape = this.#tape;
    switch (tape.below(depth < 2 ? 11 : 8)) {
      case 1:
        return this.#read();
      case 2:
      case 3:
        return this.#write();
      case 4: {
        const kind = tape.pick(kinds);
        return `${nameOf(kind)}[${this.#place(kind)}] = ${kind}[${this.#index()}];`;
      }
      case 5: {
        const kind = tape.pick(kinds);
        return `{ const v = sum; const f = cuda.f32(v & 255); ${nameOf(kind)}[${this.#place(kind)}].${tape.pick(single[kind])}; }`;
      }
      case 6: {
        // Read back what this thread has changed.
        const kind = tape.pick(kinds);
        const at = `${nameOf(kind)}[${this.#place(kind)}]`;
        const field = tape.pick(fields[kind]);
        return `sum = sum * 3 + cuda.i32(${at}.${field});`;
      }
      case 7:
        return this.#toFlat();
      case 8:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} }`;
      case 9:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} } else { ${this.#statements(depth + 1)} }`;
      case 10: {
        const k = this.#name('k');
        this.#counters.push(k);
        const inner = this.#statements(depth + 1);
        this.#counters.pop();
        const rounds = tape.pick(['2', 'n - n + 3', '(sum & 3)']);
        return `for (let ${k} = ${tape.pick(['0', '1'])}; ${k} < ${rounds}; ${k}++) { ${inner} }`;
      }
      default:
        return `sum = sum * 3 + ${this.#value()};`;
    }
  }

  /** Several fields of one element. */
  #read(): string {
    const kind = this.#tape.pick(kinds);
    const name = this.#name('r');
    const chosen = fields[kind].filter(() => !this.#tape.chance(1, 3));
    const terms = chosen.map((field, at) => `cuda.i32(${name}.${field}) * ${2 * at + 1}`);
    return `{ const ${name} = ${kind}[${this.#index()}]; sum = ${['sum * 3', ...terms].join(' + ')}; }`;
  }

  #write(): string {
    const kind = this.#tape.pick(kinds);
    return `{ const v = sum; const f = cuda.f32(v & 255); ${nameOf(kind)}[${this.#place(kind)}] = ${made[kind]}; }`;
  }

  #toFlat(): string {
    const tape = this.#tape;
    const by = this.#flatStride();
    const at = (more: number) => `toFlat[${by} * i + ${more}]`;
    const places = [0, 1, 2, 3].filter((more) => more < by && !tape.chance(1, 4));
    const [first = 0, ...rest] = places;
    const others = rest.map((more) => `${at(more)} = sum + ${more};`);
    return [`${at(first)} = ${this.#value()};`, ...others].join('\n');
  }

  /** All of a kernel's stores to it have one. */
  #flatStride(): number {
    const known = this.#own.get('flat') ?? this.#tape.pick(['2', '3', '4']);
    this.#own.set('flat', known);
    return Number(known);
  }

  #place(kind: Kind): string {
    const known = this.#own.get(kind) ?? this.#tape.pick(['i', 'i', 'i', 'i + 1', '2 * i']);
    this.#own.set(kind, known);
    return known;
  }

  #value(): string {
    const tape = this.#tape;
    const kind = tape.pick(kinds);
    return tape.pick([
      `cuda.i32(${kind}[${this.#index()}].${tape.pick(fields[kind])})`,
      `flat[${tape.pick(['2', '3', '4', '5'])} * i${this.#more()}]`,
      `(flat[2 * i] * 3 + flat[2 * i + 1])`,
      `(flat[3 * i${this.#more()}] - flat[3 * i${this.#more()}])`,
      `(flat[4 * i] + flat[4 * i + 1] * 2 + flat[4 * i + 2] * 3 + flat[4 * i + 3])`,
      `cuda.i32(shorts[${tape.pick(['2', '3'])} * i${this.#more()}])`,
      `cuda.i32(doubles[2 * i${this.#more()}])`,
      `cuda.i32(tile[${tape.pick(['t', 't + 1', 't + 1', 'cuda.blockDim.x - t', ...this.#counters])}].${tape.pick(['x', 'y'])})`,
      `cuda.i32(own[${tape.pick(['1', '2', 't % 3', ...this.#counters])}].${tape.pick(['x', 'w'])})`,
      `(${this.#test()} ? cuda.i32(small[i].x) : cuda.i32(small[i].y) * 2)`,
    ]);
  }

  #more(): string {
    return this.#tape.pick(['', ' + 1', ' + 2', ' - 1', ' + 3', ...this.#counters.map((k) => ` + ${k}`)]);
  }

  #index(): string {
    return this.#tape.pick([
      'i',
      'i',
      'i + 1',
      'i - 1',
      '2 * i',
      '0',
      '(sum & 7)',
      'n - 1 - i',
      ...this.#counters.map((k) => `i + ${k}`),
      ...this.#counters,
    ]);
  }

  #test(): string {
    return this.#tape.pick([
      'i < n',
      't > 2',
      'i > 0',
      '(sum & 2) === 0',
      'n > 6',
      't < 9',
      'three[i].a > 40',
    ]);
  }
}
