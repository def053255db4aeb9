// The text of a random kernel of tangled control flow (random-tangled.ts), and its statements that lead nowhere else: stores,
// declarations, counters, stages of a pipeline.

import type { Schema } from '#warpstage/kernel/schema.js';
import type { Extent3 } from '#warpstage/kernel/types.js';
import { type Level, type Name, type TangledType, TangledValues } from './random-tangled-values.ts';
import type { Tape } from './tape.ts';

/** Elements that a thread owns of `strided` and `grouped`, and of `wide`. */
export const ownedElements = 4;
export const ownedWide = 2;

export const tangledSchema = {
  strided: 'i32[]',
  later: 'i32[]',
  seen: 'readonly i32[]',
  grouped: 'f32[]',
  again: 'f32[]',
  wide: 'i64[]',
  counters: 'u32[]',
  in_i32: 'readonly i32[]',
  in_u32: 'readonly u32[]',
  in_f32: 'readonly f32[]',
  n: 'index',
  k: 'i32',
  x: 'f32',
  flag: 'bool',
} as const satisfies Schema;

/** Something that a jump may leave. */
export interface Target {
  readonly label: string;
  readonly kind: 'loop' | 'switch' | 'block';
  readonly level: Level;
}

export interface Place {
  /** Whose threads are all here. */
  readonly level: Level;
  readonly depth: number;
  /** What is in scope; a declaration adds to it. */
  readonly names: Name[];
  readonly targets: readonly Target[];
  /** The level at which threads may return: none of that level is waited for any more. */
  readonly mayReturn: Level;
}

/** Groups that have pipelines and barriers of their own in a kernel. */
interface Features {
  readonly pipelines: readonly ('thread' | 'tile' | 'block')[];
  readonly barriers: readonly ('tile' | 'block')[];
}

export class TangledText {
  readonly tape: Tape;
  readonly tile: number;
  readonly threads: number;
  readonly types: readonly TangledType[];
  readonly values: TangledValues;
  readonly features: Features;
  readonly lines: string[] = [];
  #indent = '  ';
  #made = 0;

  constructor(tape: Tape, block: Extent3) {
    this.tape = tape;
    this.threads = block[0] * block[1] * block[2];
    this.tile = tape.pick([8, 4, 32, 2, 1].filter((size) => this.threads % size === 0));
    const wide = tape.chance(1, 3);
    this.types = wide
      ? ['index', 'i32', 'u32', 'f32', 'bool', 'i64']
      : ['index', 'i32', 'u32', 'f32', 'bool'];
    this.values = new TangledValues(tape, this.tile, wide);
    const some = <T>(all: readonly T[]) => all.filter(() => tape.chance(1, 3));
    this.features = { pipelines: some(['thread', 'tile', 'block']), barriers: some(['tile', 'block']) };
  }

  prelude(names: Name[]): void {
    this.line('const grid = cuda.thisGrid();');
    this.line('const block = cuda.thisThreadBlock();');
    this.line(`const tile = cuda.tiledPartition(block, ${this.tile});`);
    this.line('const own = grid.threadRank();');
    this.line('const total = grid.size();');
    this.line('const rank = block.threadRank();');
    this.line('const twisted = (a, b) => {');
    this.line('  for (let i = cuda.index(0); i < 3; i++) {');
    this.line('    if (a === i) return b + i;');
    this.line('    if (b < a) break;');
    this.line('  }');
    this.line('  return a - b;');
    this.line('};');
    const start = this.tape.pick([1, 2]);
    for (const pipeline of this.features.pipelines) {
      const state = `cuda.pipelineSharedState("block", ${start})`;
      this.line(
        `const pipeline_${pipeline} = cuda.makePipeline(${pipeline === 'thread' ? '' : `${pipeline}, ${state}`});`,
      );
      this.line(`const staged_${pipeline} = cuda.sharedArray("i32", block.size());`);
    }
    for (const barrier of this.features.barriers) {
      this.line(`const barrier_${barrier} = cuda.barrier(${barrier});`);
    }
    const seeds = {
      index: 'own',
      i32: 'in_i32[own & 255]',
      u32: 'in_u32[own & 255]',
      f32: 'in_f32[own & 255]',
    };
    for (const type of this.types) {
      const value = type in seeds && this.tape.chance(3, 4) ? seeds[type as keyof typeof seeds] : null;
      this.declare(names, type, value ?? this.values.value(names, type, 2));
    }
  }

