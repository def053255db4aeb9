// Random kernels whose pipelines order more than their copies: stores to shared and global memory before a
// commit, stages that threads fill in part or whole, values that others left some turns ago, what passes
// through a producer, several pipelines at once, roles, tiles, barriers that are kept over turns.
//
// Every access is ordered by an edge that CUDA promises, so all schedules give the same:
//   S1  what is done before the release of batch j comes before what follows the acquire of j + stages;
//   S2  what is done before the commit of batch j, and what was seen by then, before what follows its wait.
// A warp may be late (`who`, `late`): on a GPU an edge that the generated code lacks then shows in `out`.

import type { Tape } from './tape.ts';

/** The schema of all kernels of this kind. */
export const stagingSchema = {
  out: 'i32[]',
  scratch: 'i32[]',
  x: 'readonly i32[]',
  batches: 'index',
  who: 'index',
  late: 'index',
} as const;

/** Elements of `x`, and of `scratch` for so many threads. */
export const stagingInputLength = 4096;
const mostSections = 3;
const mostBatches = 8;
export const scratchLength = (threads: number) => mostSections * 2 * mostBatches * threads;

/** The text of a kernel's body, for one block of so many threads: whole warps, an even number of them. */
export function stagingKernelText(tape: Tape, threads: number): string {
  return new Writer(tape, threads).kernel();
}

/** The same with one pipeline of one stage, in the form of the guide; many differ in nothing that a kernel could tell. */
export function singleStageKernelText(tape: Tape, threads: number): string {
  return new Writer(tape, threads).single();
}

class Writer {
  readonly #tape: Tape;
  readonly #threads: number;
  #sections = 0;
  #names = 0;

  constructor(tape: Tape, threads: number) {
    this.#tape = tape;
    this.#threads = threads;
  }

  kernel(): string {
    const tape = this.#tape;
    const sections: string[] = [];
    do {
      sections.push(`${this.#section()}\nblock.sync();`);
      this.#sections += 1;
      if (tape.chance(1, 8)) sections.push('if (batches > 1000) return;');
    } while (this.#sections < mostSections && !tape.ended && tape.chance(1, 2));
    return this.#textOf(sections);
  }

  single(): string {
    return this.#textOf([this.#single()]);
  }

  #textOf(sections: readonly string[]): string {
    const tape = this.#tape;
    const ends = tape.chance(1, 4) ? `if (t % 4 === ${tape.below(4)}) { out[t] = -v; return; }` : '';
    return `({ out, scratch, x, batches, who, late }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const lateWarp = Math.trunc(t / 32) === who;
      let v = x[t];
      ${sections.join('\n')}
      ${ends}
      out[t] = v;
    }`.replaceAll(/^\s*\n/gm, '');
  }

