// The blocks of a grid that synchronises: all begun, and run in turns.
//
// A phase of the grid is over when all threads of all blocks have come; one that has returned never
// will, as on the hardware.

import { waitsForGrid } from '../waiting.ts';
import type { Block, WaitingBody } from './block.ts';
import type { Thread, Wait } from './thread.ts';

type Range = Wait['range'];

export class Grid {
  #blocks: readonly Block[] = [];
  /** Threads that have come to this phase, by block. */
  readonly #arrived = new Map<Block, number>();
  #phase = 0;

  /** Runs blocks that were made for this grid to their end. */
  run(blocks: readonly Block[], body: WaitingBody): void {
    this.#blocks = blocks;
    for (const block of blocks) block.begin(body);
    let running = blocks;
    while (running.length > 0) {
      let progress = false;
      for (const block of running) if (block.round()) progress = true;
      running = running.filter((block) => block.isRunning);
      if (progress || running.length === 0) continue;
      const culprit = running.find(({ progressAtGrid: { arrived, expected } }) => arrived < expected);
      (culprit ?? running[0]!).reportDeadlock();
    }
  }

  /** A thread comes to a sync of the grid. */
  begin(thread: Thread, range: Range): Wait {
    const { block } = thread;
    const phase = this.#phase;
    thread.observer?.syncBegan(thread, { kind: 'grid' }, range);
    thread.observer?.arrived(thread, this, phase, range);
    this.#arrived.set(block, this.#countIn(block) + 1);
    if (this.#blocks.every((one) => this.#countIn(one) === one.threads.length)) {
      this.#arrived.clear();
      this.#phase += 1;
    }
    return {
      range,
      ready: () => this.#phase > phase,
      describe: () => waitsForGrid(block.progressAtGrid),
      awaitsGrid: true,
    };
  }

  end(thread: Thread, range: Range): void {
    // The next phase cannot be over without this thread.
    thread.observer?.waited(thread, this, this.#phase - 1, range);
    thread.observer?.syncEnded(thread, { kind: 'grid' }, range);
  }

  #countIn(block: Block): number {
    return this.#arrived.get(block) ?? 0;
  }
}
