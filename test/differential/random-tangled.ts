// Random kernels of tangled control flow over indices that look affine and arrays that overlap.
//
// Loops stand in branches, branches in loops; threads end a round, a loop, a block or themselves early.
// Groups of every kind act together, each where all of its threads are: the grid, the block, a tile or
// the thread alone. A level is what a place or a value has in common (see random-tangled-values.ts).
//
// Free of races and faults by construction: a thread writes its own elements alone, `own + k * total` of
// `strided` and `own * 4 + k` of `grouped`, and reads no other's; what passes through shared memory is parted
// by synchronisation; shared counters change by operations that commute. `later`, `seen` and `again`
// are further names for those arrays, so that what is written by one is read by another.

import type { Schema } from '#warpstage/kernel/schema.js';
import type { Extent, Extent3 } from '#warpstage/kernel/types.js';
import { extent3 } from '../support/run-program.ts';
import {
  covers,
  type Level,
  type Name,
  type TangledType,
  TangledValues,
  tangledInputLength,
} from './random-tangled-values.ts';
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

export interface TangledKernel {
  readonly text: string;
  readonly grid: Extent;
  readonly block: Extent;
  readonly cooperative: boolean;
}

const blocks: readonly Extent[] = [32, 8, [8, 4], 64, 7, [4, 2, 3], 1, 33, [16, 2], 96];

export function tangledKernel(tape: Tape): TangledKernel {
  const block = extent3(tape.pick(blocks));
  const grid = tape.pick<Extent>([1, 2, 3, [2, 2]]);
  const cooperative = tape.chance(1, 4);
  return { text: new Writer(tape, block, cooperative).write(), grid, block, cooperative };
}

/** Something that a jump may leave. */
interface Target {
  readonly label: string;
  readonly kind: 'loop' | 'switch' | 'block';
  readonly level: Level;
}

interface Place {
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

class Writer {
  readonly #tape: Tape;
  readonly #tile: number;
  readonly #threads: number;
  readonly #top: Level;
  readonly #types: readonly TangledType[];
  readonly #values: TangledValues;
  readonly #features: Features;
  readonly #lines: string[] = [];
  #indent = '  ';
  #made = 0;

  constructor(tape: Tape, block: Extent3, cooperative: boolean) {
    this.#tape = tape;
    this.#top = cooperative ? 'grid' : 'block';
    this.#threads = block[0] * block[1] * block[2];
    this.#tile = tape.pick([8, 4, 32, 2, 1].filter((size) => this.#threads % size === 0));
    const wide = tape.chance(1, 3);
    this.#types = wide
      ? ['index', 'i32', 'u32', 'f32', 'bool', 'i64']
      : ['index', 'i32', 'u32', 'f32', 'bool'];
    this.#values = new TangledValues(tape, this.#tile, wide);
    const some = <T>(all: readonly T[]) => all.filter(() => tape.chance(1, 3));
    this.#features = { pipelines: some(['thread', 'tile', 'block']), barriers: some(['tile', 'block']) };
  }

  write(): string {
    const names: Name[] = [];
    this.#lines.push(`({ ${Object.keys(tangledSchema).join(', ')} }, cuda) => {`);
    this.#prelude(names);
    const at = (level: Level): Place => ({ level, depth: 4, names, targets: [], mayReturn: level });
    this.#some(at(this.#top), 3);
    if (!this.#tape.chance(1, 4)) this.#some(at('tile'), 4);
    this.#some(at('thread'), 5);
    for (const { name, type } of names) this.#store(names, type, name);
    this.#lines.push('}');
    return this.#lines.join('\n');
  }

  #prelude(names: Name[]): void {
    this.#line('const grid = cuda.thisGrid();');
    this.#line('const block = cuda.thisThreadBlock();');
    this.#line(`const tile = cuda.tiledPartition(block, ${this.#tile});`);
    this.#line('const own = grid.threadRank();');
    this.#line('const total = grid.size();');
    this.#line('const rank = block.threadRank();');
    this.#line('const twisted = (a, b) => {');
    this.#line('  for (let i = cuda.index(0); i < 3; i++) {');
    this.#line('    if (a === i) return b + i;');
    this.#line('    if (b < a) break;');
    this.#line('  }');
    this.#line('  return a - b;');
    this.#line('};');
    const start = this.#tape.pick([1, 2]);
    for (const pipeline of this.#features.pipelines) {
      const state = `cuda.pipelineSharedState("block", ${start})`;
      this.#line(
        `const pipeline_${pipeline} = cuda.makePipeline(${pipeline === 'thread' ? '' : `${pipeline}, ${state}`});`,
      );
      this.#line(`const staged_${pipeline} = cuda.sharedArray("i32", block.size());`);
    }
    for (const barrier of this.#features.barriers) {
      this.#line(`const barrier_${barrier} = cuda.barrier(${barrier});`);
    }
    const seeds = {
      index: 'own',
      i32: 'in_i32[own & 255]',
      u32: 'in_u32[own & 255]',
      f32: 'in_f32[own & 255]',
    };
    for (const type of this.#types) {
      const value = type in seeds && this.#tape.chance(3, 4) ? seeds[type as keyof typeof seeds] : null;
      this.#declare(names, type, value ?? this.#values.value(names, type, 2));
    }
  }

