// Random kernels in the kernel language, as text: what they compute, JavaScript computes too.
//
// The text keeps to what means the same on both sides: integers are brought back to their width
// (`| 0`, `>>> 0`, Math.imul) and f32 is rounded after every operation (Math.fround), which the
// kernel's types do anyhow. Free of races and faults by construction, like random-program.ts.

import type { Schema } from '#warpstage/kernel/schema.js';
import { kernelElements, numberTypes, RandomText, type Surroundings, valueTypeOf } from './random-text.ts';
import type { Tape } from './tape.ts';

/** Elements of each input: any index up to 255, and a block more. */
export const kernelInputLength = 512;
export const kernelOwnElements = 4;
export const kernelCounterLength = 6;

export interface RandomKernel {
  readonly text: string;
  readonly schema: Schema;
  readonly grid: number;
  readonly block: number;
}

/** Makes a kernel of the tape's decisions; an exact one has the same bits on every machine. */
export function randomKernel(tape: Tape, { exact = false } = {}): RandomKernel {
  const block = tape.pick([4, 32, 1, 64, 7, 96]);
  const grid = tape.pick([1, 2, 3]);
  return { text: new Writer(tape, block, exact).write(), schema: schemaOf(), grid, block };
}

function schemaOf(): Schema {
  return {
    ...Object.fromEntries(kernelElements.map((element) => [`out_${element}`, `${element}[]`] as const)),
    ...Object.fromEntries(
      kernelElements.map((element) => [`in_${element}`, `readonly ${element}[]`] as const),
    ),
    counters: 'u32[]',
    count: 'index',
    scalar_i32: 'i32',
    scalar_u32: 'u32',
    scalar_f32: 'f32',
    scalar_f64: 'f64',
    scalar_bool: 'bool',
  };
}

interface Place extends Surroundings {
  readonly uniform: boolean;
  readonly depth: number;
  readonly inLoop: boolean;
  readonly inSwitch: boolean;
  readonly mayReturn: boolean;
}

class Writer {
  readonly #tape: Tape;
  readonly #text: RandomText;
  readonly #lines: string[] = [];
  #indent = '  ';
  #names = 0;

  constructor(tape: Tape, block: number, exact: boolean) {
    this.#tape = tape;
    this.#text = new RandomText(tape, block, exact);
  }

  write(): string {
    const names = Object.keys(schemaOf()).join(', ');
    const place: Place = {
      uniform: true,
      depth: 3,
      inLoop: false,
      inSwitch: false,
      mayReturn: false,
      extra: [],
    };
    this.#lines.push(`({ ${names} }, cuda) => {`);
    this.#line('const block = cuda.thisThreadBlock();');
    this.#line('const rank = block.threadRank();');
    this.#line('const own = cuda.thisGrid().threadRank();');
    this.#line('const local_i32 = cuda.localArray("i32", 4);');
    this.#line('const local_f64 = cuda.localArray("f64", 2);');
    this.#line('const mix = (a, b) => Math.imul(a, 31) ^ b;');
    for (const type of numberTypes) {
      this.#line(`let ${type}_1 = in_${type}[own];`);
      this.#line(`let ${type}_2 = scalar_${type};`);
    }
    this.#line('let bool_1 = scalar_bool;');
    this.#some(place, 5);
    this.#some({ ...place, uniform: false, mayReturn: true }, 3);
    for (const type of numberTypes) {
      this.#line(`out_${type}[own * ${kernelOwnElements}] = ${type}_1;`);
      this.#line(`out_${type}[own * ${kernelOwnElements} + 1] = ${type}_2;`);
    }
    this.#line(`out_u8[own * ${kernelOwnElements}] = bool_1 ? 1 : 0;`);
    this.#lines.push('}');
    return this.#lines.join('\n');
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
    this.#names += 1;
    return `${stem}${this.#names}`;
  }

