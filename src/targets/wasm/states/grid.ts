// Blocks of a grid that synchronises: each has an arena of its own, and they run in turns.
//
// The module exports `advance`, which runs a block until it can go on no more; `awaits(record, arena,
// block)`, which says whether all of a block's threads have come to a sync of the grid; `release`, which
// lets them go on; and `report`. When no block can go on, either all of them await the grid, or that is
// a deadlock. A block whose threads only sleep and look again rests, so that others have their turn.

import { Code } from '../encoder/code.ts';
import { LaunchValues } from '../launch-values.ts';
import { barrierFields, type StatesLayout } from './layout.ts';

/** What `advance` gives. */
export const outcomesOfBlock = { finished: 0, failed: 1, stuck: 2, rests: 3 } as const;

/** What a module of a grid that synchronises exports. */
export interface GridFunctions {
  advance(record: number, arena: number, block: number, begins: number): number;
  awaits(record: number, arena: number, block: number): number;
  release(record: number, arena: number, block: number): void;
  report(record: number, arena: number, block: number): void;
}

/** Adds `awaits` and `release`. */
export function addGridFunctions(
  { unit }: StatesLayout,
  { slots, released }: NonNullable<StatesLayout['grid']>,
): void {
  const add = (name: string, results: readonly 'i32'[], write: (code: Code, scratch: number) => void) => {
    const code = new Code(
      ['record', 'arena', 'block'].map((parameter) => ({ name: parameter, type: 'i32' })),
    );
    const launch = new LaunchValues(unit, code, { record: 0, arena: 1, block: 2 });
    const scratch = launch.scratch();
    const body = code.capture(() => write(code, scratch));
    launch.writeLaunchPrologue();
    code.append(body);
    unit.module.function(name, code, ['i32', 'i32', 'i32'], results, { exported: true });
  };
  add('awaits', ['i32'], (code, scratch) => {
    code.get(scratch).memory('i32.load', slots.offset + barrierFields.phase);
    code.get(scratch).memory('i32.load', released).op('i32.gt_u');
    code
      .get(scratch)
      .memory('i32.load', slots.offset + barrierFields.left)
      .op('i32.eqz', 'i32.and');
  });
  add('release', [], (code, scratch) => {
    code
      .get(scratch)
      .get(scratch)
      .memory('i32.load', released)
      .i32(1)
      .op('i32.add')
      .memory('i32.store', released);
  });
}

/** Runs all blocks. True if one failed, or they wait for each other in vain. */
export function runGrid(
  functions: GridFunctions,
  record: number,
  blocks: number,
  /** The arena of a block, where what it reports is looked for from now on. */
  enter: (block: number) => number,
): boolean {
  let running = Array.from({ length: blocks }, (_, block) => block);
  for (let begins = 1; ; begins = 0) {
    const left: number[] = [];
    let rests = false;
    for (const block of running) {
      const outcome = functions.advance(record, enter(block), block, begins);
      if (outcome === outcomesOfBlock.failed) return true;
      if (outcome !== outcomesOfBlock.finished) left.push(block);
      if (outcome === outcomesOfBlock.rests) rests = true;
    }
    if (left.length === 0) return false;
    running = left;
    if (rests) continue;
    const culprit = left.find((block) => functions.awaits(record, enter(block), block) === 0);
    if (culprit !== undefined || left.length < blocks) {
      const block = culprit ?? left[0]!;
      functions.report(record, enter(block), block);
      return true;
    }
    for (const block of left) functions.release(record, enter(block), block);
  }
}
