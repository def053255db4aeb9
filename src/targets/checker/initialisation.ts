// Reads of memory that was never written.
//
// Shared and local memory is undefined when a block or a thread starts, and so are the global
// arrays that a launch says nothing about. One flag for each element tells whether it was
// written since. A copy of undefined elements leaves its destination undefined: only who looks
// at a value is at fault. (An element is taken for written when its copy is issued; that a copy may
// not have arrived is the matter of races.)

import type { Value } from '../../compiler/arithmetic.ts';
import type { ArrayReference, Program } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf, smallestBytes } from '../../kernel/layout.ts';
import type { Block } from '../interpreter/block.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { Launch } from '../interpreter/launch.ts';
import type { Elements } from '../interpreter/memory.ts';
import { elementSize } from '../interpreter/memory.ts';
import type { AtomicCall } from '../interpreter/observer.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import type { Thread } from '../interpreter/thread.ts';
import type { Budget } from './budget.ts';
import type { ArrayPart, Findings } from './finding.ts';
import { cellBytesOf, referenceOf } from './launch-arrays.ts';

interface Flags {
  /** For each cell of so many bytes. */
  readonly cellBytes: number;
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
      this.#flags.set(
        array,
        this.#undefined.has(id)
          ? newFlags(array, { space: 'global', id }, launch.program, this.#budget)
          : null,
      );
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
    if (flags !== null && isUnwritten(flags, array, index, component))
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
      flags.written.fill(1, ...cellsOf(flags, array, index, component));
  }

  update(thread: Thread, array: Elements, index: number, range: Range, call?: AtomicCall): void {
    if (call?.operator !== 'store') this.read(thread, array, index, range, 0);
    if (call?.operator !== 'load') this.write(thread, array, index, null, range, 0);
  }

  issued({ thread, to, from, count, copied, first, stride }: PendingCopy): void {
    const target = this.#flagsOf(thread, to.elements);
    if (target === null) return;
    const source = this.#flagsOf(thread, from.elements);
    for (let i = first; i < count; i += stride) {
      for (let part = 0; part < to.elements.parts.length; part += 1) {
        const isWritten =
          source === null || i >= copied || !isUnwritten(source, from.elements, from.offset + i, part);
        target.written.fill(isWritten ? 1 : 0, ...cellsOf(target, to.elements, to.offset + i, part));
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
    const flags =
      array.whole === array
        ? newFlags(array, referenceOf(array, thread), thread.block.launch.program, budget)
        : this.#flagsOf(thread, array.whole);
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

function newFlags(array: Elements, reference: ArrayReference, program: Program, budget: Budget): Flags {
  const cellBytes = reference.id < 0 ? smallestBytes(array.element) : cellBytesOf(program, reference);
  const count = array.bytes.byteLength / cellBytes;
  budget.take(count);
  return { written: new Uint8Array(count), cellBytes, space: reference.space };
}

/** The cells of a part of an element: from one, to another that is none of them. */
function cellsOf(
  { cellBytes }: Flags,
  array: Elements,
  index: number,
  component: number,
): [first: number, end: number] {
  const { offset, values } = array.parts[component]!;
  const first = (index * elementSize(array) + offset) / cellBytes;
  return [first, first + values.BYTES_PER_ELEMENT / cellBytes];
}

function isUnwritten(flags: Flags, array: Elements, index: number, component: number): boolean {
  const [first, end] = cellsOf(flags, array, index, component);
  for (let cell = first; cell < end; cell += 1) if (flags.written[cell] === 0) return true;
  return false;
}