  #some(place: Place, atMost: number): void {
    for (let n = this.#tape.below(atMost + 1); n > 0 && !this.#tape.ended; n -= 1) {
      this.#statement({ ...place, depth: place.depth - 1 });
    }
  }

  #statement(place: Place): void {
    const tape = this.#tape;
    if (place.uniform && tape.chance(1, 2)) {
      this.#together(place);
      return;
    }
    if (place.depth <= 0) {
      this.#simple(place);
      return;
    }
    switch (tape.below(9)) {
      case 0:
      case 1:
        this.#simple(place);
        return;
      case 2:
      case 3:
        this.#if(place);
        return;
      case 4:
      case 5:
        this.#for(place);
        return;
      case 6:
        this.#while(place);
        return;
      case 7:
        this.#doWhile(place);
        return;
      default:
        this.#switch(place);
        return;
    }
  }

  #simple(place: Place): void {
    const tape = this.#tape;
    switch (tape.below(9)) {
      case 4: {
        const type = tape.pick(['i32', 'u32'] as const);
        const operator = tape.pick(['+=', '-=', '^=', '&=', '|=']);
        const wrapped = type === 'i32' ? '| 0' : '>>> 0';
        this.#line(
          `${type}_2 ${operator} ${this.#text.value(place, type, 2)}; ${type}_2 = ${type}_2 ${wrapped};`,
        );
        return;
      }
      case 5:
        this.#line(`local_i32[${this.#text.masked(3)}] = ${this.#text.value(place, 'i32', 2)};`);
        return;
      case 6:
        this.#line(`local_f64[${this.#text.masked(1)}] = ${this.#text.value(place, 'f64', 2)};`);
        return;
      case 7: {
        const element = tape.pick(kernelElements);
        const slot = tape.below(kernelOwnElements);
        const value = this.#text.value(place, valueTypeOf(element), 3);
        this.#line(`out_${element}[own * ${kernelOwnElements} + ${slot}] = ${value};`);
        return;
      }
      case 8:
        this.#countUp('counters', place);
        return;
      case 3:
        this.#line(`bool_1 = ${this.#text.value(place, 'bool', 3)};`);
        return;
      default: {
        const type = tape.pick(numberTypes);
        const name = `${type}_${1 + tape.below(2)}`;
        this.#line(`${name} = ${this.#text.value(place, type, 3)};`);
        return;
      }
    }
  }

  #countUp(array: string, place: Place): void {
    const element = this.#tape.below(kernelCounterLength);
    const operator = ['Add', 'Xor', 'Max', 'Min', 'Or', 'And'][element]!;
    this.#line(`cuda.atomic${operator}(${array}, ${element}, ${this.#text.value(place, 'u32', 2)});`);
  }

  #if(place: Place): void {
    const uniform = place.uniform && this.#tape.chance(1, 2);
    const inside = { ...place, uniform };
    this.#line(`if (${uniform ? this.#text.uniformTest() : this.#text.value(place, 'bool', 3)}) {`);
    this.#branch(inside);
    if (this.#tape.chance(1, 2)) {
      this.#line('} else {');
      this.#branch(inside);
    }
    this.#line('}');
  }

  #branch(place: Place): void {
    this.#nested(() => {
      this.#some(place, 3);
      if (place.uniform || !this.#tape.chance(1, 2)) return;
      const jumps = [
        ...(place.inLoop ? ['continue;'] : []),
        ...(place.inLoop || place.inSwitch ? ['break;'] : []),
        ...(place.mayReturn ? ['return;'] : []),
      ];
      if (jumps.length > 0) this.#line(this.#tape.pick(jumps));
    });
  }

  #for(place: Place): void {
    const uniform = place.uniform && this.#tape.chance(1, 2);
    const i = this.#name('i');
    const limit = uniform
      ? this.#tape.pick(['count', '2', '5', '1'])
      : `(${this.#text.value(place, 'i32', 2)} & 3)`;
    const step = this.#tape.pick([`++${i}`, `${i}++`, `${i} += 2`, `${i} = ${i} + 1`]);
    this.#line(`for (let ${i} = 0; ${i} < ${limit}; ${step}) {`);
    const inside: Place = uniform
      ? { ...place, inLoop: false, inSwitch: false }
      : { ...place, uniform: false, inLoop: true, inSwitch: false };
    this.#nested(() => {
      if (!uniform) this.#line(`i32_1 = (i32_1 + ${i}) | 0;`);
      this.#some(inside, 3);
    });
    this.#line('}');
  }

  #while(place: Place): void {
    const rounds = this.#name('rounds');
    this.#line(`let ${rounds} = 0;`);
    this.#line(`while (${this.#text.value(place, 'bool', 3)}) {`);
    this.#rounds(place, rounds);
    this.#line('}');
  }

  #doWhile(place: Place): void {
    const rounds = this.#name('rounds');
    this.#line(`let ${rounds} = 0;`);
    this.#line('do {');
    this.#rounds(place, rounds);
    this.#line(`} while (${this.#text.value(place, 'bool', 2)});`);
  }

  #rounds(place: Place, rounds: string): void {
    this.#nested(() => {
      this.#line(`if (++${rounds} > ${1 + this.#tape.below(5)}) break;`);
      this.#some({ ...place, uniform: false, inLoop: true, inSwitch: false }, 3);
    });
  }

  #switch(place: Place): void {
    this.#line(`switch (${this.#text.value(place, 'i32', 2)} & 3) {`);
    const inside: Place = { ...place, uniform: false, inLoop: false, inSwitch: true };
    this.#nested(() => {
      const labels = this.#tape.pick([
        ['case 0:', 'case 1:'],
        ['case 2:', 'default:', 'case 0:'],
        ['default:'],
        ['case 1:', 'case 3:', 'case 2:', 'default:'],
      ]);
      for (const label of labels) {
        this.#line(label);
        this.#nested(() => {
          this.#some(inside, 2);
          if (!this.#tape.chance(1, 3)) this.#line('break;');
        });
      }
    });
    this.#line('}');
  }

  // What all threads of a block do together.

  #together(place: Place): void {
    switch (this.#tape.below(4)) {
      case 0:
        this.#exchange(place);
        return;
      case 1:
        this.#staging(place, 'block');
        return;
      case 2:
        this.#sharedCounters(place);
        return;
      default:
        this.#staging(place, 'thread');
        return;
    }
  }

  #exchange(place: Place): void {
    const element = this.#tape.pick(kernelElements);
    const type = valueTypeOf(element);
    const shared = this.#name('shared');
    this.#line(`const ${shared} = cuda.sharedArray("${element}", block.size());`);
    this.#line(`${shared}[rank] = ${this.#text.value(place, type, 3)};`);
    this.#line('block.sync();');
    this.#line(`${type}_1 = ${shared}[${this.#text.threadOfBlock()}];`);
    this.#line('cuda.syncthreads();');
  }

  #sharedCounters(place: Place): void {
    const shared = this.#name('shared');
    const inside = { ...place, uniform: false, depth: 0 };
    this.#line(`const ${shared} = cuda.sharedArray("u32", ${kernelCounterLength});`);
    this.#line(`if (rank === 0) for (let i = 0; i < ${kernelCounterLength}; ++i) ${shared}[i] = 0;`);
    this.#line('block.sync();');
    this.#line(`if (${this.#text.value(inside, 'bool', 2)}) {`);
    this.#nested(() => this.#countUp(shared, inside));
    this.#line('}');
    this.#line('block.sync();');
    this.#line(`u32_1 = ${shared}[${this.#tape.below(kernelCounterLength)}];`);
    this.#line('block.sync();');
  }

  /** The guide's staging, unified or of thread scope, with random computation. */
  #staging(place: Place, scope: 'block' | 'thread'): void {
    const tape = this.#tape;
    const element = tape.pick(kernelElements);
    const type = valueTypeOf(element);
    const stages = tape.pick([2, 1, 3, 4]);
    const batches = tape.pick(['count', '2', '(cuda.blockIdx.x + 1)', '5', '1']);
    const start = tape.below(64);
    const shared = this.#name('shared');
    const pipeline = this.#name('pipeline');
    const [fetched, computed] = [this.#name('fetched'), this.#name('computed')];
    const stage = (batch: string) => `(${batch} % ${stages}) * block.size()`;
    const source = (batch: string) => `((${batch} * block.size() + cuda.blockIdx.x + ${start}) & 255)`;
    this.#line(`const ${shared} = cuda.sharedArray("${element}", ${stages} * block.size());`);
    this.#line(
      scope === 'block'
        ? `const ${pipeline} = cuda.makePipeline(block, cuda.pipelineSharedState("block", ${stages}));`
        : `const ${pipeline} = cuda.makePipeline();`,
    );
    this.#line(`for (let ${computed} = 0, ${fetched} = 0; ${computed} < ${batches}; ++${computed}) {`);
    this.#nested(() => {
      this.#line(`for (; ${fetched} < ${batches} && ${fetched} < ${computed} + ${stages}; ++${fetched}) {`);
      this.#nested(() => {
        this.#line(`${pipeline}.producerAcquire();`);
        this.#line(
          scope === 'block'
            ? `cuda.memcpyAsync(block, ${shared}.subarray(${stage(fetched)}), in_${element}.subarray(${source(fetched)}), block.size(), ${pipeline});`
            : `cuda.memcpyAsync(cuda.thisThread(), ${shared}.subarray(${stage(fetched)} + rank), in_${element}.subarray(${source(fetched)} + rank), 1, ${pipeline});`,
        );
        this.#line(`${pipeline}.producerCommit();`);
      });
      this.#line('}');
      this.#line(`${pipeline}.consumerWait();`);
      if (scope === 'thread') this.#line('block.sync();');
      const staged = this.#name('staged');
      this.#line(`const ${staged} = ${shared}[${stage(computed)} + ${this.#text.threadOfBlock()}];`);
      const inside: Place = {
        ...place,
        uniform: false,
        depth: 1,
        inLoop: false,
        inSwitch: false,
        extra: [[type, staged]],
      };
      this.#some(inside, 3);
      const sum = `${type}_1 + ${staged}`;
      const wrapped = { i32: `(${sum}) | 0`, u32: `(${sum}) >>> 0`, f32: `Math.fround(${sum})`, f64: sum }[
        type
      ];
      this.#line(`${type}_1 = ${wrapped};`);
      this.#line(`${pipeline}.consumerRelease();`);
      if (scope === 'thread') this.#line('block.sync();');
    });
    this.#line('}');
  }
}
