// A program that its block runs: what stands outside of regions is done once, a region by all threads.
//
// The weakest behaviour that a region's description allows is what is run. The threads go in any
// order, nothing but the ends of regions orders them, and a variable that a thread does not find, or
// that has no one value behind a region, has none at all: to read it is an error of the lowering.
// Observers see what the block does as done by its first thread, while all others wait.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Region } from '../../compiler/ir.ts';
import { assignedIn } from '../analysis/walk.ts';
import type { Block } from './block.ts';
import { normal, type Sequence, type Step } from './step.ts';
import { Thread } from './thread.ts';

/** A block's own variables, those that its threads keep from region to region, and the ends of regions. */
class BlockState {
  readonly kept: readonly Value[][];
  readonly #sync = {};
  #phase = 0;

  constructor({ threads }: Block) {
    this.kept = threads.map(() => []);
  }

  /** What the block did comes before what its threads do. */
  begin({ threads, launch: { observer } }: Block, { range }: Region): void {
    if (observer === null) return;
    observer.arrived(threads[0]!, this.#sync, this.#phase, range);
    for (const thread of threads) observer.waited(thread, this.#sync, this.#phase, range);
    this.#phase += 1;
  }

  /** What the threads did comes before what the block does. */
  end({ threads, launch: { observer } }: Block, { range }: Region): void {
    if (observer === null) return;
    for (const thread of threads) observer.arrived(thread, this.#sync, this.#phase, range);
    observer.waited(threads[0]!, this.#sync, this.#phase, range);
    this.#phase += 1;
  }
}

const states = new WeakMap<Block, BlockState>();

/** Runs a block by its own program. */
export function runByBlock(block: Block, body: Sequence): void {
  if (body.kind !== 'plain') throw new TypeError('a block waits for nobody');
  states.set(block, new BlockState(block));
  body.run(new Thread(block, 0, [], []));
  for (const thread of block.threads) thread.observer?.threadEnded(thread);
}

/** A region whose statements are compiled. */
export function compileRegion(region: Region, body: Sequence): Step {
  if (body.kind !== 'plain') throw new TypeError('threads of a region wait for nobody');
  const assigned = [...assignedIn(region.body)];
  const found = assigned.filter((id) => !region.resets.includes(id));
  return {
    kind: 'plain',
    run({ block, variables: ofBlock }) {
      const state = states.get(block)!;
      state.begin(block, region);
      const left: Value[][] = [];
      for (const thread of block.inAnyOrder()) {
        const { variables } = thread;
        const kept = state.kept[thread.rank]!;
        variables.length = 0;
        Object.assign(variables, ofBlock);
        for (const id of found) delete variables[id];
        for (const id of region.loads) take(variables, kept, id);
        body.run(thread);
        for (const id of region.stores) take(kept, variables, id);
        left.push(variables.slice());
      }
      for (const id of assigned) agree(ofBlock, left, id);
      state.end(block, region);
      return normal;
    },
  };
}

/** A variable's value goes from one to the other, or that it has none. */
export function take(into: Value[], from: readonly Value[], id: number): void {
  if (id in from) into[id] = from[id]!;
  else delete into[id];
}

/** What a variable is behind a region: as it was, if no thread gave it a value; else what all gave it, if they agree. */
export function agree(ofBlock: Value[], left: readonly (readonly Value[])[], id: number): void {
  if (left.every((variables) => !(id in variables))) return;
  const [first] = left;
  const all = left.every((variables) => id in variables && Object.is(variables[id], first![id]));
  if (all) ofBlock[id] = first![id]!;
  else delete ofBlock[id];
}
