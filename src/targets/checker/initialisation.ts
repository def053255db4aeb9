// Reads of memory that was never written.
//
// Shared and local memory is undefined when a block or a thread starts, and so are the global
// arrays that a launch says nothing about. One flag for each element tells whether it was
// written since. A copy of undefined elements leaves its destination undefined: only who looks
// at a value is at fault. (An element is taken for written when its copy is issued; that a copy may
// not have arrived is the matter of races.)

import type { Value } from '../../compiler/arithmetic.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';

import type { Block } from '../interpreter/block.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { Launch } from '../interpreter/launch.ts';
import type { Elements } from '../interpreter/memory.ts';
import type { AtomicCall } from '../interpreter/observer.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import type { Thread } from '../interpreter/thread.ts';
import type { Budget } from './budget.ts';
import type { ArrayPart, Findings } from './finding.ts';
import { referenceOf } from './launch-arrays.ts';

interface Flags {
  /** For each part of each element. */
  readonly written: Uint8Array;
  readonly space: ArrayPart['space'];
}

/** Reads at one place. */
interface Reads {
  readonly range: Range;
  readonly array: Elements;
  readonly space: ArrayPart['space'];
  readonly block: Block;
  readonly threads: Set<number>;
  readonly index: number;
  least: number;
  greatest: number;
}

export class Initialisation implements PartialObserver {
  /** Parameters whose arrays the launch does not fill. */
  readonly #undefined: ReadonlySet<number>;
  readonly #budget: Budget;
  readonly #findings: Findings;
  /** Null for arrays that are filled. */
  readonly #flags = new Map<Elements, Flags | null>();
  readonly #ofBlocks = new Map<Block, { readonly arrays: Elements[]; readonly budget: Budget }>();
  readonly #reads = new Map<Range, Reads>();

  constructor(undefinedParameters: ReadonlySet<number>, budget: Budget, findings: Findings) {
    this.#undefined = undefinedParameters;
    this.#budget = budget;
    this.#findings = findings;
  }

  launchBegan(launch: Launch): void {
    for (const [id, array] of launch.arrays.entries()) {
      if (array === undefined) continue;
      this.#flags.set(array, this.#undefined.has(id) ? newFlags(array, 'global', this.#budget) : null);
    }
  }

  blockBegan(block: Block): void {
    this.#ofBlocks.set(block, { arrays: [], budget: this.#budget.part() });
  }

  blockEnded(block: Block): void {
    const own = this.#ofBlocks.get(block)!;
    for (const array of own.arrays) this.#flags.delete(array);
    own.budget.giveBack();
    this.#ofBlocks.delete(block);
  }

  read(thread: Thread, array: Elements, index: number, range: Range, component: number): void {
    const flags = this.#flagsOf(thread, array);
    if (flags !== null && flags.written[index * array.parts.length + component] === 0)
      this.#report(thread, array, index, range, flags.space);
  }

  write(
    thread: Thread,
    array: Elements,
    index: number,
    _value: Value | null,
    _range: Range,
    component: number,
  ): void {
    const flags = this.#flagsOf(thread, array);
    if (flags !== null && index >= 0 && index < array.length)
      flags.written[index * array.parts.length + component] = 1;
  }

  update(thread: Thread, array: Elements, index: number, range: Range, call?: AtomicCall): void {
    if (call?.operator !== 'store') this.read(thread, array, index, range, 0);
    if (call?.operator !== 'load') this.write(thread, array, index, null, range, 0);
  }

  issued({ thread, to, from, count, copied, first, stride }: PendingCopy): void {
    const target = this.#flagsOf(thread, to.elements);
    if (target === null) return;
    const source = this.#flagsOf(thread, from.elements)?.written;
    const parts = to.elements.parts.length;
    for (let i = first; i < count; i += stride) {
      for (let part = 0; part < parts; part += 1) {
        target.written[(to.offset + i) * parts + part] =
          source === undefined || i >= copied ? 1 : source[(from.offset + i) * parts + part]!;
      }
    }
  }

  launchEnded(): void {
    for (const reads of this.#reads.values()) this.#reportReads(reads);
    this.#reads.clear();
  }

  #flagsOf(thread: Thread, array: Elements): Flags | null {
    const known = this.#flags.get(array);
    if (known !== undefined) return known;
    const { arrays, budget } = this.#ofBlocks.get(thread.block)!;
    const flags = newFlags(array, referenceOf(array, thread).space, budget);
    this.#flags.set(array, flags);
    arrays.push(array);
    return flags;
  }

  #report(thread: Thread, array: Elements, index: number, range: Range, space: ArrayPart['space']): void {
    let reads = this.#reads.get(range);
    if (reads === undefined) {
      const { block } = thread;
      reads = { range, array, space, block, threads: new Set(), index, least: index, greatest: index };
      this.#reads.set(range, reads);
    }
    if (thread.block === reads.block) reads.threads.add(thread.rank);
    reads.least = Math.min(reads.least, index);
    reads.greatest = Math.max(reads.greatest, index);
  }

  #reportReads({ range, array, space, block, threads, index, least, greatest }: Reads): void {
    const size = bytesOf(array.element);
    const [rank] = threads;
    this.#findings.report({
      code: 'WS7003',
      severity: 'error',
      message: `thread ${rank} reads \`${array.name}[${index}]\`, which nobody has written`,
      place: { range, threads: [...threads].sort((a, b) => a - b), block: block.index },
      related: [],
      part: {
        array: array.name,
        space,
        first: least,
        count: greatest - least + 1,
        bytes: [least * size, (greatest + 1) * size],
      },
      mend: mends[space],
    });
  }
}

const mends: Readonly<Record<ArrayPart['space'], string>> = {
  shared:
    'Write the element, or wait for a copy into it, before it is read: shared memory is not zero when a block starts.',
  local: 'Write the element before it is read: a local array is not zero when a thread starts.',
  global:
    'Write the element before it is read, or launch with data in the array: the launch leaves its contents undefined.',
};

function newFlags({ length, parts }: Elements, space: ArrayPart['space'], budget: Budget): Flags {
  const count = length * parts.length;
  budget.take(count);
  return { written: new Uint8Array(count), space };
}
