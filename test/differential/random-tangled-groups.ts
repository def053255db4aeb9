// What the threads of a group do together in a random kernel (random-tangled.ts): they pass values through shared memory, by
// shuffles and in pipelines, and agree on one.

import type { Place, TangledText } from './random-tangled-text.ts';
import type { Level } from './random-tangled-values.ts';

export class TangledGroups {
  readonly #text: TangledText;

  constructor(text: TangledText) {
    this.#text = text;
  }

  together(place: Place, level: Exclude<Level, 'thread'>): void {
    const group = this.#text.tape.pick(level === 'tile' ? (['tile'] as const) : (['block', 'tile'] as const));
    this.#text.tape.pick([
      () => this.#exchange(place, group),
      () => this.#shuffle(place),
      () => {
        this.#text.line(`if (${this.#text.values.uniformTest(place.names, 'tile')}) {`);
        const inside: Place = { ...place, level: 'tile', names: [...place.names] };
        this.#text.nested(() => this.together(inside, 'tile'));
        this.#text.line('}');
      },
      () => {
        if (this.#text.features.pipelines.includes(group)) this.#text.stage(place, group);
        else this.#exchange(place, group);
      },
      () => {
        if (level === 'grid') this.#text.line('grid.sync();');
        const name = this.#text.name('same');
        this.#text.line(`const ${name} = cuda.index(${this.#text.values.uniformCount(place.names, level)});`);
        place.names.push({ name, type: 'index', assignable: false, uniform: level });
      },
    ])();
  }

  #exchange({ names }: Place, group: 'tile' | 'block'): void {
    const shared = this.#text.name('shared');
    const type = this.#text.tape.pick(['i32', 'f32', 'u32'] as const);
    const value = this.#text.values.value(names, type, 2);
    const at = this.#text.rankIn(names, group);
    this.#text.line(`const ${shared} = cuda.sharedArray("${type}", block.size());`);
    this.#text.line(`${shared}[rank] = ${value};`);
    if (this.#text.features.barriers.includes(group)) {
      const token = this.#text.name('token');
      this.#text.line(`const ${token} = barrier_${group}.arrive();`);
      this.#text.simple({ level: 'thread', depth: 0, names, targets: [], mayReturn: 'grid' });
      this.#text.line(`barrier_${group}.wait(${token});`);
    } else this.#text.line(`${group}.sync();`);
    this.#text.declare(names, type, `${shared}[${at}]`);
    this.#text.line(`${group}.sync();`);
  }

  #shuffle({ names }: Place): void {
    const type = this.#text.tape.pick(['i32', 'f32'] as const);
    const value = this.#text.values.value(names, type, 2);
    const lane = `cuda.i32((${this.#text.values.value(names, 'index', 1)} & 255) % ${this.#text.tile})`;
    this.#text.tape.pick([
      () => this.#text.declare(names, type, `tile.shfl(${value}, ${lane})`),
      () => this.#text.declare(names, type, `tile.shflXor(${value}, ${this.#text.tile >> 1})`),
      () => this.#text.declare(names, 'u32', `tile.ballot(${this.#text.values.value(names, 'bool', 2)})`),
      () => this.#text.declare(names, 'bool', `tile.any(${this.#text.values.value(names, 'bool', 2)})`),
    ])();
  }
}