  #section(): string {
    switch (this.#tape.below(6)) {
      case 0:
        return this.#unified('block', this.#threads);
      case 1:
        return this.#roles();
      case 2:
        return this.#unified('tile', this.#tape.pick([32, 16, 8]));
      case 3:
        return this.#two();
      case 4:
        return this.#barrier();
      default:
        return this.#threadScope();
    }
  }

  #name(stem: string): string {
    this.#names += 1;
    return `${stem}${this.#names}`;
  }

  /** Where the batches of a section lie in `x`. */
  #from(): string {
    return String(16 * this.#tape.below(16));
  }

  /** Where two regions of `scratch` begin that are this section's own. */
  #regions(): readonly [number, number] {
    const first = this.#sections * 2 * mostBatches * this.#threads;
    return [first, first + mostBatches * this.#threads];
  }

  /** At some places, a warp that is late. */
  #late(): string {
    return this.#tape.chance(1, 3) ? 'if (lateWarp) cuda.nanosleep(late);' : '';
  }

  #mix(value: string): string {
    return this.#tape.chance(1, 4) ? `if ((v & 3) !== 1) v = v * 31 + ${value};` : `v = v * 31 + ${value};`;
  }

  /** Another thread of a group of so many. */
  #other(rank: string, width: number): string {
    return this.#tape.pick([
      `${width - 1} - ${rank}`,
      `(${rank} + ${1 + this.#tape.below(width - 1)}) % ${width}`,
    ]);
  }

  /** Fills a stage of `width` elements for batch `f`, between acquire and commit. */
  #fill(group: string, rank: string, width: number, stage: string, source: string, pipe: string): string {
    const tape = this.#tape;
    const half = width / 2;
    const copy = (count: number) => `cuda.memcpyAsync(${group}, ${stage}, ${source}, ${count}, ${pipe});`;
    const own = `cuda.memcpyAsync(${stage}.subarray(${rank}), ${source}.subarray(${rank}), 1, ${pipe});`;
    const mark = `f * 7 - ${rank}`;
    switch (tape.below(6)) {
      case 0:
        return copy(width);
      case 1: // Half by a copy, half by threads, in either order.
        return tape.pick([
          `${copy(half)}\n${this.#late()}\nif (${rank} >= ${half}) ${stage}[${rank}] = ${mark};`,
          `if (${rank} >= ${half}) ${stage}[${rank}] = ${mark};\n${copy(half)}`,
        ]);
      case 2: // By threads alone.
        return `${this.#late()}\n${stage}[${rank}] = ${mark};`;
      case 3: // By threads, and then a copy over a part of it.
        return `${stage}[${rank}] = ${mark};\n${this.#late()}\n${group}.sync();\n${copy(tape.pick([width, half]))}`;
      case 4:
        return own;
      default:
        return `${copy(half)}\ncuda.memcpyAsync(${group}, ${stage}.subarray(${half}), ${source}.subarray(${half}), ${half}, ${pipe});`;
    }
  }

  /** One pipeline that all threads of each group feed and drain. */
  #unified(kind: 'block' | 'tile', width: number): string {
    const tape = this.#tape;
    const [stages, ahead] = [1 + tape.below(4), tape.below(4)];
    const depth = Math.min(stages, 1 + ahead);
    const [pipe, group, staged, noted] = ['pipe', 'group', 'staged', 'noted'].map((stem) => this.#name(stem));
    const groups = this.#threads / width;
    const [at, r] = [this.#name('at'), this.#name('r')];
    const slot = (batch: string, array: string) =>
      `${array}.subarray((${at} * ${stages} + ${batch} % ${stages}) * ${width})`;
    const source = `x.subarray(${this.#from()} + (f * ${groups} + ${at}) * ${width})`;
    const [notes, history] = this.#regions();
    const place = (region: number, batch: string, rank: string) =>
      `scratch[${region} + (${batch}) * ${this.#threads} + ${at} * ${width} + ${rank}]`;
    const notesShared = tape.chance(1, 2);
    const notesGlobal = tape.chance(1, 2);
    const remembers = tape.chance(2, 3);
    const isCommitted = tape.chance(1, 2);

    const produce = [
      `${pipe}.producerAcquire();`,
      // S1: what another thread left before it released the batch that had this stage.
      remembers && tape.chance(1, 2)
        ? `if (f >= ${stages}) { ${this.#mix(place(history, `f - ${stages}`, this.#other(r, width)))} }`
        : '',
      this.#fill(group!, r, width, slot('f', staged!), source, pipe!),
      this.#late(),
      notesShared ? `${slot('f', noted!)}[${r}] = v + f;` : '',
      notesGlobal ? `${place(notes, 'f', r)} = v - f;` : '',
      this.#late(),
      `${pipe}.producerCommit();`,
    ];
    const consume = [
      `${pipe}.consumerWait();`,
      this.#mix(`${slot('b', staged!)}[${this.#other(r, width)}]`),
      notesShared ? this.#mix(`${slot('b', noted!)}[${this.#other(r, width)}]`) : '',
      notesGlobal ? this.#mix(place(notes, 'b', this.#other(r, width))) : '',
      // S2: what another thread had left when it committed this batch; or S1, of the youngest acquire.
      remembers && isCommitted
        ? `if (b >= ${depth}) { ${this.#mix(place(history, `b - ${depth}`, this.#other(r, width)))} }`
        : '',
      remembers && !isCommitted
        ? `if (b + ${depth} <= n && b + ${depth - 1} >= ${stages}) { ${this.#mix(place(history, `b + ${depth - 1 - stages}`, this.#other(r, width)))} }`
        : '',
      this.#late(),
      remembers ? `${place(history, 'b', r)} = v;` : '',
      this.#late(),
      `${pipe}.consumerRelease();`,
    ];
    const quits = tape.pick(['', `${pipe}.quit();`]);
    return `{
      const ${group} = ${kind === 'block' ? 'block' : `cuda.tiledPartition(block, ${width})`};
      const ${at} = ${kind === 'block' ? '0' : `Math.trunc(t / ${width})`};
      const ${r} = t % ${width};
      const ${staged} = cuda.sharedArray('i32', ${this.#threads * stages});
      ${notesShared ? `const ${noted} = cuda.sharedArray('i32', ${this.#threads * stages});` : ''}
      const ${pipe} = cuda.makePipeline(${group}, cuda.pipelineSharedState('block', ${stages}));
      const n = ${this.#count()};
      for (let b = 0, f = 0; b < n; b++) {
        for (; f < n && f < b + ${depth}; f++) {
          ${produce.join('\n')}
        }
        ${consume.join('\n')}
      }
      ${quits}
    }`;
  }

  /** One stage, filled and used turn by turn. */
  #single(): string {
    const tape = this.#tape;
    const width = this.#threads;
    const isPlain = tape.chance(2, 3);
    const seldom = (text: string) => (!isPlain && tape.chance(1, 3) ? text : '');
    const source = `x.subarray(${this.#from()} + b * ${tape.pick([width, width / 2, 2 * width])} ${tape.pick(['', '+ n * 4'])})`;
    const copy = (to: string, from: string) => `cuda.memcpyAsync(block, ${to}, ${from}, ${width}, pipe);`;
    const fill = this.#fill('block', 't', width, 'staged', source, 'pipe').replaceAll(/\bf\b/g, 'b');
    const two = tape.chance(1, 3);
    const [notes, history] = this.#regions();
    const turn = [
      seldom(this.#late()),
      'pipe.producerAcquire();',
      isPlain || tape.chance(1, 2) ? copy('staged', source) : fill,
      two ? copy('other', `${source}.subarray(16)`) : '',
      seldom(`scratch[${notes} + b * ${width} + t] = v + b;`),
      'pipe.producerCommit();',
      tape.chance(1, 2) ? this.#mix('(b - n)') : '',
      'pipe.consumerWait();',
      seldom(this.#mix(`scratch[${notes} + b * ${width} + t]`)),
      this.#mix(`staged[${this.#other('t', width)}]`),
      two ? this.#mix(`other[${this.#other('t', width)}]`) : '',
      seldom('block.sync();\nstaged[t] = v;'),
      'pipe.consumerRelease();',
      tape.chance(1, 3) ? 'out[t] = v + b;' : '',
      seldom(`scratch[${history} + b * ${width} + t] = v;`),
      seldom('block.sync();'),
      seldom('if (b === 2) break;'),
    ];
    return `{
      const staged = cuda.sharedArray('i32', ${width});
      ${two ? `const other = cuda.sharedArray('i32', ${width});` : ''}
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const n = ${this.#count()};
      for (let b = ${tape.pick([0, 0, 0, 1])}; b < n; b++) {
        ${turn.join('\n')}
      }
      ${tape.pick(['', 'pipe.quit();'])}
    }`;
  }

  /** How many batches a section has: as many as the launch says, or fewer, by a value that is the same for all. */
  #count(): string {
    return this.#tape.pick(['batches', 'Math.min(batches, 1 + (x[5] & 3))']);
  }

  /** Producers and consumers, half of the block each. */
  #roles(): string {
    const tape = this.#tape;
    const half = this.#threads / 2;
    const stages = 1 + tape.below(4);
    const isMixed = tape.chance(1, 4);
    const byRole = isMixed || tape.chance(1, 2);
    const [pipe, staged, noted] = ['pipe', 'staged', 'noted'].map((stem) => this.#name(stem));
    const slot = (batch: string, array: string) => `${array}[(${batch} % ${stages}) * ${half} + `;
    const [notes, history] = this.#regions();
    const place = (region: number, batch: string, rank: string) =>
      `scratch[${region} + (${batch}) * ${half} + ${rank}]`;
    const notesShared = tape.chance(1, 2);
    const notesGlobal = tape.chance(2, 3);
    const remembers = tape.chance(2, 3);
    const copies = tape.chance(3, 4);
    const from = this.#from();
    const state = `cuda.pipelineSharedState('block', ${stages})`;
    const produce = [
      `${pipe}.producerAcquire();`,
      remembers && tape.chance(1, 2)
        ? `if (f >= ${stages}) { ${this.#mix(place(history, `f - ${stages}`, this.#other('r', half)))} }`
        : '',
      copies
        ? `cuda.memcpyAsync(${staged}.subarray((f % ${stages}) * ${half} + r), x.subarray(${from} + f * ${half} + r), 1, ${pipe});`
        : `${slot('f', staged!)}r] = f * 5 + r;`,
      this.#late(),
      notesShared ? `${slot('f', noted!)}r] = v + f;` : '',
      notesGlobal ? `${place(notes, 'f', 'r')} = v - f;` : '',
      `${pipe}.producerCommit();`,
    ];
    const consume = [
      `${pipe}.consumerWait();`,
      this.#mix(`${slot('b', staged!)}${this.#other('r', half)}]`),
      notesShared ? this.#mix(`${slot('b', noted!)}${this.#other('r', half)}]`) : '',
      notesGlobal ? this.#mix(place(notes, 'b', this.#other('r', half))) : '',
      // Through the producers: released, acquired by them, committed, waited for.
      remembers
        ? `if (b >= ${stages}) { ${this.#mix(place(history, `b - ${stages}`, this.#other('r', half)))} }`
        : '',
      this.#late(),
      remembers ? `${place(history, 'b', 'r')} = v;` : '',
      `${pipe}.consumerRelease();`,
    ];
    const last = tape.chance(1, 3) ? `const last = ${pipe}.quit();\nif (last) v = v + 0;` : '';
    return `{
      const produces = ${isMixed ? 't % 2 === 0' : `t < ${half}`};
      const r = ${isMixed ? 'Math.trunc(t / 2)' : `t % ${half}`};
      const ${staged} = cuda.sharedArray('i32', ${half * stages});
      ${notesShared ? `const ${noted} = cuda.sharedArray('i32', ${half * stages});` : ''}
      const ${pipe} = cuda.makePipeline(block, ${state}, ${byRole ? "produces ? 'producer' : 'consumer'" : half});
      const n = ${this.#count()};
      if (produces) {
        for (let f = 0; f < n; f++) {
          ${produce.join('\n')}
        }
      } else {
        for (let b = 0; b < n; b++) {
          ${consume.join('\n')}
        }
      }
      ${last}
    }`;
  }

  /** Two pipelines of the block that keep step. */
  #two(): string {
    const tape = this.#tape;
    const width = this.#threads;
    const [a, b] = [1 + tape.below(3), 1 + tape.below(3)];
    const [first, second, one, other] = ['pipe', 'pipe', 'staged', 'staged'].map((stem) => this.#name(stem));
    const source = `x.subarray(${this.#from()} + b * ${width})`;
    const slot = (array: string, stages: number) => `${array}.subarray((b % ${stages}) * ${width})`;
    const [notes] = this.#regions();
    const steps = [
      `${first}.producerAcquire();`,
      this.#fill('block', 't', width, slot(one!, a), source, first!).replaceAll(/\bf\b/g, 'b'),
      tape.chance(1, 2)
        ? `scratch[${notes} + b * ${width} + t] = v + b;`
        : `scratch[${notes} + b * ${width} + t] = b - t;`,
      this.#late(),
      `${second}.producerAcquire();`,
      tape.chance(1, 2) ? `${first}.producerCommit();` : '',
      this.#fill('block', 't', width, slot(other!, b), source, second!).replaceAll(/\bf\b/g, 'b'),
    ];
    if (steps[5] === '') steps.push(`${first}.producerCommit();`);
    steps.push(
      `${second}.producerCommit();`,
      `${first}.consumerWait();`,
      this.#mix(`${slot(one!, a)}[${this.#other('t', width)}]`),
      this.#mix(`scratch[${notes} + b * ${width} + ${this.#other('t', width)}]`),
      this.#late(),
      `${first}.consumerRelease();`,
      `${second}.consumerWait();`,
      this.#mix(`${slot(other!, b)}[${this.#other('t', width)}]`),
      `${second}.consumerRelease();`,
    );
    return `{
      const ${one} = cuda.sharedArray('i32', ${a * width});
      const ${other} = cuda.sharedArray('i32', ${b * width});
      const ${first} = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${a}));
      const ${second} = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${b}));
      const n = ${this.#count()};
      for (let b = 0; b < n; b++) {
        ${steps.join('\n')}
      }
    }`;
  }

  /** A pair of barriers that are kept over turns: the copy of the next batch runs while this one is used. */
  #barrier(): string {
    const tape = this.#tape;
    const width = this.#threads;
    const half = width / 2;
    const [copied, staged, noted] = ['copied', 'staged', 'noted'].map((stem) => this.#name(stem));
    const from = this.#from();
    const [, history] = this.#regions();
    const stage = (batch: string) => `${staged}.subarray((${batch} % 2) * ${width})`;
    const fills = tape.below(3);
    const fetch = (batch: string) => {
      const copy = (count: number) =>
        `cuda.memcpyAsync(block, ${stage(batch)}, x.subarray(${from} + (${batch}) * ${width}), ${count}, ${copied}[(${batch}) % 2]);`;
      const stores = `${stage(batch)}[t] = ${batch} - t;`;
      const fill = [
        copy(width),
        `${copy(half)}\nif (t >= ${half}) ${stores}`,
        `${stores}\nblock.sync();\n${copy(half)}`,
      ][fills]!;
      return `${fill}\n${this.#late()}\n${noted}[((${batch}) % 2) * ${width} + t] = v + (${batch});
        token = ${copied}[(${batch}) % 2].arrive();`;
    };
    return `{
      const ${staged} = cuda.sharedArray('i32', ${2 * width});
      const ${noted} = cuda.sharedArray('i32', ${2 * width});
      const ${copied} = cuda.barrierArray(block, 2);
      const n = ${this.#count()};
      let token = ${copied}[0].arrive();
      ${copied}[0].wait(token);
      token = ${copied}[1].arrive();
      ${copied}[1].wait(token);
      ${fetch('0')}
      for (let b = 0; b < n; b++) {
        ${copied}[b % 2].wait(token);
        if (b + 1 < n) {
          ${fetch('b + 1').replaceAll('(b + 1 ', '((b + 1) ').replaceAll('= b + 1 -', '= (b + 1) -')}
        }
        ${this.#mix(`${stage('b')}[${this.#other('t', width)}]`)}
        ${this.#mix(`${noted}[(b % 2) * ${width} + ${this.#other('t', width)}]`)}
        scratch[${history} + b * ${width} + t] = v;
        ${this.#late()}
        block.sync();
        ${this.#mix(`scratch[${history} + b * ${width} + ${this.#other('t', width)}]`)}
      }
    }`;
  }

  /** Each thread's own queue of copies; others read what it brought after a sync. */
  #threadScope(): string {
    const tape = this.#tape;
    const width = this.#threads;
    const stages = 1 + tape.below(4);
    const [pipe, staged] = ['pipe', 'staged'].map((stem) => this.#name(stem));
    const slot = (batch: string, rank: string) => `(${batch} % ${stages}) * ${width} + ${rank}`;
    const isStore = tape.chance(1, 3);
    return `{
      const ${staged} = cuda.sharedArray('i32', ${stages * width});
      const ${pipe} = cuda.makePipeline();
      const n = ${this.#count()};
      for (let b = 0, f = 0; b < n; b++) {
        for (; f < n && f < b + ${stages}; f++) {
          ${isStore ? `${staged}[${slot('f', 't')}] = f;` : ''}
          cuda.memcpyAsync(${staged}.subarray(${slot('f', 't')}), x.subarray(${this.#from()} + f * ${width} + t), 1, ${pipe});
          ${pipe}.producerCommit();
        }
        ${pipe}.consumerWait();
        ${this.#late()}
        block.sync();
        ${this.#mix(`${staged}[${slot('b', this.#other('t', width))}]`)}
        block.sync();
      }
    }`;
  }
}
