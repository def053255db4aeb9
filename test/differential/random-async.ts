// Random kernels that copy and wait in every way of the language but plain staging: copies of groups that no
// pipeline names, primitives, waits for all but some, polls with a limit, and barriers with counts, drops
// and parities. Whatever is read has been waited for and synchronised, so that every schedule must give the
// same.

import type { Tape } from './tape.ts';

/** Elements of `x`. */
export const asyncInputLength = 1024;

/** Text of a kernel's body, over `out` and `x`, for blocks of a multiple of 8 threads. */
export function asyncKernelText(tape: Tape): string {
  return new Writer(tape).kernel();
}

class Writer {
  readonly #tape: Tape;
  #names = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  kernel(): string {
    const phases: string[] = [];
    do phases.push(`${this.#phase()}\nblock.sync();`);
    while (!this.#tape.ended && this.#tape.chance(3, 4));
    return `({ out, x, size }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 8);
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 16 * size);
      let v = x[t];
      ${phases.join('\n')}
      out[t] = v;
    }`;
  }

  #phase(): string {
    switch (this.#tape.below(6)) {
      case 0:
        return this.#groupCopies();
      case 1:
        return this.#primitives();
      case 2:
        return this.#ownPipeline();
      case 3:
        return this.#polledRoles();
      case 4:
        return this.#polledStages();
      default:
        return this.#barrier();
    }
  }

  #name(): string {
    this.#names += 1;
    return `n${this.#names}`;
  }

  /** Where a copy begins in `x`. */
  #from(): string {
    return `${4 * this.#tape.below(64)}`;
  }

  #mix(element: string): string {
    return this.#tape.chance(1, 3)
      ? `if ((v & 3) !== 1) v = v * 31 + ${element};`
      : `v = v * 31 + ${element};`;
  }

  /** Copies of the block or of tiles, each into a stretch of its own; the oldest are read first. */
  #groupCopies(): string {
    const tape = this.#tape;
    const copies = 1 + tape.below(4);
    const isTile = tape.chance(1, 2);
    const group = isTile ? 'tile' : 'block';
    const first = isTile ? 'tile.metaGroupRank() * 8' : '0';
    const count = isTile ? `${1 + tape.below(8)}` : tape.pick(['size', '(size - 3)', '5']);
    const rank = isTile ? 'tile.threadRank()' : 't';
    const read = (copy: number) =>
      this.#mix(`shared[${copy} * size + ${first} + (${rank} * 3 + ${tape.below(8)}) % ${count}]`);
    const issue = (copy: number) =>
      `cuda.cg.memcpyAsync(${group}, shared.subarray(${copy} * size + ${first}), x.subarray(${this.#from()} + ${first}), ${count});`;
    const prior = tape.below(copies + 2);
    return [
      ...numbers(copies).map(issue),
      `cuda.cg.waitPrior(${group}, ${prior});`,
      ...numbers(copies - prior).map(read),
      `cuda.cg.wait(${tape.chance(1, 3) ? 'block' : group});`,
      ...numbers(copies).map(read),
    ].join('\n');
  }

  /** Each thread's own copies of 4, 8 or 16 bytes, some of it zeros; others' after a sync. */
  #primitives(): string {
    const tape = this.#tape;
    const copies = 1 + tape.below(4);
    const count = tape.pick([1, 2, 4]);
    const prior = tape.below(copies + 1);
    const at = (copy: number, rank: string) =>
      `shared[${copy * count} * size + (${rank}) * ${count} + ${tape.below(count)}]`;
    const issue = (copy: number) =>
      [
        `cuda.pipelineMemcpyAsync(shared.subarray(${copy * count} * size + t * ${count}), x.subarray(${this.#from()} + t * ${count}), ${count}, ${tape.below(count + 1)});`,
        'cuda.pipelineCommit();',
      ].join('\n');
    return [
      ...numbers(copies).map(issue),
      `cuda.pipelineWaitPrior(${prior});`,
      ...numbers(copies - prior).map((copy) => this.#mix(at(copy, 't'))),
      'cuda.pipelineWaitPrior(0);',
      'block.sync();',
      ...numbers(copies).map((copy) => this.#mix(at(copy, `(t + ${1 + tape.below(7)}) % size`))),
    ].join('\n');
  }

  /** A pipeline of the thread's own, waited for batch by batch or for all but some; others commit between. */
  #ownPipeline(): string {
    const tape = this.#tape;
    const pipeline = this.#name();
    const batches = 1 + tape.below(4);
    const lines = [`const ${pipeline} = cuda.makePipeline();`];
    for (const batch of numbers(batches)) {
      if (tape.chance(1, 2)) lines.push(`${pipeline}.producerAcquire();`);
      lines.push(
        `cuda.memcpyAsync(shared.subarray(${batch} * size + t), x.subarray(${this.#from()} + t), 1, ${pipeline});`,
        `${pipeline}.producerCommit();`,
      );
      if (tape.chance(1, 4)) lines.push('cuda.pipelineCommit();');
    }
    const own = (batch: number) => this.#mix(`shared[${batch} * size + t]`);
    if (tape.chance(1, 2)) {
      const prior = tape.below(batches + 2);
      lines.push(
        `cuda.pipelineConsumerWaitPrior(${pipeline}, ${prior});`,
        ...numbers(batches - prior).map(own),
      );
      lines.push(`cuda.pipelineConsumerWaitPrior(${pipeline}, 0);`);
    } else {
      for (const batch of numbers(batches))
        lines.push(this.#wait(pipeline), own(batch), `${pipeline}.consumerRelease();`);
    }
    lines.push('block.sync();');
    for (const batch of numbers(batches)) lines.push(this.#mix(`shared[${batch} * size + (t + 5) % size]`));
    return lines.join('\n');
  }

  /** Some threads fill stages, the others look again and again. */
  #polledRoles(): string {
    const tape = this.#tape;
    const pipeline = this.#name();
    const batch = this.#name();
    const [producers, stages, batches] = [1 + tape.below(6), 1 + tape.below(3), 1 + tape.below(4)];
    const from = this.#from();
    return `const ${pipeline} = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}), t < ${producers} ? 'producer' : 'consumer');
      for (let ${batch} = 0; ${batch} < ${batches}; ${batch}++) {
        const stage = (${batch} % ${stages}) * ${producers};
        if (t < ${producers}) {
          ${pipeline}.producerAcquire();
          ${this.#sleep()}
          cuda.memcpyAsync(shared.subarray(stage + t), x.subarray(${from} + ${batch} * ${producers} + t), 1, ${pipeline});
          ${pipeline}.producerCommit();
        } else {
          ${this.#wait(pipeline)}
          ${this.#mix(`shared[stage + t % ${producers}]`)}
          ${pipeline}.consumerRelease();
        }
      }`;
  }

  /** Staging by all threads, of the block or of tiles, with waits of every kind. */
  #polledStages(): string {
    const tape = this.#tape;
    const pipeline = this.#name();
    const batch = this.#name();
    const next = this.#name();
    const [stages, batches] = [1 + tape.below(3), 1 + tape.below(5)];
    const group = tape.pick(['block', 'tile']);
    const first = group === 'tile' ? 'tile.metaGroupRank() * 8' : '0';
    const count = group === 'tile' ? '8' : 'size';
    const rank = group === 'tile' ? 'tile.threadRank()' : 't';
    const from = this.#from();
    return `const ${pipeline} = cuda.makePipeline(${group}, cuda.pipelineSharedState('block', ${stages}));
      for (let ${batch} = 0, ${next} = 0; ${batch} < ${batches}; ${batch}++) {
        for (; ${next} < ${batches} && ${next} < ${batch} + ${stages}; ${next}++) {
          ${pipeline}.producerAcquire();
          cuda.memcpyAsync(${group}, shared.subarray((${next} % ${stages}) * size + ${first}), x.subarray(${from} + ${next} * size + ${first}), ${count}, ${pipeline});
          ${pipeline}.producerCommit();
        }
        ${this.#wait(pipeline)}
        ${this.#mix(`shared[(${batch} % ${stages}) * size + ${first} + (${rank} + ${tape.below(8)}) % ${count}]`)}
        ${this.#sleep()}
        ${pipeline}.consumerRelease();
      }`;
  }

  #wait(pipeline: string): string {
    return this.#tape.pick([
      `${pipeline}.consumerWait();`,
      `while (!${pipeline}.consumerWaitFor(${this.#duration()}));`,
      `while (!${pipeline}.consumerWaitFor(${this.#duration()})) cuda.nanosleep(${this.#duration()});`,
      `while (!${pipeline}.consumerWaitUntil(cuda.globaltimer() + ${this.#duration()}));`,
      `if (!${pipeline}.consumerWaitFor(${this.#duration()})) ${pipeline}.consumerWait();`,
    ]);
  }

  #duration(): number {
    return this.#tape.pick([100, 0, 1, 2000, -5]);
  }

  #sleep(): string {
    return this.#tape.chance(1, 4) ? `cuda.nanosleep(${this.#duration()});` : '';
  }

  /** A few phases: arrivals that count for several, threads that drop out, copies, and waits of every kind. */
  #barrier(): string {
    const tape = this.#tape;
    const [barrier, phase, token] = [this.#name(), this.#name(), this.#name()];
    const phases = 1 + tape.below(4);
    const extra = tape.below(3);
    const drops = tape.chance(1, 2);
    // Thread 0 counts for the extra arrivals, and stays.
    const dropped = drops ? `(t % 5 === ${1 + tape.below(4)})` : 'false';
    const copies = !drops && tape.chance(1, 2);
    const area = (index: string) => `shared[(${phase} % 2) * size + ${index}]`;
    const fill = copies
      ? `cuda.memcpyAsync(block, shared.subarray((${phase} % 2) * size), x.subarray(${this.#from()} + ${phase} * size), size, ${barrier});`
      : `${area('t')} = v;`;
    // Of threads that stay.
    const read = drops ? 't - (t % 5)' : `(t + ${tape.below(8)}) % size`;
    const arrive =
      extra === 0
        ? `${barrier}.arrive()`
        : `(t === 0 ? ${barrier}.arrive(${extra + 1}) : ${barrier}.arrive())`;
    const last = phases - 1;
    const lastArrival = drops
      ? `if (${phase} === ${tape.below(phases)} && ${dropped}) { ${barrier}.arriveAndDrop(); break; }`
      : '';
    const waits = [
      `${barrier}.wait(${token});`,
      `while (!${barrier}.tryWaitFor(${token}, ${this.#duration()}));`,
      `while (!${barrier}.tryWait(${token})) cuda.nanosleep(${this.#duration()});`,
      `while (!${barrier}.tryWaitUntil(${token}, cuda.globaltimer() + ${this.#duration()}));`,
      `${barrier}.waitParity(${phase} % 2);`,
      `while (!${barrier}.tryWaitParityFor(${phase} % 2, ${this.#duration()}));`,
    ];
    return `const ${barrier} = cuda.barrier(block, size + ${extra});
      for (let ${phase} = 0; ${phase} <= ${last}; ${phase}++) {
        ${fill}
        ${lastArrival}
        const ${token} = ${arrive};
        ${this.#sleep()}
        ${tape.pick(waits)}
        ${this.#mix(area(read))}
        ${tape.pick(waits) === waits[0] ? `${barrier}.wait(${token});` : ''}
      }`;
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: Math.max(0, count) }, (_, i) => i);
}
