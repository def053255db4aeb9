// The blocks of the text that are open, and the pipelines that quit at their ends.
//
// A pipeline belongs to the innermost block that is open where it is made, until a function returns it: then it
// belongs to the caller's block. Whatever leaves a block quits what belongs to it, the youngest first, as C++ runs
// destructors. Not every thread need have made such a pipeline, or have it still: destructors.ts decides that.

import type { Node } from 'acorn';
import type { PipelineCall } from './ir-pipelines.ts';
import type { Lowering } from './lowering.ts';
import type { Value } from './values.ts';

export type Quit = Extract<PipelineCall, { intrinsic: 'quit' }>;

/** Where a destructor runs: where the thread continues, or where it ends as well. */
export type DestructorPlace = 'inside' | 'end';

export class Scopes {
  /** The quits that destructors make. */
  readonly destructors = new Map<Quit, DestructorPlace>();
  /** Pipelines of which some thread asks whether it is the last to quit. */
  readonly asked = new Set<number>();
  readonly #open: number[][] = [];

  /** How many blocks are open. */
  get depth(): number {
    return this.#open.length;
  }

  /** A pipeline that has just been made. */
  own(pipeline: number): void {
    this.#open.at(-1)?.push(pipeline);
  }

  /** Lowers what stands in a block, and what its end does. */
  block(lowering: Lowering, node: Node, lower: () => void): void {
    this.#open.push([]);
    try {
      lower();
      this.leave(lowering, this.depth - 1, { start: node.end - 1, end: node.end });
    } finally {
      this.#open.pop();
    }
  }

  /** Quits what belongs to the blocks that are left; so many stay open. */
  leave(lowering: Lowering, depth: number, { start, end }: Pick<Node, 'start' | 'end'>): void {
    const left = this.#open.slice(depth).flat().reverse();
    if (left.length === 0) return;
    const range = lowering.range({ start, end } as Node);
    const place = depth === 0 && lowering.frame.returns === null ? 'end' : 'inside';
    for (const pipeline of left) {
      const quit: Quit = { kind: 'call', intrinsic: 'quit', pipeline, result: null, range };
      this.destructors.set(quit, place);
      lowering.emit(quit);
    }
  }

  /** What a function returns outlives the function's blocks; so many are the caller's. */
  keep(value: Value, depth: number): void {
    const kept = new Set(pipelinesIn(value));
    const owner = this.#open[depth - 1];
    if (kept.size === 0 || owner === undefined) return;
    for (const block of this.#open.slice(depth)) {
      owner.push(...block.filter((pipeline) => kept.has(pipeline)));
      block.splice(0, block.length, ...block.filter((pipeline) => !kept.has(pipeline)));
    }
  }
}

function pipelinesIn(value: Value): number[] {
  switch (value.kind) {
    case 'pipeline':
      return [value.id];
    case 'list':
      return value.items.flatMap(pipelinesIn);
    case 'object':
      return [...value.members.values()].flatMap(pipelinesIn);
    default:
      return [];
  }
}