  line(text: string): void {
    this.lines.push(this.#indent + text);
  }

  nested(write: () => void): void {
    const before = this.#indent;
    this.#indent += '  ';
    write();
    this.#indent = before;
  }

  name(stem: string): string {
    this.#made += 1;
    return `${stem}${this.#made}`;
  }

  declare(names: Name[], type: TangledType, value: string): void {
    const name = this.name(type);
    const assignable = this.tape.chance(2, 3);
    this.line(`${assignable ? 'let' : 'const'} ${name} = ${value};`);
    names.push({ name, type, assignable, uniform: 'thread' });
  }

  simple(place: Place): void {
    const { names } = place;
    const type = this.tape.pick(this.types);
    const value = () => this.values.value(names, type, 3);
    const assignable = names.filter((each) => each.type === type && each.assignable);
    this.tape.pick([
      () => {
        if (assignable.length === 0) return this.declare(names, type, value());
        const { name } = this.tape.pick(assignable);
        this.line(`${name} = ${value()};`);
      },
      () => {
        if (assignable.length === 0 || type === 'bool') return this.store(names, type, value());
        const { name } = this.tape.pick(assignable);
        const step =
          type === 'i64' ? `${name} -= ${value()}` : this.tape.pick([`${name}++`, `${name} += ${value()}`]);
        this.line(`${step};`);
      },
      () => this.store(names, type, value()),
      () => this.declare(names, type, value()),
      () => {
        const at = this.tape.below(3);
        const operator = ['Add', 'Max', 'Xor'][at]!;
        this.line(`cuda.atomic${operator}(counters, ${at}, ${this.values.value(names, 'u32', 2)});`);
      },
      () => {
        if (this.features.pipelines.includes('thread')) this.stage(place, 'thread');
      },
    ])();
  }

  /** An index whose distance from an affine one is decided in a branch or loop. */
  affine({ names }: Place): void {
    const shift = this.name('shift');
    const test = () => this.values.value(names, 'bool', 2);
    const few = () => this.tape.pick(['1', '2', '-1', '0']);
    this.tape.pick([
      () => {
        this.line(`let ${shift} = 0;`);
        this.line(`if (${test()}) ${shift} = ${few()};`);
      },
      () => {
        this.line(`let ${shift} = ${few()};`);
        this.line(`for (let i = 0; i < 3; i++) if (i < ${this.values.value(names, 'index', 1)}) ${shift}++;`);
      },
      () => this.line(`const ${shift} = ${test()} ? ${few()} : ${few()};`),
      () => {
        this.line(`let ${shift};`);
        this.line(
          `if (${test()}) ${shift} = cuda.threadIdx.x; else ${shift} = ${this.values.value(names, 'index', 2)};`,
        );
      },
    ])();
    const base = this.tape.pick(['own', 'cuda.threadIdx.x', 'rank', this.values.value(names, 'index', 1)]);
    this.declare(names, 'index', `${base} ${this.tape.pick(['+', '-'])} ${shift}`);
  }

  /** Keeps a value in one of the thread's own elements, under any of the array's names. */
  store(names: readonly Name[], type: TangledType, value: string): void {
    const choice = () => this.values.value(names, this.tape.pick(['index', 'i32']), 1);
    if (type === 'i64') {
      this.line(`wide[own * ${ownedWide} + (${choice()} & 1)] = ${value};`);
      return;
    }
    if (type === 'f32') {
      const array = this.tape.pick(['grouped', 'again']);
      const at = this.tape.pick([`own * 4 + (${choice()} & 3)`, `(own << 2) + 3 - (${choice()} & 3)`]);
      this.line(`${array}[${at}] ${this.tape.pick(['=', '+='])} ${value};`);
      return;
    }
    const converted = type === 'bool' ? `${value} ? 1 : 0` : `cuda.i32(${value})`;
    const [array, most] = this.tape.pick([
      ['strided', 3],
      ['later', 1],
    ] as const);
    this.line(`${array}[own + (${choice()} & ${most}) * total] = ${converted};`);
    if (this.tape.chance(1, 3)) {
      const read = names.find((each) => each.type === 'i32' && each.assignable);
      if (read)
        this.line(`${read.name} = ${this.tape.pick(['seen', 'strided'])}[own + (${choice()} & 3) * total];`);
    }
  }

  /** Some rank of the group, as one of the block. */
  rankIn(names: readonly Name[], group: 'tile' | 'block'): string {
    const any = `(${this.values.value(names, 'index', 2)} & 255)`;
    if (group === 'block') return this.tape.pick(['block.size() - 1 - rank', `${any} % block.size()`, '0']);
    return `Math.trunc(rank / ${this.tile}) * ${this.tile} + ${any} % ${this.tile}`;
  }

  /** A stage of a group's pipeline: filled, waited for, read and given back. */
  stage({ names }: Place, group: 'thread' | 'tile' | 'block'): void {
    const pipeline = `pipeline_${group}`;
    const staged = `staged_${group}`;
    const first = { thread: 'rank', tile: `Math.trunc(rank / ${this.tile}) * ${this.tile}`, block: '0' }[
      group
    ];
    const count = { thread: 1, tile: this.tile, block: this.threads }[group];
    const from =
      group === 'thread'
        ? `${this.values.value(names, 'index', 1)} & 255`
        : `${this.values.uniformCount(names, group)} & 31`;
    const by = group === 'thread' ? '' : `${group}, `;
    this.line(`${pipeline}.producerAcquire();`);
    this.line(
      `cuda.memcpyAsync(${by}${staged}.subarray(${first}), in_i32.subarray(${from}), ${count}, ${pipeline});`,
    );
    this.line(`${pipeline}.producerCommit();`);
    this.line(`${pipeline}.consumerWait();`);
    this.declare(names, 'i32', `${staged}[${group === 'thread' ? 'rank' : this.rankIn(names, group)}]`);
    this.line(`${pipeline}.consumerRelease();`);
    // Without stages of their own, the readers of one round and the copies of the next are parted by a sync.
    if (group !== 'thread') this.line(`${group}.sync();`);
  }
}