  #line(text: string): void {
    this.#lines.push(this.#indent + text);
  }

  #nested(write: () => void): void {
    const before = this.#indent;
    this.#indent += '  ';
    write();
    this.#indent = before;
  }

  #name(stem: string): string {
    this.#made += 1;
    return `${stem}${this.#made}`;
  }

  #declare(names: Name[], type: TangledType, value: string): void {
    const name = this.#name(type);
    const assignable = this.#tape.chance(2, 3);
    this.#line(`${assignable ? 'let' : 'const'} ${name} = ${value};`);
    names.push({ name, type, assignable, uniform: 'thread' });
  }

  #some(place: Place, atMost: number): void {
    for (let count = this.#tape.below(atMost + 1); count > 0 && !this.#tape.ended; count -= 1) {
      this.#statement({ ...place, depth: place.depth - 1 });
    }
  }

  /** A block of statements with names of its own. */
  #body(place: Place, atMost = 3): void {
    this.#nested(() => this.#some({ ...place, names: [...place.names] }, atMost));
  }

  #statement(place: Place): void {
    const { level, depth } = place;
    if (level !== 'thread' && this.#tape.chance(1, 3)) {
      this.#together(place, level);
      return;
    }
    const simple = [() => this.#simple(place), () => this.#affine(place), () => this.#simple(place)];
    const nested = [
      () => this.#if(place),
      () => this.#if(place),
      () => this.#for(place),
      () => this.#stride(place),
      () => this.#while(place),
      () => this.#switch(place),
      () => this.#labelled(place),
      () => this.#plainLoop(place),
    ];
    this.#tape.pick(depth > 0 ? [...simple, ...nested] : simple)();
  }

  #simple(place: Place): void {
    const { names } = place;
    const type = this.#tape.pick(this.#types);
    const value = () => this.#values.value(names, type, 3);
    const assignable = names.filter((each) => each.type === type && each.assignable);
    this.#tape.pick([
      () => {
        if (assignable.length === 0) return this.#declare(names, type, value());
        const { name } = this.#tape.pick(assignable);
        this.#line(`${name} = ${value()};`);
      },
      () => {
        if (assignable.length === 0 || type === 'bool') return this.#store(names, type, value());
        const { name } = this.#tape.pick(assignable);
        const step =
          type === 'i64' ? `${name} -= ${value()}` : this.#tape.pick([`${name}++`, `${name} += ${value()}`]);
        this.#line(`${step};`);
      },
      () => this.#store(names, type, value()),
      () => this.#declare(names, type, value()),
      () => {
        const at = this.#tape.below(3);
        const operator = ['Add', 'Max', 'Xor'][at]!;
        this.#line(`cuda.atomic${operator}(counters, ${at}, ${this.#values.value(names, 'u32', 2)});`);
      },
      () => {
        if (this.#features.pipelines.includes('thread')) this.#stage(place, 'thread');
      },
    ])();
  }

  /** An index whose distance from an affine one is decided in a branch or loop. */
  #affine({ names }: Place): void {
    const shift = this.#name('shift');
    const test = () => this.#values.value(names, 'bool', 2);
    const few = () => this.#tape.pick(['1', '2', '-1', '0']);
    this.#tape.pick([
      () => {
        this.#line(`let ${shift} = 0;`);
        this.#line(`if (${test()}) ${shift} = ${few()};`);
      },
      () => {
        this.#line(`let ${shift} = ${few()};`);
        this.#line(
          `for (let i = 0; i < 3; i++) if (i < ${this.#values.value(names, 'index', 1)}) ${shift}++;`,
        );
      },
      () => this.#line(`const ${shift} = ${test()} ? ${few()} : ${few()};`),
      () => {
        this.#line(`let ${shift};`);
        this.#line(
          `if (${test()}) ${shift} = cuda.threadIdx.x; else ${shift} = ${this.#values.value(names, 'index', 2)};`,
        );
      },
    ])();
    const base = this.#tape.pick(['own', 'cuda.threadIdx.x', 'rank', this.#values.value(names, 'index', 1)]);
    this.#declare(names, 'index', `${base} ${this.#tape.pick(['+', '-'])} ${shift}`);
  }

  /** Keeps a value in one of the thread's own elements, under any of the array's names. */
  #store(names: readonly Name[], type: TangledType, value: string): void {
    const choice = () => this.#values.value(names, this.#tape.pick(['index', 'i32']), 1);
    if (type === 'i64') {
      this.#line(`wide[own * ${ownedWide} + (${choice()} & 1)] = ${value};`);
      return;
    }
    if (type === 'f32') {
      const array = this.#tape.pick(['grouped', 'again']);
      const at = this.#tape.pick([`own * 4 + (${choice()} & 3)`, `(own << 2) + 3 - (${choice()} & 3)`]);
      this.#line(`${array}[${at}] ${this.#tape.pick(['=', '+='])} ${value};`);
      return;
    }
    const converted = type === 'bool' ? `${value} ? 1 : 0` : `cuda.i32(${value})`;
    const [array, most] = this.#tape.pick([
      ['strided', 3],
      ['later', 1],
    ] as const);
    this.#line(`${array}[own + (${choice()} & ${most}) * total] = ${converted};`);
    if (this.#tape.chance(1, 3)) {
      const read = names.find((each) => each.type === 'i32' && each.assignable);
      if (read)
        this.#line(
          `${read.name} = ${this.#tape.pick(['seen', 'strided'])}[own + (${choice()} & 3) * total];`,
        );
    }
  }

  /** The level of what stands behind a test, and the test. */
  #test({ level, names }: Place): readonly [Level, string] {
    const inside = this.#tape.pick<Level>([
      level,
      'thread',
      ...(covers(level, 'tile') ? (['tile'] as const) : []),
    ]);
    return [inside, this.#values.uniformTest(names, inside)];
  }

  #if(place: Place): void {
    const [level, test] = this.#test(place);
    const inside = { ...place, level };
    this.#line(`if (${test}) {`);
    this.#branch(inside);
    if (this.#tape.chance(1, 2)) {
      this.#line('} else {');
      this.#branch(inside);
    }
    this.#line('}');
  }

  #branch(place: Place): void {
    this.#body(place);
    if (!this.#tape.chance(1, 2)) return;
    this.#nested(() => {
      this.#jump(place);
      // Nothing comes here.
      if (this.#tape.chance(1, 8)) this.#some({ ...place, names: [...place.names] }, 2);
    });
  }

  #jump({ level, targets, mayReturn }: Place): void {
    const jumps = targets.flatMap((target, position) => {
      if (target.level !== level) return [];
      const inner = targets.slice(position + 1);
      const breaks = inner.every(({ kind }) => kind === 'block') && target.kind !== 'block';
      const continues = inner.every(({ kind }) => kind !== 'loop') && target.kind === 'loop';
      return [
        breaks ? 'break;' : `break ${target.label};`,
        ...(target.kind === 'loop' ? [continues ? 'continue;' : `continue ${target.label};`] : []),
      ];
    });
    const all = [...jumps, ...(level === mayReturn ? ['return;'] : [])];
    if (all.length > 0) this.#line(this.#tape.pick(all));
  }

  #inside(place: Place, target: Target): Place {
    return { ...place, level: target.level, names: [...place.names], targets: [...place.targets, target] };
  }

  #for(place: Place): void {
    const i = this.#name('i');
    const label = this.#name('loop');
    const level = this.#tape.pick<Level>([place.level, 'thread']);
    const value = () => this.#values.value(place.names, 'index', 2);
    const uniform = level !== 'thread';
    const start = uniform ? '0' : this.#tape.pick(['0', `${value()} & 1`, 'rank & 3']);
    const end = uniform
      ? this.#values.uniformCount(place.names, level)
      : this.#tape.pick(['3', `(${value()} & 3)`, 'n']);
    const step = uniform
      ? `${i}++`
      : this.#tape.pick([`${i}++`, `${i} += 2`, `${i} += 1 + (${value()} & 1)`]);
    this.#line(`${label}: for (let ${i} = cuda.index(${start}); ${i} < ${end}; ${step}) {`);
    const inside = this.#inside(place, { label, kind: 'loop', level });
    inside.names.push({ name: i, type: 'index', assignable: false, uniform: level });
    this.#body(inside);
    this.#line('}');
  }

  /** The thread's own elements by a stride of the grid. */
  #stride(place: Place): void {
    const i = this.#name('i');
    const label = this.#name('loop');
    this.#line(`${label}: for (let ${i} = own; ${i} < strided.length; ${i} += total) {`);
    const inside = this.#inside(place, { label, kind: 'loop', level: 'thread' });
    inside.names.push({ name: i, type: 'index', assignable: false, uniform: 'thread' });
    this.#nested(() => this.#line(`strided[${i}] += ${this.#values.value(inside.names, 'i32', 2)};`));
    this.#branch(inside);
    this.#line('}');
  }

  /** Loops in branches in loops of nothing but arithmetic, which lanes go through under a mask. */
  #plainLoop({ names }: Place): void {
    const sums = (['index', 'i32', 'f32'] as const).map((type) => [type, this.#name('sum')] as const);
    for (const [type, sum] of sums) this.#line(`let ${sum} = cuda.${type}(${this.#tape.below(3)});`);
    const plain = () => this.#values.plain(names, this.#tape.pick(['index', 'i32', 'f32']));
    const open = (depth: number) => {
      if (this.#tape.chance(1, 2)) this.#line(`if (${plain()} < ${plain()}) {`);
      else {
        const i = this.#name('i');
        this.#line(`for (let ${i} = 0; ${i} < (${this.#values.plain(names, 'i32')} & 3); ${i}++) {`);
      }
      this.#nested(() => {
        const [type, sum] = this.#tape.pick(sums);
        this.#line(`${sum} ${this.#tape.pick(['+=', '-='])} ${this.#values.plain(names, type)};`);
        if (depth > 0) open(depth - 1);
      });
      this.#line('}');
    };
    open(1 + this.#tape.below(2));
    for (const [type, name] of sums) names.push({ name, type, assignable: true, uniform: 'thread' });
  }

  #while(place: Place): void {
    const rounds = this.#name('rounds');
    const label = this.#name('loop');
    const test = this.#tape.pick(['true', this.#values.value(place.names, 'bool', 2)]);
    const inside = this.#inside(place, { label, kind: 'loop', level: 'thread' });
    const last = this.#tape.chance(1, 2);
    this.#line(`let ${rounds} = 0;`);
    this.#line(`${label}: ${last ? 'do' : `while (${test})`} {`);
    this.#nested(() => this.#line(`if (++${rounds} > ${1 + this.#tape.below(4)}) break;`));
    this.#branch(inside);
    this.#line(last ? `} while (${test});` : '}');
  }

  #switch(place: Place): void {
    const label = this.#name('choice');
    const value = this.#values.value(place.names, this.#tape.pick(['i32', 'index']), 2);
    const inside = this.#inside(place, { label, kind: 'switch', level: 'thread' });
    this.#line(`${label}: switch (${value} & 3) {`);
    this.#nested(() => {
      for (const each of this.#tape.pick([
        ['case 0:', 'case 1:'],
        ['case 2:', 'default:', 'case 0:'],
        ['default:'],
      ])) {
        this.#line(`${each} {`);
        this.#branch(inside);
        this.#line('}');
      }
    });
    this.#line('}');
  }

  #labelled(place: Place): void {
    const label = this.#name('part');
    this.#line(`${label}: {`);
    const inside = this.#inside(place, { label, kind: 'block', level: place.level });
    this.#body(inside, 2);
    this.#nested(() => this.#if(inside));
    this.#body(inside, 2);
    this.#line('}');
  }

  // What the threads of a group do together.

  #together(place: Place, level: Exclude<Level, 'thread'>): void {
    const group = this.#tape.pick(level === 'tile' ? (['tile'] as const) : (['block', 'tile'] as const));
    this.#tape.pick([
      () => this.#exchange(place, group),
      () => this.#shuffle(place),
      () => {
        this.#line(`if (${this.#values.uniformTest(place.names, 'tile')}) {`);
        const inside: Place = { ...place, level: 'tile', names: [...place.names] };
        this.#nested(() => this.#together(inside, 'tile'));
        this.#line('}');
      },
      () => {
        if (this.#features.pipelines.includes(group)) this.#stage(place, group);
        else this.#exchange(place, group);
      },
      () => {
        if (level === 'grid') this.#line('grid.sync();');
        const name = this.#name('same');
        this.#line(`const ${name} = cuda.index(${this.#values.uniformCount(place.names, level)});`);
        place.names.push({ name, type: 'index', assignable: false, uniform: level });
      },
    ])();
  }

  /** Some rank of the group, as one of the block. */
  #rankIn(names: readonly Name[], group: 'tile' | 'block'): string {
    const any = `(${this.#values.value(names, 'index', 2)} & 255)`;
    if (group === 'block') return this.#tape.pick(['block.size() - 1 - rank', `${any} % block.size()`, '0']);
    return `Math.trunc(rank / ${this.#tile}) * ${this.#tile} + ${any} % ${this.#tile}`;
  }

  #exchange({ names }: Place, group: 'tile' | 'block'): void {
    const shared = this.#name('shared');
    const type = this.#tape.pick(['i32', 'f32', 'u32'] as const);
    const value = this.#values.value(names, type, 2);
    const at = this.#rankIn(names, group);
    this.#line(`const ${shared} = cuda.sharedArray("${type}", block.size());`);
    this.#line(`${shared}[rank] = ${value};`);
    if (this.#features.barriers.includes(group)) {
      const token = this.#name('token');
      this.#line(`const ${token} = barrier_${group}.arrive();`);
      this.#simple({ level: 'thread', depth: 0, names, targets: [], mayReturn: 'grid' });
      this.#line(`barrier_${group}.wait(${token});`);
    } else this.#line(`${group}.sync();`);
    this.#declare(names, type, `${shared}[${at}]`);
    this.#line(`${group}.sync();`);
  }

  #shuffle({ names }: Place): void {
    const type = this.#tape.pick(['i32', 'f32'] as const);
    const value = this.#values.value(names, type, 2);
    const lane = `cuda.i32((${this.#values.value(names, 'index', 1)} & 255) % ${this.#tile})`;
    this.#tape.pick([
      () => this.#declare(names, type, `tile.shfl(${value}, ${lane})`),
      () => this.#declare(names, type, `tile.shflXor(${value}, ${this.#tile >> 1})`),
      () => this.#declare(names, 'u32', `tile.ballot(${this.#values.value(names, 'bool', 2)})`),
      () => this.#declare(names, 'bool', `tile.any(${this.#values.value(names, 'bool', 2)})`),
    ])();
  }

  /** A stage of a group's pipeline: filled, waited for, read and given back. */
  #stage({ names }: Place, group: 'thread' | 'tile' | 'block'): void {
    const pipeline = `pipeline_${group}`;
    const staged = `staged_${group}`;
    const first = { thread: 'rank', tile: `Math.trunc(rank / ${this.#tile}) * ${this.#tile}`, block: '0' }[
      group
    ];
    const count = { thread: 1, tile: this.#tile, block: this.#threads }[group];
    const from =
      group === 'thread'
        ? `${this.#values.value(names, 'index', 1)} & 255`
        : `${this.#values.uniformCount(names, group)} & 31`;
    const by = group === 'thread' ? '' : `${group}, `;
    this.#line(`${pipeline}.producerAcquire();`);
    this.#line(
      `cuda.memcpyAsync(${by}${staged}.subarray(${first}), in_i32.subarray(${from}), ${count}, ${pipeline});`,
    );
    this.#line(`${pipeline}.producerCommit();`);
    this.#line(`${pipeline}.consumerWait();`);
    this.#declare(names, 'i32', `${staged}[${group === 'thread' ? 'rank' : this.#rankIn(names, group)}]`);
    this.#line(`${pipeline}.consumerRelease();`);
    // Without stages of their own, the readers of one round and the copies of the next are parted by a sync.
    if (group !== 'thread') this.#line(`${group}.sync();`);
  }
}

/** Arguments of a kernel: the inputs, and outputs of which some have several names. */
export function tangledArguments({ grid, block }: Pick<TangledKernel, 'grid' | 'block'>) {
  const product = (extent: Extent) => extent3(extent).reduce((all, each) => all * each);
  const threads = product(grid) * product(block);
  const strided = new Int32Array(ownedElements * threads);
  const grouped = new Float32Array(ownedElements * threads);
  const numbers = Array.from({ length: tangledInputLength }, (_, i) => (i * 2_654_435_761) >> (i % 29));
  return {
    strided,
    later: strided.subarray(threads),
    seen: strided,
    grouped,
    again: grouped,
    wide: new BigInt64Array(ownedWide * threads),
    counters: new Uint32Array(3),
    in_i32: Int32Array.from(numbers),
    in_u32: Uint32Array.from(numbers),
    in_f32: Float32Array.from(numbers, (each) => (each % 4096) / 8),
    n: 3,
    k: 5,
    x: Math.fround(0.7),
    flag: true,
  };
}
