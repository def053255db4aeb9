// Blocks of a grid that synchronises: each has an arena of its own, and they run in turns.
//
// The module exports `advance`, which runs a block until it can go on no more, and `report`. What blocks wait for
// lies in the arena of the first, which begins before all others. When no block goes on, that is a deadlock. A
// block whose threads only sleep and look again rests, so that others have their turn.

/** What `advance` gives: a block is `stuck` if none of its threads went on, and `waits` if some did before that. */
export const outcomesOfBlock = { finished: 0, failed: 1, stuck: 2, rests: 3, waits: 4 } as const;

/** What a module of a grid that synchronises exports. */
export interface GridFunctions {
  advance(record: number, arena: number, block: number, begins: number): number;
  report(record: number, arena: number, block: number): void;
}

/** What is known of blocks outside the module. */
export interface GridBlocks {
  /** The arena of a block, where what it reports is looked for from now on. */
  enter(block: number): number;
  /** Whether all threads of the block that was reported wait for the grid. */
  awaitsGrid(): boolean;
}

/** Runs all blocks. True if one failed, or they wait for each other in vain. */
export function runGrid(
  functions: GridFunctions,
  record: number,
  blocks: number,
  { enter, awaitsGrid }: GridBlocks,
): boolean {
  const report = (block: number) => functions.report(record, enter(block), block);
  let running = Array.from({ length: blocks }, (_, block) => block);
  for (let begins = 1; ; begins = 0) {
    const left: number[] = [];
    let goesOn = false;
    for (const block of running) {
      const outcome = functions.advance(record, enter(block), block, begins);
      if (outcome === outcomesOfBlock.failed) return true;
      if (outcome !== outcomesOfBlock.stuck) goesOn = true;
      if (outcome !== outcomesOfBlock.finished) left.push(block);
    }
    if (left.length === 0) return false;
    running = left;
    if (goesOn) continue;
    for (const block of left) {
      report(block);
      if (!awaitsGrid()) return true;
    }
    report(left[0]!);
    return true;
  }
}
