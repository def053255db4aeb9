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

import type { Extent, Extent3 } from '#warpstage/kernel/types.js';
import { extent3 } from '../support/run-program.ts';
import { TangledGroups } from './random-tangled-groups.ts';
import {
  ownedElements,
  ownedWide,
  type Place,
  TangledText,
  type Target,
  tangledSchema,
} from './random-tangled-text.ts';
import { covers, type Level, type Name, tangledInputLength } from './random-tangled-values.ts';
import type { Tape } from './tape.ts';

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

class Writer {
  readonly #text: TangledText;
  readonly #groups: TangledGroups;
  readonly #top: Level;

  constructor(tape: Tape, block: Extent3, cooperative: boolean) {
    this.#text = new TangledText(tape, block);
    this.#groups = new TangledGroups(this.#text);
    this.#top = cooperative ? 'grid' : 'block';
  }

  write(): string {
    const names: Name[] = [];
    this.#text.lines.push(`({ ${Object.keys(tangledSchema).join(', ')} }, cuda) => {`);
    this.#text.prelude(names);
    const at = (level: Level): Place => ({ level, depth: 4, names, targets: [], mayReturn: level });
    this.#some(at(this.#top), 3);
    if (!this.#text.tape.chance(1, 4)) this.#some(at('tile'), 4);
    this.#some(at('thread'), 5);
    for (const { name, type } of names) this.#text.store(names, type, name);
    this.#text.lines.push('}');
    return this.#text.lines.join('\n');
  }

  #some(place: Place, atMost: number): void {
    for (let count = this.#text.tape.below(atMost + 1); count > 0 && !this.#text.tape.ended; count -= 1) {
      this.#statement({ ...place, depth: place.depth - 1 });
    }
  }

