// The arrays whose accesses are remembered, each with the cells of its memory.
//
// Arrays of a launch that overlap share their cells. An array on which there can be no race has none: nobody changes
// it, or nobody else reaches it.

import type { Program } from '../../compiler/ir.ts';
import { bytesOf, smallestBytes } from '../../kernel/layout.ts';
import type { Block } from '../interpreter/block.ts';
import type { Launch } from '../interpreter/launch.ts';
import { type Elements, elementSize } from '../interpreter/memory.ts';
import type { Thread } from '../interpreter/thread.ts';
import { ArrayUses } from './array-uses.ts';
import type { Budget } from './budget.ts';
import { cellBytesOf, referenceOf, regionsOf } from './launch-arrays.ts';
import { Shadow } from './shadow.ts';

/** An array of the launch, where its accesses are remembered. */
export interface TrackedArray {
  readonly array: Elements;
  readonly space: 'global' | 'shared' | 'local';
  readonly shadow: Shadow;
  readonly firstCell: number;
  readonly cellBytes: number;
  /** Cells of an element: more than 1 where it has parts, or arrays of other element sizes share the memory. */
  readonly width: number;
}

/** The cells of a part of an element: from one, to another that is none of them. */
export function cellsOf(
  { array, firstCell, cellBytes, width }: TrackedArray,
  index: number,
  component: number,
): readonly [first: number, end: number] {
  const { offset, values } = array.parts[component]!;
  const first = firstCell + index * width + offset / cellBytes;
  return [first, first + values.BYTES_PER_ELEMENT / cellBytes];
}

export class TrackedArrays {
  readonly #uses: ArrayUses;
  readonly #budget: Budget;
  /** Null for arrays on which there can be no race. */
  readonly #tracked = new Map<Elements, TrackedArray | null>();
  readonly #ofBlocks = new Map<Block, { readonly arrays: Elements[]; readonly budget: Budget }>();
  #launch: Launch | null = null;

  constructor(program: Program, budget: Budget) {
    this.#uses = new ArrayUses(program);
    this.#budget = budget;
  }

  launchBegan(launch: Launch): void {
    this.#launch = launch;
    for (const { begin, end, cellBytes, parameters } of regionsOf(launch)) {
      const changed = parameters.some((id) => this.#uses.changes({ space: 'global', id }));
      const shadow = changed ? new Shadow((end - begin) / cellBytes, cellBytes, this.#budget) : null;
      for (const id of parameters) {
        const array = launch.arrays[id]!;
        const firstCell = (array.bytes.byteOffset - begin) / cellBytes;
        const width = bytesOf(array.element) / cellBytes;
        this.#tracked.set(array, shadow && { array, space: 'global', shadow, firstCell, cellBytes, width });
      }
    }
  }

  blockBegan(block: Block): void {
    this.#ofBlocks.set(block, { arrays: [], budget: this.#budget.part() });
  }

  /** What the block's own arrays were remembered with is given back. */
  blockEnded(block: Block): void {
    const own = this.#ofBlocks.get(block)!;
    for (const array of own.arrays) this.#tracked.delete(array);
    own.budget.giveBack();
    this.#ofBlocks.delete(block);
  }

  /** The array that a thread accesses; null where there can be no race on it. */
  of(thread: Thread, array: Elements): TrackedArray | null {
    const tracked = this.#tracked.get(array);
    if (tracked !== undefined) return tracked;
    return array.whole === array ? this.#track(thread, array) : this.#trackView(thread, array);
  }

  /** What is seen as other elements is remembered where the whole is. */
  #trackView(thread: Thread, array: Elements): TrackedArray | null {
    const whole = this.of(thread, array.whole);
    const tracked = whole && { ...whole, array, width: elementSize(array) / whole.cellBytes };
    this.#tracked.set(array, tracked);
    this.#ofBlocks.get(thread.block)!.arrays.push(array);
    return tracked;
  }

  /** A shared or local array is accessed for the first time. */
  #track(thread: Thread, array: Elements): TrackedArray | null {
    const { arrays, budget } = this.#ofBlocks.get(thread.block)!;
    const reference = referenceOf(array, thread);
    const { space } = reference;
    // Nobody else reaches a local array, but for copies.
    // An mbarrier is no array of the program, and what the copy engine keeps inside has no name.
    const matters =
      space === 'shared'
        ? reference.id < 0
          ? array.name !== ''
          : this.#uses.changes(reference)
        : this.#uses.of(reference).copied;
    const cellBytes =
      reference.id < 0 ? smallestBytes(array.element) : cellBytesOf(this.#launch!.program, reference);
    const shadow = matters ? new Shadow(array.bytes.byteLength / cellBytes, cellBytes, budget) : null;
    const width = elementSize(array) / cellBytes;
    const tracked = shadow && { array, space, shadow, firstCell: 0, cellBytes, width };
    this.#tracked.set(array, tracked);
    arrays.push(array);
    return tracked;
  }
}