  /** A block of statements with names of its own. */
  #body(place: Place, atMost = 3): void {
    this.#text.nested(() => this.#some({ ...place, names: [...place.names] }, atMost));
  }

  #statement(place: Place): void {
    const { level, depth } = place;
    if (level !== 'thread' && this.#text.tape.chance(1, 3)) {
      this.#groups.together(place, level);
      return;
    }
    const simple = [
      () => this.#text.simple(place),
      () => this.#text.affine(place),
      () => this.#text.simple(place),
    ];
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
    this.#text.tape.pick(depth > 0 ? [...simple, ...nested] : simple)();
  }

  /** The level of what stands behind a test, and the test. */
  #test({ level, names }: Place): readonly [Level, string] {
    const inside = this.#text.tape.pick<Level>([
      level,
      'thread',
      ...(covers(level, 'tile') ? (['tile'] as const) : []),
    ]);
    return [inside, this.#text.values.uniformTest(names, inside)];
  }

  #if(place: Place): void {
    const [level, test] = this.#test(place);
    const inside = { ...place, level };
    this.#text.line(`if (${test}) {`);
    this.#branch(inside);
    if (this.#text.tape.chance(1, 2)) {
      this.#text.line('} else {');
      this.#branch(inside);
    }
    this.#text.line('}');
  }

  #branch(place: Place): void {
    this.#body(place);
    if (!this.#text.tape.chance(1, 2)) return;
    this.#text.nested(() => {
      this.#jump(place);
      // Nothing comes here.
      if (this.#text.tape.chance(1, 8)) this.#some({ ...place, names: [...place.names] }, 2);
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
    if (all.length > 0) this.#text.line(this.#text.tape.pick(all));
  }

  #inside(place: Place, target: Target): Place {
    return { ...place, level: target.level, names: [...place.names], targets: [...place.targets, target] };
  }

  #for(place: Place): void {
    const i = this.#text.name('i');
    const label = this.#text.name('loop');
    const level = this.#text.tape.pick<Level>([place.level, 'thread']);
    const value = () => this.#text.values.value(place.names, 'index', 2);
    const uniform = level !== 'thread';
    const start = uniform ? '0' : this.#text.tape.pick(['0', `${value()} & 1`, 'rank & 3']);
    const end = uniform
      ? this.#text.values.uniformCount(place.names, level)
      : this.#text.tape.pick(['3', `(${value()} & 3)`, 'n']);
    const step = uniform
      ? `${i}++`
      : this.#text.tape.pick([`${i}++`, `${i} += 2`, `${i} += 1 + (${value()} & 1)`]);
    this.#text.line(`${label}: for (let ${i} = cuda.index(${start}); ${i} < ${end}; ${step}) {`);
    const inside = this.#inside(place, { label, kind: 'loop', level });
    inside.names.push({ name: i, type: 'index', assignable: false, uniform: level });
    this.#body(inside);
    this.#text.line('}');
  }

  /** The thread's own elements by a stride of the grid. */
  #stride(place: Place): void {
    const i = this.#text.name('i');
    const label = this.#text.name('loop');
    this.#text.line(`${label}: for (let ${i} = own; ${i} < strided.length; ${i} += total) {`);
    const inside = this.#inside(place, { label, kind: 'loop', level: 'thread' });
    inside.names.push({ name: i, type: 'index', assignable: false, uniform: 'thread' });
    this.#text.nested(() =>
      this.#text.line(`strided[${i}] += ${this.#text.values.value(inside.names, 'i32', 2)};`),
    );
    this.#branch(inside);
    this.#text.line('}');
  }

  /** Loops in branches in loops of nothing but arithmetic, which lanes go through under a mask. */
  #plainLoop({ names }: Place): void {
    const sums = (['index', 'i32', 'f32'] as const).map((type) => [type, this.#text.name('sum')] as const);
    for (const [type, sum] of sums)
      this.#text.line(`let ${sum} = cuda.${type}(${this.#text.tape.below(3)});`);
    const plain = () => this.#text.values.plain(names, this.#text.tape.pick(['index', 'i32', 'f32']));
    const open = (depth: number) => {
      if (this.#text.tape.chance(1, 2)) this.#text.line(`if (${plain()} < ${plain()}) {`);
      else {
        const i = this.#text.name('i');
        this.#text.line(
          `for (let ${i} = 0; ${i} < (${this.#text.values.plain(names, 'i32')} & 3); ${i}++) {`,
        );
      }
      this.#text.nested(() => {
        const [type, sum] = this.#text.tape.pick(sums);
        this.#text.line(
          `${sum} ${this.#text.tape.pick(['+=', '-='])} ${this.#text.values.plain(names, type)};`,
        );
        if (depth > 0) open(depth - 1);
      });
      this.#text.line('}');
    };
    open(1 + this.#text.tape.below(2));
    for (const [type, name] of sums) names.push({ name, type, assignable: true, uniform: 'thread' });
  }

  #while(place: Place): void {
    const rounds = this.#text.name('rounds');
    const label = this.#text.name('loop');
    const test = this.#text.tape.pick(['true', this.#text.values.value(place.names, 'bool', 2)]);
    const inside = this.#inside(place, { label, kind: 'loop', level: 'thread' });
    const last = this.#text.tape.chance(1, 2);
    this.#text.line(`let ${rounds} = 0;`);
    this.#text.line(`${label}: ${last ? 'do' : `while (${test})`} {`);
    this.#text.nested(() => this.#text.line(`if (++${rounds} > ${1 + this.#text.tape.below(4)}) break;`));
    this.#branch(inside);
    this.#text.line(last ? `} while (${test});` : '}');
  }

  #switch(place: Place): void {
    const label = this.#text.name('choice');
    const value = this.#text.values.value(place.names, this.#text.tape.pick(['i32', 'index']), 2);
    const inside = this.#inside(place, { label, kind: 'switch', level: 'thread' });
    this.#text.line(`${label}: switch (${value} & 3) {`);
    this.#text.nested(() => {
      for (const each of this.#text.tape.pick([
        ['case 0:', 'case 1:'],
        ['case 2:', 'default:', 'case 0:'],
        ['default:'],
      ])) {
        this.#text.line(`${each} {`);
        this.#branch(inside);
        this.#text.line('}');
      }
    });
    this.#text.line('}');
  }

  #labelled(place: Place): void {
    const label = this.#text.name('part');
    this.#text.line(`${label}: {`);
    const inside = this.#inside(place, { label, kind: 'block', level: place.level });
    this.#body(inside, 2);
    this.#text.nested(() => this.#if(inside));
    this.#body(inside, 2);
    this.#text.line('}');
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
